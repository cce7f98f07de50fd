"""Cutting a document's text into chunks for search."""

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

DEFAULT_SIZE = 1024
"""Target length of a chunk, in characters, where the library names none."""

# Separators, best first; each matches the empty string after a unit of text.
_BOUNDARIES = (
    re.compile(r"^(?=#{1,6} )", re.MULTILINE),
    re.compile(r"(?<=\n)[^\S\n]*\n+"),
    re.compile(r"(?<=\n)"),
    re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+|(?<=[。！？])"),
    re.compile(r"\s+"),
)
_SENTENCE = 3
"""The index of the sentence separator."""
_LONG = 400
"""Maximum length of a sentence, in characters."""
_HEADING = re.compile(r"\s*#{1,6} [^\n]*\s*")
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_WORD = re.compile(r"\w")


class PageChunk(NamedTuple):
    """A passage of one page; `page` counts from 0, `start` is its offset in the page's Markdown."""

    page: int
    start: int
    text: str


def chunk_pages(pages: Iterable[tuple[int, str]], size: int = DEFAULT_SIZE) -> list[PageChunk]:
    """Cut pages, each a number and its Markdown, into chunks of at most `size` characters.

    A chunk lies on one page. Pieces without a word (rules, pictures) make no chunk.
    """
    chunks = []
    for page, markdown in pages:
        end = 0
        for piece in split(markdown, size):
            start, end = end, end + len(piece)
            if _WORD.search(_PICTURE.sub("", piece)):
                blank = len(piece) - len(piece.lstrip())
                chunks.append(PageChunk(page, start + blank, piece.strip()))
    return chunks


def split(text: str, size: int) -> list[str]:
    """Cut text into pieces of at most `size` characters that join to the text again.

    Cuts fall before headings, between paragraphs, lines, sentences or words, in this order of
    preference, and inside a word only if it is longer than `size`. The pieces are of about
    equal length, and a heading stays with what follows it.
    """
    if not text:
        return []
    units = _keep_headings(_units(text, size, 0), size)
    target = len(text) / math.ceil(len(text) / size)
    pieces = [""]
    for unit in units:
        if pieces[-1] and (len(pieces[-1]) >= target or len(pieces[-1]) + len(unit) > size):
            pieces.append("")
        pieces[-1] += unit
    return pieces


def sentences(text: str) -> list[str]:
    """Return the sentences or lines of a text that have words, the longest in parts."""
    found: list[str] = []
    for line in text.splitlines():
        for sentence in _BOUNDARIES[_SENTENCE].split(line):
            if _WORD.search(sentence):
                found += [sentence] if len(sentence) <= _LONG else split(sentence, _LONG)
    return found


def _units(text: str, size: int, level: int) -> list[str]:
    if len(text) <= size:
        return [text]
    if level == len(_BOUNDARIES):
        return [text[start : start + size] for start in range(0, len(text), size)]
    ends = [match.end() for match in _BOUNDARIES[level].finditer(text) if match.end()]
    starts = [0, *ends]
    parts = [text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True)]
    return [unit for part in parts if part for unit in _units(part, size, level + 1)]


def _keep_headings(units: list[str], size: int) -> list[str]:
    kept: list[str] = []
    for unit in units:
        if kept and _HEADING.fullmatch(kept[-1]) and len(kept[-1]) + len(unit) <= size:
            kept[-1] += unit
        else:
            kept.append(unit)
    return kept
