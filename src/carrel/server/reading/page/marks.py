"""Links and notes: which letters of a text lead elsewhere."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class LinkMark(NamedTuple):
    """Letters of a text that lead elsewhere: to an address, or without one to a note below."""

    start: int
    end: int
    url: str = ""

    def shifted(self, by: int) -> "LinkMark":
        """The mark, `by` letters further."""
        return LinkMark(self.start + by, self.end + by, self.url)


class MarkedText(NamedTuple):
    """Words with single spaces between them, and what they lead to."""

    text: str
    marks: tuple[LinkMark, ...] = ()

    def followed_by(self, other: "MarkedText", between: str = " ") -> "MarkedText":
        """This passage and another one as one; a link that goes on in the other is one too."""
        if not self.text or not other.text:
            return self if self.text else other
        start = len(self.text) + len(between)
        marks = [*self.marks, *(mark.shifted(start) for mark in other.marks)]
        return MarkedText(f"{self.text}{between}{other.text}", tuple(_merged(marks)))

    def without_last_letter(self) -> "MarkedText":
        """All but a hyphen at the end."""
        end = len(self.text) - 1
        return MarkedText(
            self.text[:-1], tuple(mark._replace(end=min(mark.end, end)) for mark in self.marks)
        )

    @classmethod
    def of(cls, pieces: Iterable[tuple[str, str]]) -> "MarkedText":
        """Pieces of text, each with the address it leads to, if any; white space is evened."""
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
        return cls("".join(parts), tuple(_merged(marks)))


def _merged(marks: Iterable[LinkMark]) -> Iterator[LinkMark]:
    """Marks in their order; those of one address with no more than a space between are one."""
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
