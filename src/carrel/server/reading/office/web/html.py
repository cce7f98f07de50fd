"""HTML, and EPUB books, whose chapters are HTML, to parts: the content a browser shows."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from lxml import etree
from lxml import html as lxml_html

from carrel.server.reading.markdown.scored_text import ScoredText
from carrel.server.reading.office.archive import member, parse_member, whole_number
from carrel.server.reading.office.parts import Part, text_part
from carrel.server.reading.office.web.inline import (
    BLOCKS,
    HIDDEN,
    MAX_DEPTH,
    NOTE,
    FindPicture,
    Inline,
    holds_blocks,
    name_of,
)
from carrel.server.reading.office.web.tables import table_of, table_rows
from carrel.server.reading.options import UnreadableDocument
from carrel.wire.ocr import BlockType

_HEADING = re.compile(r"h([1-6])")
_LEFT_OUT = "[What is nested deeper in this page was left out.]"


def parts_of_html(source: bytes | str, find: FindPicture = lambda _: None) -> list[Part]:
    """Return the parts of an HTML page, without scripts, forms and hidden elements."""
    root = parse_html(source)
    return [] if root is None else parts_of_tree(root, find)


def parse_html(source: bytes | str) -> Any | None:
    """Parse an HTML page to its root element; None if it is empty."""
    known = isinstance(source, bytes) and _is_utf8(source)
    parser = lxml_html.HTMLParser(
        encoding="utf-8" if known else None, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = lxml_html.document_fromstring(source, parser=parser)
    except (etree.ParserError, ValueError):
        return None
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        note = etree.SubElement(root.find("body") if root.find("body") is not None else root, "p")
        note.text = _LEFT_OUT
    return root


def parts_of_tree(root: Any, find: FindPicture) -> list[Part]:
    """Return the parts of a parsed element with HTML tag names."""
    return list(_Reader(find).blocks(root, 0))


def _is_utf8(source: bytes) -> bool:
    try:
        source.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Reader:
    """Walks the blocks of a tree."""

    def __init__(self, find: FindPicture) -> None:
        self._find = find

    def blocks(self, element: Any, depth: int) -> Iterator[Part]:
        """Yield the parts inside an element; text between blocks is a paragraph."""
        loose = Inline(self._find)
        loose.words(element.text)
        for child in element:
            name = name_of(child)
            if name in HIDDEN:
                pass
            elif depth > MAX_DEPTH:
                loose.words(_LEFT_OUT)
            elif name in BLOCKS or holds_blocks(child):
                yield from self._finish("text", loose)
                loose = Inline(self._find)
                yield from self._block(name, child, depth + 1)
            else:
                loose.child(child, depth)
            loose.words(child.tail)
        yield from self._finish("text", loose)

    def _block(self, name: str, element: Any, depth: int) -> Iterator[Part]:
        if heading := _HEADING.fullmatch(name):
            yield from self._line("title", element, "#" * int(heading[1]) + " ")
        elif name == "dt" or (name == "p" and not holds_blocks(element)):
            yield from self._line("text", element)
        elif name == "figcaption" and not holds_blocks(element):
            yield from self._line("caption", element)
        elif name == "pre":
            yield _code(element)
        elif name in ("ul", "ol"):
            yield from self._list(element, name == "ol", depth)
        elif name == "table":
            yield from self._table(element, depth)
        elif name == "blockquote":
            yield from map(_quote, self.blocks(element, depth))
        elif name != "hr":
            yield from self.blocks(element, depth)

    def _line(self, kind: BlockType, element: Any, before: str = "") -> Iterator[Part]:
        inline = Inline(self._find)
        inline.add(element)
        yield from self._finish(kind, inline, before)

    def _finish(self, kind: BlockType, inline: Inline, before: str = "") -> Iterator[Part]:
        if inline.text.length:
            text = ScoredText(before)
            text.append(inline.text)
            yield Part(kind, text, links=tuple(inline.links))
        for picture in inline.pictures:
            yield Part("image", picture=picture)

    def _list(self, element: Any, ordered: bool, depth: int) -> Iterator[Part]:
        """Yield one part with all items, then the tables and pictures that a list cannot hold."""
        items = element.findall("{*}li")
        notes = [NOTE.fullmatch(item.get("id") or "") for item in items]
        text, after, links = ScoredText(), list[Part](), list[str]()
        number, dot = whole_number(element.get("start"), 1) - 1, "."
        for place, item in enumerate(items):
            following, number = number + 1, whole_number(item.get("value"), number + 1)
            if ordered and place and number != following:
                # In Markdown, another delimiter starts a new list; the same one counts on.
                dot = ")" if dot == "." else "."
            marker = f"[^{number}]: " if notes[place] else f"{number}{dot} " if ordered else "- "
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
        table = table_of(element)
        if table is None:
            for row in table_rows(element):
                for cell in row:
                    yield from self.blocks(cell, depth)
            return
        for caption in element.findall("{*}caption")[:1]:
            yield from self._line("caption", caption)
        yield Part("table", table=table, links=table.links)
        for picture in element.iter("{*}img"):
            inline = Inline(self._find)
            inline.child(picture, 0)
            yield from self._finish("text", inline)


def _item(marker: str, parts: Sequence[Part]) -> ScoredText:
    """Format a list item; unwrap one that holds only a list."""
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


def _code(element: Any) -> Part:
    code = "".join(element.itertext()).strip("\n")
    inner = next((child for child in element if name_of(child) == "code"), element)
    language = re.search(r"lang(?:uage)?-(\w+)", inner.get("class") or "")
    fence = "```" if "```" not in code else "~~~~"
    return text_part("code", code, f"{fence}{language[1] if language else ''}\n", f"\n{fence}")


def _quote(part: Part) -> Part:
    if part.table is not None or part.picture is not None:
        return part
    text = ScoredText("> ")
    text.append(part.text.indented("> "))
    return replace(part, text=text)


def book_pages(data: bytes) -> list[list[Part]]:
    """Return the parts of every chapter, in the order of the book."""
    named = parse_member(data, "META-INF/container.xml").iter("{*}rootfile")
    package = next((each.get("full-path") for each in named), "")
    root = parse_member(data, package)
    if not len(root):
        raise UnreadableDocument("This book is damaged: it does not say which chapters it has.")
    files = {item.get("id"): item.get("href") for item in root.iter("{*}item")}
    chapters = [files.get(item.get("idref")) for item in root.iter("{*}itemref")]
    folder = posixpath.dirname(package)
    pages = [_chapter(data, _resolve(folder, name)) for name in chapters if name]
    return [page for page in pages if page]


def _chapter(data: bytes, name: str) -> list[Part]:
    content = member(data, name)
    folder = posixpath.dirname(name)
    return parts_of_html(content or b"", lambda source: member(data, _resolve(folder, source)))


def _resolve(folder: str, address: str) -> str:
    """Resolve an address inside the book to a name in the archive."""
    return posixpath.normpath(posixpath.join(folder, unquote(address.partition("#")[0])))
