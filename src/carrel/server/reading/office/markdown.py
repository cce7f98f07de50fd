"""Markdown to parts: the author's own text, cut into its blocks."""

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from carrel.server.reading.markdown.scored_text import ScoredText
from carrel.server.reading.office.parts import Part
from carrel.server.reading.office.web.inline import FindPicture
from carrel.server.reading.page.elements import split_when
from carrel.server.reading.page.table import Cell, MarkedText, Table
from carrel.wire.ocr import BlockType

_KINDS: dict[str, BlockType] = {
    "heading_open": "title",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
}
_PICTURE = re.compile(r"!\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_SYNTAX = re.compile(
    r"[\s>]*(?:#{1,6}\s+|[-*+]\s+|\d{1,9}[.)]\s+|`{3,}.*|~{3,}.*)?(?:[-=*_|:\s]+$)?"
)


def parts_of_markdown(source: str, find: FindPicture = lambda _: None) -> list[Part]:
    """Split a text into its blocks, unchanged except for embedded pictures."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    lines = source.split("\n")
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(source)
    parts: list[Part] = []
    done = 0
    for block in split_when(tokens, lambda _, token: token.level == 0 and token.nesting >= 0):
        start, end = block[0].map or (done, done)
        # Definitions of links and notes yield no tokens: keep them as text.
        parts += _part("text", lines[done:start], [], find)
        parts += _part(_KINDS.get(block[0].type, "text"), lines[start:end], block, find)
        done = end
    parts += _part("text", lines[done:], [], find)
    return parts


def _part(
    kind: BlockType, lines: Sequence[str], tokens: Sequence[Token], find: FindPicture
) -> Iterator[Part]:
    pictures: list[bytes] = []

    def taken(match: re.Match[str]) -> str:
        data = find(match[1])
        if data is None:
            return match[0]
        pictures.append(data)
        return ""

    source = "\n".join(lines)
    if kind != "code":
        source = _PICTURE.sub(taken, source)
    source = source.strip("\n").rstrip()
    if source.strip():
        table = _table(tokens) if kind == "table" else None
        yield Part(kind, _split_words(source, kind), table, links=tuple(_links(tokens)))
    for data in pictures:
        yield Part("image", picture=data)


def _split_words(source: str, kind: BlockType) -> ScoredText:
    """Separate the words of a text from the syntax before them."""
    text = ScoredText()
    for number, line in enumerate(source.split("\n")):
        if number:
            text.syntax("\n")
        if kind == "table":
            for piece in re.split(r"(\s*\|\s*)", line):
                is_word = any(letter.isalnum() for letter in piece)
                text.content(piece, ()) if is_word else text.syntax(piece)
            continue
        match = _SYNTAX.match(line)
        assert match is not None
        text.syntax(match[0])
        if match.end() < len(line):
            text.content(line[match.end() :], ())
    return text


def _table(tokens: Sequence[Token]) -> Table:
    cells: list[Cell] = []
    row = column = -1
    for token in tokens:
        if token.type == "tr_open":
            row, column = row + 1, -1
        if token.type == "inline":
            column += 1
            text, marks = MarkedText.of(_pieces(token))
            cells.append(Cell(text, row, column, marks=marks))
    return Table.of(cells)


def _pieces(token: Token) -> Iterator[tuple[str, str]]:
    """Yield a cell's plain text in pieces, each with its link address or an empty string."""
    url = ""
    for child in token.children or []:
        if child.type in ("link_open", "link_close"):
            url = str(child.attrs.get("href", ""))
        else:
            yield child.content if child.content or child.type == "text" else " ", url


def _links(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the link addresses in a block."""
    for child in (child for token in tokens for child in token.children or []):
        href = str(child.attrs.get("href")) if child.type == "link_open" else ""
        if href.startswith(("http://", "https://", "mailto:")):
            yield href
