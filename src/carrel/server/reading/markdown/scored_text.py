"""Markdown in the making that knows which of it came from the page, and how certain that is."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from carrel.server.reading.page.elements import Line

_WORD = re.compile(r" ?\S+")
_ESCAPE = re.compile(r"\\(?=[^\w\s])")


class ScoredWord(NamedTuple):
    """A word as it stands in the Markdown, with the space before it, if there is one."""

    text: str
    confidence: float
    start_index: int


class ScoredText:
    """Text that grows at its end."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._content: list[tuple[int, int, Sequence[Line]]] = []
        self.length = 0

    def syntax(self, text: str) -> None:
        """Adds what is not on the page."""
        self._parts.append(text)
        self.length += len(text)

    def content(self, text: str, source: Sequence[Line]) -> None:
        """Adds what stands in some lines of the page; pieces of one source in their order."""
        self._content.append((self.length, self.length + len(text), source))
        self.syntax(text)

    def append(self, other: "ScoredText") -> None:
        """Adds all of another text."""
        self._content += [
            (start + self.length, end + self.length, source)
            for start, end, source in other._content
        ]
        self.syntax(str(other))

    def indented(self, by: str) -> "ScoredText":
        """The same text with `by` before each line but the first; blanks not before empty ones."""
        text = str(self)
        breaks = [m.end() for m in re.finditer(r"\n(?!\n)" if by.isspace() else r"\n", text)]
        moved = ScoredText()
        place = 0
        for stop in [*breaks, len(text)]:
            moved.syntax(text[place:stop] + (by if stop < len(text) else ""))
            place = stop
        moved._content = [
            (
                start + len(by) * bisect_right(breaks, start),
                end + len(by) * bisect_left(breaks, end),
                source,
            )
            for start, end, source in self._content
        ]
        return moved

    def words(self) -> Iterator[ScoredWord]:
        """Every word that came from the page."""
        text = str(self)
        certainties: dict[int, _Certainty] = {}
        for start, end, source in self._content:
            certainty = certainties.setdefault(id(source), _Certainty(source))
            for match in _WORD.finditer(text, start, end):
                word = match[0]
                yield ScoredWord(word, certainty.of(word.lstrip(" ")), match.start())

    def __str__(self) -> str:
        return "".join(self._parts)


class _Certainty:
    """How sure the reader was of the words of some lines, asked for one after the other."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._waiting: dict[str, list[float]] = {}
        self._lowest = 1.0
        for line in lines:
            for word in line.read:
                self._waiting.setdefault(word.text, []).append(word.confidence)
                self._lowest = min(self._lowest, word.confidence)

    def of(self, word: str) -> float:
        waiting = self._waiting.get(word) or self._waiting.get(_ESCAPE.sub("", word))
        if not waiting:
            # Joined from two lines, or changed on the way: as sure as the least sure word.
            return self._lowest
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]
