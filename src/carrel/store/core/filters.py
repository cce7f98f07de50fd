"""Name filters as typed: required words, and after a `!` forbidden ones."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NameFilter:
    """Words that a name must contain, and words that it must not contain, in lower case."""

    words: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> NameFilter:
        """Parse a filter: `lease !draft` requires “lease” and forbids “draft”; a lone `!` is
        ignored."""
        parts = text.lower().split()
        without = tuple(part[1:] for part in parts if part.startswith("!") and part != "!")
        return cls(tuple(part for part in parts if not part.startswith("!")), without)

    def __bool__(self) -> bool:
        return bool(self.words or self.without)

    def matches(self, text: str) -> bool:
        """Return whether a text passes the filter."""
        lower = text.lower()
        return all(word in lower for word in self.words) and not any(
            word in lower for word in self.without
        )
