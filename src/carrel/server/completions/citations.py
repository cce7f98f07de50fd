"""Citations in an answer: markers like `[ref2]` read from text in pieces, written as chunks."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from carrel.wire.generation.completions import Passage
from carrel.wire.generation.content import as_chunks, text_chunk

Chunk = dict[str, Any]

_NAME = "ref"
_ONE = rf"{_NAME}\s?\d{{1,4}}"
_MANY = rf"{_ONE}(?:\s?[,;]\s?(?:{_ONE}|\d{{1,4}}))*"
# Models write the brackets they were trained with, and bare numbers though names were given.
_MARKER = re.compile(
    rf" ?[\[【(]\^?({_MANY})[\]】)]"
    r"|(?: |(?<![\w\]]))[\[【]\^?(\d{1,4}(?:\s?[,;]\s?\d{1,4})*)[\]】](?![(:])",
    re.IGNORECASE,
)
# What follows a bare number decides about it, so that the last bracket waits.
_BEGUN = re.compile(r" ?(?:[\[【(][\w\s,;^]{0,60}[\]】)]?)?\Z")
_NUMBER = re.compile(r"\d+")


def reference_name(number: int) -> str:
    """Return the name under which the model is given a passage."""
    return f"{_NAME}{number}"


@dataclass(frozen=True)
class Reference:
    """A citation: the numbers it names, and their passages."""

    numbers: list[int]
    sources: list[Passage] = field(default_factory=list)


class CitationReader:
    """Splits an answer into text and references.

    A marker may be cut anywhere between two pieces: text that could begin one is held back.
    Names that were not given are removed. A bare number is a citation only where
    `is_citable` allows it, and stays text otherwise. The space before a marker goes with it.
    """

    def __init__(self, is_given: Callable[[int], bool], is_citable: Callable[[int], bool]) -> None:
        self._is_given = is_given
        self._is_citable = is_citable
        self.unknown = 0
        """Number of names that were not given."""
        self._held = ""
        self._before = ""

    def take(self, text: str) -> Iterator[str | Reference]:
        """Read the next piece, and yield the parts that are whole."""
        text = self._held + text
        begun = _BEGUN.search(text)
        cut = len(text) if begun is None else begun.start()
        self._held = text[cut:]
        yield from self._parts(text, cut)

    def rest(self) -> Iterator[str | Reference]:
        """Yield the text held back, at the end of the answer."""
        held, self._held = self._held, ""
        yield from self._parts(held, len(held))

    def _parts(self, text: str, cut: int) -> Iterator[str | Reference]:
        # The characters before and after, though held back, decide whether a bare number is a
        # citation, an index or a link.
        whole, end = self._before + text, len(self._before)
        last = end + cut
        for found in _MARKER.finditer(whole, end):
            if found.end() > last:
                break
            numbers = [int(number) for number in _NUMBER.findall(found[0])]
            if found[1] is None:
                if not all(map(self._is_citable, numbers)):
                    continue
                known = numbers
            else:
                known = [number for number in numbers if self._is_given(number)]
                self.unknown += len(numbers) - len(known)
            if found.start() > end:
                yield whole[end : found.start()]
            if known:
                yield Reference(list(dict.fromkeys(known)))
            end = found.end()
        if last > end:
            yield whole[end:last]
        self._before = whole[:last][-1:]


def reference_chunk(reference: Reference) -> Chunk:
    """Return a citation as a chunk."""
    return {"type": "reference", "reference_ids": reference.numbers}


def thinking_chunk(text: str) -> Chunk:
    """Return thinking as a chunk."""
    return {"type": "thinking", "thinking": [text_chunk(text)]}


def content_of(parts: Iterable[str | Reference]) -> str | list[Chunk]:
    """Return the content of a message: plain text unless there is a citation in it."""
    chunks: list[Chunk] = []
    for is_text, group in groupby(parts, lambda part: isinstance(part, str)):
        if is_text:
            chunks += as_chunks("".join(map(str, group)))
        else:
            chunks += [reference_chunk(part) for part in group if isinstance(part, Reference)]
    if all(chunk["type"] == "text" for chunk in chunks):
        return "".join(chunk["text"] for chunk in chunks)
    return chunks
