"""HTML to parts: what a browser would show, without its looks."""

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from carrel.server.reading.inline import address, escaped
from carrel.server.reading.marks import Passage
from carrel.server.reading.office.parts import Part
from carrel.server.reading.scored_text import ScoredText
from carrel.server.reading.tables.table import Cell, Table
from carrel.wire.ocr import BlockType

FindPicture = Callable[[str], bytes | None]
"""The bytes of the picture at an address inside the document; None if it is not there."""

_HIDDEN = frozenset(
    [
        "script",
        "style",
        "head",
        "template",
        "noscript",
        "svg",
        "math",
        "iframe",
        "object",
        "canvas",
        "audio",
        "video",
        "select",
        "option",
        "button",
        "input",
        "textarea",
        "dialog",
    ]
)
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "html",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
_HEADING = re.compile(r"h([1-6])")
_NOTE = re.compile(r"#?(?:foot|end)note-(\w{1,20})")
_ITEM = re.compile(r"[0-9]{1,6}")
_DIGITS = re.compile(r"\d{1,4}")
_DATA = re.compile(r"data:image/[\w.+-]+;base64,", re.IGNORECASE)
_MAX_SPAN = 100
"""Columns or rows that one cell may cover."""
_MOST_EMPTY = 50
"""A table with more places than this for each of its cells is none."""
_MAX_DEPTH = 200


def parts_of_html(source: bytes | str, find: FindPicture = lambda _: None) -> list[Part]:
    """The parts of a page of HTML. Scripts, forms and what is hidden are left out."""
    root = parsed_html(source)
    return [] if root is None else parts_of_tree(root, find)


def parsed_html(source: bytes | str) -> Any | None:
    """The root of a page of HTML; None of an empty one."""
    parser = lxml_html.HTMLParser(
        encoding="utf-8" if isinstance(source, bytes) and _is_utf8(source) else None,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return lxml_html.document_fromstring(source, parser=parser)
    except (etree.ParserError, ValueError):
        return None


def parts_of_tree(root: Any, find: FindPicture) -> list[Part]:
    """The parts of an element that was parsed, whose names are those of HTML."""
    return list(_Reader(find).blocks(root, 0))


def _is_utf8(source: bytes) -> bool:
    try:
        source.decode()
    except UnicodeDecodeError:
        return False
    return True


def _name(element: Any) -> str:
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


class _Inline:
    """Running text: words, emphasis, links and the pictures between them.

    White space is kept back until something follows it.
    """

    def __init__(self, find: FindPicture) -> None:
        self.text = ScoredText()
        self.links: list[str] = []
        self.pictures: list[bytes] = []
        self.begins_blank = False
        self.space = ""
        self._find = find

    def add(self, element: Any, depth: int = 0) -> None:
        """An element's content, without the element."""
        self.words(element.text)
        for child in element:
            self.child(child, depth)
            self.words(child.tail)

    def words(self, text: str | None) -> None:
        """Text as it stands in the source."""
        if not text:
            return
        if text[0].isspace():
            self._blank()
        words = " ".join(text.split())
        if words:
            start = not self.text.length
            before, self.space = self.space, ""
            if before == " ":
                words = f" {escaped(words, line_start=False)}"
            else:
                self.text.syntax(before)
                words = escaped(words, line_start=start)
            self.text.content(words, ())
            if text[-1].isspace():
                self._blank()

    def _blank(self) -> None:
        if not self.text.length:
            self.begins_blank = True
        else:
            self.space = self.space or " "

    def _syntax(self, text: str) -> None:
        self.text.syntax(self.space + text)
        self.space = ""

    def child(self, element: Any, depth: int) -> None:
        """An element inside the text."""
        name = _name(element)
        if name in _HIDDEN or depth > _MAX_DEPTH:
            return
        match name:
            case "br" if self.text.length:
                self.space = "  \n"
            case "img":
                self._picture(element)
            case "a":
                self._link(element, depth)
            case "b" | "strong":
                self._around("**", "**", self._inner(element, depth))
            case "i" | "em":
                self._around("*", "*", self._inner(element, depth))
            case "code" | "kbd" | "samp" | "tt":
                self._code(" ".join("".join(element.itertext()).split()))
            case _:
                if name in _BLOCKS:
                    self._blank()
                self.add(element, depth + 1)

    def _code(self, code: str) -> None:
        fence = "``" if "`" in code else "`"
        if code:
            self._syntax(fence)
            self.text.content(code, ())
            self.text.syntax(fence)

    def _link(self, element: Any, depth: int) -> None:
        href = (element.get("href") or "").strip()
        note = _NOTE.fullmatch(href)
        if note:
            shown = _DIGITS.search("".join(element.itertext()))
            self._syntax(f"[^{shown[0] if shown else note[1]}]")
        elif not href.startswith(("#footnote-ref", "#endnote-ref")):
            target = address(href)
            inner = self._inner(element, depth)
            self._around("[" if target else "", f"]({target})" if target else "", inner)
            if target:
                self.links.append(href)

    def _inner(self, element: Any, depth: int) -> "_Inline":
        inner = _Inline(self._find)
        inner.add(element, depth + 1)
        return inner

    def _around(self, before: str, after: str, inner: "_Inline") -> None:
        """Adds what an element holds between two marks, with the white space outside them."""
        self.pictures += inner.pictures
        self.links += inner.links
        if inner.begins_blank:
            self._blank()
        if inner.text.length:
            self._syntax(before)
            self.text.append(inner.text)
            self.text.syntax(after)
            self.space = inner.space

    def _picture(self, element: Any) -> None:
        source = (element.get("src") or "").strip()
        data = _embedded(source) if source.lower().startswith("data:") else self._find(source)
        target = address(source)
        if data:
            self.pictures.append(data)
        elif target:
            self._syntax(f"![{escaped(element.get('alt') or '', line_start=False)}]({target})")


def _embedded(source: str) -> bytes | None:
    match = _DATA.match(source)
    if not match:
        return None
    try:
        return base64.b64decode(source[match.end() :])
    except binascii.Error:
        return None


class _Reader:
    """Walks the blocks of a tree."""

    def __init__(self, find: FindPicture) -> None:
        self._find = find

    def blocks(self, element: Any, depth: int) -> Iterator[Part]:
        """The parts inside an element; text between blocks is a paragraph."""
        loose = _Inline(self._find)
        loose.words(element.text)
        for child in element:
            name = _name(child)
            if name in _HIDDEN or depth > _MAX_DEPTH:
                pass
            elif name in _BLOCKS or _holds_blocks(child):
                yield from self._finished("text", loose)
                loose = _Inline(self._find)
                yield from self._block(name, child, depth + 1)
            else:
                loose.child(child, depth)
            loose.words(child.tail)
        yield from self._finished("text", loose)

    def _block(self, name: str, element: Any, depth: int) -> Iterator[Part]:
        heading = _HEADING.fullmatch(name)
        if heading:
            yield from self._line("title", element, "#" * int(heading[1]) + " ")
        elif name == "p" and not _holds_blocks(element):
            yield from self._line("text", element)
        elif name == "figcaption" and not _holds_blocks(element):
            yield from self._line("caption", element)
        elif name == "pre":
            yield _code(element)
        elif name in ("ul", "ol"):
            yield from self._list(element, name == "ol", depth)
        elif name == "table":
            yield from self._table(element, depth)
        elif name == "blockquote":
            for part in self.blocks(element, depth):
                yield _quoted(part)
        elif name == "dt":
            yield from self._line("text", element)
        elif name != "hr":
            yield from self.blocks(element, depth)

    def _line(self, kind: BlockType, element: Any, before: str = "") -> Iterator[Part]:
        inline = _Inline(self._find)
        inline.add(element)
        yield from self._finished(kind, inline, before)

    def _finished(self, kind: BlockType, inline: _Inline, before: str = "") -> Iterator[Part]:
        if inline.text.length:
            text = ScoredText()
            text.syntax(before)
            text.append(inline.text)
            yield Part(kind, text, links=tuple(inline.links))
        for picture in inline.pictures:
            yield Part("image", picture=picture)

    def _list(self, element: Any, ordered: bool, depth: int) -> Iterator[Part]:
        """One part with all items, and after it what does not fit into a list."""
        notes = [_NOTE.fullmatch(item.get("id") or "") for item in element if _name(item) == "li"]
        text, after, links = ScoredText(), list[Part](), list[str]()
        number = _number(element, "start", 1) - 1
        for place, item in enumerate(item for item in element if _name(item) == "li"):
            number = _number(item, "value", number + 1)
            marker = f"{number}. " if ordered else "- "
            if notes[place]:
                marker = f"[^{number}]: "
            parts = list(self.blocks(item, depth + 1))
            after += [part for part in parts if part.table or part.picture]
            written = _item(marker, [part for part in parts if not part.table and not part.picture])
            if written.length:
                text.syntax("\n" if text.length else "")
                text.append(written)
            links += [link for part in parts for link in part.links]
        if text.length:
            yield Part("text" if any(notes) else "list", text, links=tuple(links))
        yield from after

    def _table(self, element: Any, depth: int) -> Iterator[Part]:
        rows = [row for row in element.iter() if _name(row) == "tr" and _table_of(row) is element]
        nested = any(_name(inner) == "table" for inner in element.iterdescendants())
        table = None if nested else _table(rows)
        if table is None or (table.width < 2 and not _has_head(rows)):
            # A table for the looks alone.
            for row in rows:
                for cell in row:
                    yield from self.blocks(cell, depth)
            return
        caption = next((child for child in element if _name(child) == "caption"), None)
        if caption is not None:
            yield from self._line("caption", caption)
        yield Part("table", table=table, links=table.links)
        for picture in element.iter():
            if _name(picture) == "img":
                inline = _Inline(self._find)
                inline.child(picture, 0)
                yield from self._finished("text", inline)


def _item(marker: str, parts: Sequence[Part]) -> ScoredText:
    """An item of a list; one that is nothing but a list is no item of its own."""
    text = ScoredText()
    if not parts or (parts[0].kind == "list" and len(parts) == 1):
        return parts[0].text if parts else text
    margin = " " * len(marker)
    text.syntax(marker)
    for number, part in enumerate(parts):
        if number:
            text.syntax("\n" if part.kind == "list" else "\n\n")
            text.syntax(margin)
        text.append(part.text.indented(margin))
    return text


def _holds_blocks(element: Any) -> bool:
    return any(_name(inner) in _BLOCKS for inner in element.iterdescendants())


def _number(element: Any, name: str, otherwise: int) -> int:
    """An attribute that is a number of a list's item."""
    value = element.get(name) or ""
    return int(value) if _ITEM.fullmatch(value) else otherwise


def _has_head(rows: list[Any]) -> bool:
    return any(_name(cell) == "th" for row in rows for cell in row)


def _table_of(row: Any) -> Any:
    return next((above for above in row.iterancestors() if _name(above) == "table"), None)


def _table(rows: list[Any]) -> Table | None:
    cells = _placed(rows, _MAX_SPAN)
    heads = 0
    for row in rows:
        if any(_name(cell) == "td" for cell in row):
            break
        heads += 1
    return Table.of(cells, header_rows=max(1, heads)) if cells else None


def _placed(rows: list[Any], most: int) -> list[Cell]:
    """The cells of a table on its grid, none of which covers more than `most` columns or rows."""
    cells: list[Cell] = []
    limit = _MOST_EMPTY * sum(map(len, rows))
    taken: set[tuple[int, int]] = set()
    for number, row in enumerate(rows):
        column = 0
        for field in (cell for cell in row if _name(cell) in ("td", "th")):
            while (number, column) in taken:
                column += 1
            down = min(_span(field, "rowspan"), len(rows) - number, most)
            across = min(_span(field, "colspan"), most)
            text, marks = _cell_text(field)
            cells.append(Cell(text, number, column, down, across, marks))
            taken.update((number + r, column + c) for r in range(1, down) for c in range(across))
            column += across
            if most > 1 and max(len(taken), column * len(rows)) > limit + _MAX_SPAN**2:
                # Nothing but spans: a page may claim any number.
                return _placed(rows, 1)
    return cells


def _cell_text(cell: Any) -> Passage:
    """The words of a cell and its links; what stands in blocks of its own is kept apart."""
    pieces: list[tuple[str, str]] = []
    links = [""]
    for event, element in etree.iterwalk(cell, events=("start", "end")):
        if event == "start":
            links.append(_target(element) or links[-1])
            if _name(element) in _BLOCKS or _name(element) == "br":
                pieces.append((" ", ""))
            if _name(element) not in _HIDDEN:
                pieces.append((element.text or "", links[-1]))
        else:
            links.pop()
            if element is not cell:
                pieces.append((element.tail or "", links[-1]))
    return Passage.of(pieces)


def _target(element: Any) -> str:
    """The address that an element leads to; empty for what is no link."""
    href = (element.get("href") or "").strip() if _name(element) == "a" else ""
    return href if address(href) else ""


def _span(cell: Any, name: str) -> int:
    value = cell.get(name) or "1"
    return max(1, int(value)) if re.fullmatch(r"\d{1,5}", value) else 1


def _code(element: Any) -> Part:
    code = "".join(element.itertext()).strip("\n")
    inner = next((child for child in element if _name(child) == "code"), element)
    language = re.search(r"lang(?:uage)?-(\w+)", inner.get("class") or "")
    fence = "```" if "```" not in code else "~~~~"
    text = ScoredText()
    text.syntax(f"{fence}{language[1] if language else ''}\n")
    text.content(code, ())
    text.syntax(f"\n{fence}")
    return Part("code", text)


def _quoted(part: Part) -> Part:
    if part.table is not None or part.picture is not None:
        return part
    text = ScoredText()
    text.syntax("> ")
    text.append(part.text.indented("> "))
    return replace(part, text=text)
