"""What fails or is in doubt while a page is read: each costs a step, never the page."""

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Failure(NamedTuple):
    """A step of reading that failed.

    `cause` is the error's type and place in the code: the same for every page that it concerns.
    """

    step: str
    cause: str
    trace: str


_failures: list[Failure] = []
"""Failures not yet taken; a process reads one document at a time."""


def fenced(step: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """Run a step of reading; return None if it fails, and keep the failure to be reported.

    The caller gives the fallback: `fenced("tables", find_tables, chunks) or []`.
    """
    try:
        return work(*args, **kwargs)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        cause = f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}"
        _failures.append(Failure(step, cause, traceback.format_exc()))
        return None


def take_failures() -> list[Failure]:
    """Return the failures since the last call."""
    taken = _failures[:]
    del _failures[: len(taken)]
    return taken


UNREAD = "\N{REPLACEMENT CHARACTER}"
"""Stands for a line that OCR found and could not read."""
_LEAST_CERTAIN = 0.85
"""Smallest mean confidence of the words of a page that is not in doubt: 15 in 100 are wrong."""
_LEAST_WORDS = 5
"""Fewest words of a page of text; fewer are labels of a picture."""
_doubts: list[bool] = []
"""Doubts not yet taken; a process reads one document at a time."""


def doubt() -> None:
    """Mark the current page as doubtful."""
    _doubts.append(True)


def take_doubt() -> bool:
    """Return whether a page was in doubt since the last call."""
    taken = any(_doubts)
    _doubts.clear()
    return taken


def is_doubtful(answer: Mapping[str, Any]) -> bool:
    """Return whether OCR left lines unread, or doubts many words (handwriting)."""
    lines = answer["lines"]
    if any(line["text"] == UNREAD for line in lines):
        return True
    words = [confidence for line in lines for _, confidence, _, _ in line["words"]]
    return len(words) >= _LEAST_WORDS and sum(words) < _LEAST_CERTAIN * len(words)
