"""Doubts about how a page's picture is read, inside a parser: a vision model may read it better."""

from collections.abc import Mapping
from typing import Any

UNREAD = "\N{REPLACEMENT CHARACTER}"
"""Stands for a line that OCR found and could not read."""
_LEAST_CERTAIN = 0.85
"""Smallest mean confidence of the words of a page that is not in doubt: 15 in 100 are wrong."""
_LEAST_WORDS = 5
"""Fewest words of a page of text; fewer are labels of a picture."""
_doubts: list[bool] = []
"""Doubts not yet taken; a process reads one document at a time."""


def doubt() -> None:
    """Note that the page that is being read is in doubt."""
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
