"""Masks keys, ids, addresses, home paths and given names for a shared screen."""

import re
from collections.abc import Iterable

from carrel.config.keys import KEY_PATTERNS
from carrel.text import width_of

MASK = "•"
PART = 10
"""Number of characters at a key's start or end that identify it."""

_PATTERNS = (
    # Addresses of services, machines and people.
    r"\b[a-z][a-z0-9+.-]*://[^\s\"'»”)]+",
    r"\b(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?\b",
    r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b",
    # Home folders and the paths below them.
    r"(?<![\w/])~[/\\][^\s\"'»”,]*",
    r"(?<![\w/])(?:/root|/home/[^/\s]+|/Users/[^/\s]+|[A-Z]:\\Users\\[^\\\s]+)(?:[/\\][^\s\"'»”,]*)?(?!\w)",
    # Ids, full and shortened.
    r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b",
    r"\b[\w-]{8}…\w{4}\b",
    r"\b[0-9a-fA-F]{16,}\b",
    *KEY_PATTERNS,
)
_SECRET = re.compile("|".join([*KEY_PATTERNS, r"://\S*[?@]"]))


def holds_secret(text: str) -> bool:
    """Return whether a text contains something like a key, or an address with a signature or
    password."""
    return _SECRET.search(text) is not None


class Hider:
    """Masks secrets in text without changing its width."""

    def __init__(self, names: Iterable[str] = (), keys: Iterable[str] = ()) -> None:
        """Take the words to hide: `names` of profiles and hosts, and `keys`. Parts of keys are
        hidden too: a key that is being typed, or wraps over two lines."""
        # Longest first: one key may begin with another.
        known = sorted({name for name in names if len(name) > 1}, key=len, reverse=True)
        words = [rf"(?<!\w){re.escape(name)}(?!\w)" for name in known]
        parts = [part for key in keys if len(key) > 1 for part in _parts(key)]
        self._pattern = re.compile("|".join([*parts, *words, *_PATTERNS]))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of a text to mask."""
        return [found.span() for found in self._pattern.finditer(text)]

    def hide(self, text: str) -> str:
        """Return the text with its secrets masked."""
        return self._pattern.sub(lambda found: mask(found[0]), text)


def _parts(key: str) -> tuple[str, str]:
    """Return the patterns of a key's beginning and end."""
    first, last = re.escape(key[:PART]), re.escape(key[-PART:])
    return rf"{first}\S*", rf"\S*{last}"


def mask(text: str) -> str:
    """Return as many mask characters as the text is wide in a terminal."""
    return MASK * width_of(text)
