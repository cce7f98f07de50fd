"""How far certainties are from how often they are right. Each is a certainty and whether it is."""

from collections import Counter
from collections.abc import Sequence

Judged = tuple[float, bool]

_EDGES = (0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995)
"""Certainties from one of these to the next are alike."""
_PARTS = 5
"""Parts of the documents, each of which is held out once."""


def calibration_error(certainties: Sequence[Judged]) -> float:
    """The mean difference between certainties and how often they are right, alike ones together."""
    groups: dict[float, list[Judged]] = {}
    for certainty, right in certainties:
        edge = max(edge for edge in _EDGES if edge <= certainty)
        groups.setdefault(edge, []).append((certainty, right))
    return sum(
        abs(sum(certainty - right for certainty, right in group)) for group in groups.values()
    ) / max(1, len(certainties))


def right_above(certainties: Sequence[Judged], least: float) -> float:
    """How often those of at least this certainty are right."""
    right = [right for certainty, right in certainties if certainty >= least]
    return sum(right) / max(1, len(right))


def held_out_error(documents: Sequence[Sequence[Judged]]) -> float:
    """The calibration error on documents that the certainties were not fitted to.

    Every fifth document is one part. A part's certainties are replaced by how often those of the
    same value are right in the other parts; a value that only one part has stays.
    """
    parts = [
        [one for document in documents[start::_PARTS] for one in document]
        for start in range(_PARTS)
    ]
    every = Counter(one for part in parts for one in part)
    errors = 0.0
    for part in parts:
        others = every - Counter(part)
        fitted = {certainty: _right(others, certainty) for certainty, _ in part}
        for certainty in fitted:
            right = [hit for value, hit in part if value == certainty]
            errors += abs(fitted[certainty] * len(right) - sum(right))
    return errors / max(1, every.total())


def _right(judged: Counter[Judged], certainty: float) -> float:
    """How often those of a certainty are right; the certainty itself where there are none."""
    right, wrong = judged[certainty, True], judged[certainty, False]
    return right / (right + wrong) if right + wrong else certainty
