"""Markdown that tracks which parts came from the page, and with what confidence."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from carrel.server.reading.page.elements import Line
from carrel.wire.ocr import WordScore

DIGITS = 4
"""Digits of a confidence after the point."""

_WORD = re.compile(r" ?\S+")
_ESCAPE = re.compile(r"\\(?=[^\w\s])")


class ScoredText:
    """Append-only text that begins with Markdown syntax, if any."""

    def __init__(self, syntax: str = "") -> None:
        self._parts = [syntax]
        self._content: list[tuple[int, int, Sequence[Line]]] = []
        self.length = len(syntax)

    def syntax(self, text: str) -> None:
        """Append Markdown syntax, which is not on the page."""
        self._parts.append(text)
        self.length += len(text)

    def content(self, text: str, source: Sequence[Line]) -> None:
        """Append text from lines of the page; append pieces of one source in order."""
        self._content.append((self.length, self.length + len(text), source))
        self.syntax(text)

    def append(self, other: "ScoredText") -> None:
        """Append another text."""
        self._content += [
            (start + self.length, end + self.length, source)
            for start, end, source in other._content
        ]
        self.syntax(str(other))

    def indented(self, by: str) -> "ScoredText":
        """Indent all lines but the first by `by`; a blank `by` skips empty lines."""
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

    def words(self) -> Iterator[WordScore]:
        """Yield every word that came from the page, with a preceding space, if any."""
        text = str(self)
        certainties: dict[int, _Certainty] = {}
        for start, end, source in self._content:
            key = id(source)
            certainty = certainties.get(key) or certainties.setdefault(key, _Certainty(source))
            for match in _WORD.finditer(text, start, end):
                word = match[0]
                confidence = round(certainty.of(word.lstrip(" ")), DIGITS)
                yield WordScore(word, confidence, match.start())

    def __str__(self) -> str:
        return "".join(self._parts)


class _Certainty:
    """OCR confidence of the words of some lines, looked up in order."""

    def __init__(self, lines: Sequence[Line]) -> None:
        words = [word for line in lines for word in line.read]
        self._lowest = min((word.confidence for word in words), default=1.0)
        self._waiting: dict[str, list[float]] = {}
        for word in words:
            self._waiting.setdefault(word.text, []).append(word.confidence)

    def of(self, word: str) -> float:
        waiting = self._waiting.get(word) or self._waiting.get(_ESCAPE.sub("", word))
        if not waiting:
            # Joined from two lines or altered: use the lowest confidence.
            return self._lowest
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]
