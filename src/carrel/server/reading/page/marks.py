"""Links and note marks in a text."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class LinkMark(NamedTuple):
    """Letters of a text that link to an address or, without one, to a note below."""

    start: int
    end: int
    url: str = ""

    def shifted(self, by: int) -> "LinkMark":
        """Return the mark moved by `by` letters."""
        return LinkMark(self.start + by, self.end + by, self.url)


class MarkedText(NamedTuple):
    """Text with single spaces between words, and its marks."""

    text: str
    marks: tuple[LinkMark, ...] = ()

    def followed_by(self, other: "MarkedText", between: str = " ") -> "MarkedText":
        """Join two passages, and a link that continues from one into the other."""
        if not self.text or not other.text:
            return self if self.text else other
        start = len(self.text) + len(between)
        marks = [*self.marks, *(mark.shifted(start) for mark in other.marks)]
        return MarkedText(f"{self.text}{between}{other.text}", tuple(merged(marks)))

    def without_last_letter(self) -> "MarkedText":
        """Return the text without its last letter, a hyphen."""
        end = len(self.text) - 1
        return MarkedText(
            self.text[:-1], tuple(mark._replace(end=min(mark.end, end)) for mark in self.marks)
        )

    @classmethod
    def of(cls, pieces: Iterable[tuple[str, str]]) -> "MarkedText":
        """Join pieces of text, each with its link address, if any, and normalise white space."""
        parts, marks = list[str](), list[LinkMark]()
        length, space = 0, False
        for piece, url in pieces:
            words = " ".join(piece.split())
            space = space or piece[:1].isspace()
            if words:
                gap = " " if space and length else ""
                start = length + len(gap)
                length = start + len(words)
                parts += [gap, words]
                if url:
                    marks.append(LinkMark(start, length, url))
                space = piece[-1:].isspace()
        return cls("".join(parts), tuple(merged(marks)))


def merged(marks: Iterable[LinkMark]) -> Iterator[LinkMark]:
    """Merge marks of one address at most a space apart, in order."""
    last: LinkMark | None = None
    for mark in marks:
        if last and last.url == mark.url and mark.start <= last.end + 1:
            last = last._replace(end=mark.end)
        else:
            if last:
                yield last
            last = mark
    if last:
        yield last
