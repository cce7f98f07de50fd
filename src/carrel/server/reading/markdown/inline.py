"""Renders a region's text as Markdown: escapes syntax and adds links."""

import re
from collections.abc import Iterator

from carrel.server.reading.markdown.scored_text import ScoredText
from carrel.server.reading.page.elements import Region
from carrel.server.reading.page.table import LinkMark, merge_marks

_SYNTAX = re.compile(
    r"\\(?=[!-/:-@\[-`{-~\n])"
    r"|`|~(?=~)"
    r"|\*(?=\S)|(?<=\S)\*"
    # Underscores within a word are not syntax.
    r"|(?<![^\W_])_(?=\S)|(?<=\S)_(?![^\W_])"
    r"|<(?=[A-Za-z/!?])|&(?=#?\w+;)"
    r"|\[(?=\^|[^\]]*\]\()"
)
_FORMULA = re.compile(r"(\$\$[^$]+\$\$|\$(?! )[^$\n]*[\\^_{][^$\n]*(?<! )\$)")
_SYNTAX_SIGNS = re.compile(r"[\\`~*_<&\[]")
"""Pre-filter for `_SYNTAX`: far faster, and matches few texts."""
_LINE_SYNTAX = re.compile(
    r"^(?:(?=(?:#{1,6}|[+*-])(?:\s|$)|>|[-=*_ ]+$)|(?P<number>\d{1,9})(?=[.)](?:\s|$)))",
    re.MULTILINE,
)
_SCHEME = re.compile(r"(https?|ftp|mailto|tel):", re.IGNORECASE)
_UNSAFE = re.compile(r"[\s()<>|\"\\\x00-\x1f]")
_PREFIX = 12
"""Letters at the start of a line that may have become a list or note marker."""


def escaped(text: str, *, line_start: bool = True) -> str:
    """Escape Markdown syntax outside formulas. `line_start`: the text may begin a line."""
    if _SYNTAX_SIGNS.search(text):
        pieces = _FORMULA.split(text) if "$" in text else [text]
        pieces[::2] = (_SYNTAX.sub(r"\\\g<0>", piece) for piece in pieces[::2])
        text = "".join(pieces)
    first, newline, others = text.partition("\n") if not line_start else ("", "", text)
    if "\n" in others or not others[:1].isalpha():
        others = _LINE_SYNTAX.sub(lambda match: f"{match['number'] or ''}\\", others)
    return first + newline + others


def address(url: str) -> str | None:
    """Return a link's address, escaped for Markdown, or None if unsafe to click."""
    if not _SCHEME.match(url):
        return None
    return _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", url)


def add_inline(text: ScoredText, region: Region) -> None:
    """Add a region's text with its links and note marks."""
    body, place = region.text, 0
    for start, end, url in merge_marks(sorted(_marks(region))):
        target = address(url) if url else None
        if start < place or (url and target is None):
            continue
        _add(text, body[place:start], region, place)
        text.syntax("[" if url else "[^")
        _add(text, body[start:end], region, start)
        text.syntax(f"]({target})" if url else "]")
        place = end
    _add(text, body[place:], region, place)


def _add(text: ScoredText, piece: str, region: Region, place: int) -> None:
    whole = escaped(piece, line_start=place == 0 and region.kind != "heading")
    if whole:
        text.content(whole, region.lines)


def _marks(region: Region) -> Iterator[LinkMark]:
    """Yield the marks of a region's lines, as positions in its text."""
    if not any(line.marks for line in region.lines):
        return
    place = 0
    for number, line in enumerate(region.lines):
        # The first line may have lost its marker, every line its final hyphen.
        for cut in range(1 if number else _PREFIX):
            start = region.text.find(line.text[cut:-1].rstrip(), place)
            if start == 0 or (start > 0 and number):
                yield from (mark.shifted(start - cut) for mark in line.marks if mark.start >= cut)
                place = start
                break
