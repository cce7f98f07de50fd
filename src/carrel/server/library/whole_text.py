"""A document's text as one: paragraphs and tables that go on over columns and pages are joined."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from carrel.server.reading.layout.hyphens import compounds_of, join_texts
from carrel.wire.documents import Document

_FENCE = "```"
_FLOATING = re.compile(r"!\[|\[\^[^\]]+\]: ")
"""Pictures and notes stand between the parts of a text and are no part of it."""
_MARKED = re.compile(r"#{1,6} |!\[|\[\^|\||<|```|\[tbl-")
"""Beginnings of blocks other than paragraphs and lists."""
_ITEM = re.compile(r"\s*([-*]|\d+\.) ")
_NUMBER = re.compile(r"[(\[–—-]?[\s\d.,/%€$£+−–-]*\d[\s\d.,/%€$£+−–-]*[)\]]?")
_ENDS = tuple('.!?:;…。！？"”’»)]|')
_WORDS = 6
"""Fewest words of a text that goes on: labels and captions end without a full stop, too."""
_LONG = 160
"""Fewest letters of a text that goes on with a capital on the next page."""
_EDGE = 2
"""Blocks at each edge of a page that may be running heads."""


@dataclass
class _Block:
    """A block of Markdown, its page, and whether it is a running head."""

    text: str
    page: int
    is_head: bool = False


def document_text(document: Document, pages: Sequence[str]) -> str:
    """The text of a document's pages, joined where paper breaks it.

    The paragraphs of other formats are their authors'.
    """
    mime_type = document.mime_type or ""
    on_paper = mime_type == "application/pdf" or mime_type.startswith("image/")
    return whole_text(pages) if on_paper else "\n\n".join(pages)


def whole_text(pages: Sequence[str]) -> str:
    """The text of pages in Markdown, one after the other.

    A paragraph is joined where it breaks off within a sentence, a table where it goes on on the
    next page with the same columns. Notes, pictures and running heads between them follow.
    """
    found = [_blocks(text, page) for page, text in enumerate(pages)]
    compounds = compounds_of(pages)
    _mark_heads(found)
    whole: list[_Block] = []
    last: _Block | None = None
    for block in chain.from_iterable(found):
        floating = block.is_head or _FLOATING.match(block.text) is not None
        joined = _joined(last, block, compounds) if last and not floating else None
        if joined is not None and last is not None:
            last.text, last.page = joined, block.page
            continue
        whole.append(block)
        last = last if floating else block
    return "\n\n".join(block.text for block in whole)


def _blocks(text: str, page: int) -> list[_Block]:
    """Splits Markdown at its blank lines, except those in code."""
    found: list[_Block] = []
    open_code = False
    for part in text.split("\n\n"):
        if open_code:
            found[-1].text += f"\n\n{part}"
        elif part.strip():
            found.append(_Block(part, page))
        open_code ^= part.count(_FENCE) % 2 == 1
    return found


def _mark_heads(pages: Sequence[list[_Block]]) -> None:
    """Marks blocks that stand at the same edge of several pages, and page numbers."""
    edges = [(page[:_EDGE], page[-_EDGE:]) for page in pages if len(page) > _EDGE]
    for side in (0, 1):
        seen = Counter(text for edge in edges for text in {_folded(b.text) for b in edge[side]})
        for edge in edges:
            for block in edge[side]:
                folded = _folded(block.text)
                block.is_head |= seen[folded] > 1 or folded == "#"


def _folded(text: str) -> str:
    """The letters of a text, with `#` for every number."""
    return re.sub(r"[^\w#]|_", "", re.sub(r"\d+", "#", text.casefold().replace("#", "")))


def _joined(last: _Block, block: _Block, compounds: Container[str]) -> str | None:
    """Both blocks as one, if the second goes on with the first."""
    if last.text.startswith("|") and block.text.startswith("|"):
        return _joined_tables(last.text, block.text) if block.page == last.page + 1 else None
    return _joined_text(last, block, compounds)


def _joined_text(last: _Block, block: _Block, compounds: Container[str]) -> str | None:
    one, two = last.text, block.text
    if _MARKED.match(one) or _MARKED.match(two) or _ITEM.match(two) or one.endswith(_ENDS):
        return None
    if len(one.split()) < _WORDS:
        return None
    if two[0].islower():
        return join_texts(one, two, compounds)
    long = min(len(one), len(two)) >= _LONG and (one[-1].islower() or one[-1] == ",")
    return f"{one} {two}" if long and block.page == last.page + 1 else None


def _joined_tables(one: str, two: str) -> str | None:
    """Both tables as one; a head that is repeated is left out, a row of values is none."""
    head, rule, *rows = one.split("\n")
    next_head, next_rule, *next_rows = two.split("\n")
    if rule != next_rule:
        return None
    if head == next_head:
        return "\n".join([one, *next_rows])
    return "\n".join([one, next_head, *next_rows]) if _is_row(next_head, rows) else None


def _is_row(line: str, rows: Sequence[str]) -> bool:
    """Whether a line has numbers in the columns in which most rows have them."""
    table = [list(_cells(row)) for row in rows]
    cells = list(_cells(line))
    numeric = [
        column
        for column in range(len(cells))
        if 2 * sum(_is_number(row[column]) for row in table if column < len(row)) > len(table)
    ]
    return bool(numeric) and all(_is_number(cells[column]) for column in numeric)


def _cells(line: str) -> Iterator[str]:
    return (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None
