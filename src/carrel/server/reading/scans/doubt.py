"""Judges whether OCR is in doubt about a whole page, inside a parser."""

from collections.abc import Mapping
from typing import Any

UNREAD = "\N{REPLACEMENT CHARACTER}"
"""Stands for a line that OCR found and could not read."""
_LEAST_CERTAIN = 0.85
"""Smallest mean confidence of the words of a page that is not in doubt: 15 in 100 are wrong."""
_LEAST_WORDS = 5
"""Fewest words of a page of text; fewer are labels of a picture."""
_EQUATION = 0.5
"""Smallest confidence of a formula, whose text OCR cannot put together."""


def is_doubtful(answer: Mapping[str, Any]) -> bool:
    """Return whether a page holds unread lines, formulas, or many doubtful words (handwriting)."""
    if any(kind == "equation" and sure >= _EQUATION for kind, sure, _ in answer.get("regions", ())):
        return "lines" in answer
    lines = answer.get("lines", ())
    if any(line["text"] == UNREAD for line in lines):
        return True
    words = [confidence for line in lines for _, confidence, _, _ in line["words"]]
    return len(words) >= _LEAST_WORDS and sum(words) < _LEAST_CERTAIN * len(words)
