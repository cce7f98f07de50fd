"""Word documents to parts, via mammoth's HTML."""

import io
import re
from contextlib import suppress
from itertools import zip_longest
from typing import Any

import mammoth
from lxml import etree

from carrel.server.reading.markdown.inline import escaped
from carrel.server.reading.office.archive import attribute, parse_member
from carrel.server.reading.office.parts import Part, text_part
from carrel.server.reading.office.web.html import parse_html, parts_of_tree
from carrel.server.reading.office.web.inline import NOTE
from carrel.server.reading.office.word.equations import STYLE, with_equations
from carrel.server.reading.office.word.numbering import item_numbers
from carrel.server.reading.office.word.running_heads import running_heads
from carrel.wire.ocr import BlockType

_STYLES = f"""\
r.{STYLE} => var.equation
comment-reference => span
u => u
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => h2:fresh
p[style-name='Quote'] => blockquote:fresh
p[style-name='Intense Quote'] => blockquote:fresh
p[style-name='Caption'] => figcaption:fresh
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Code'] => pre:separator('\\n')
r[style-name='HTML Code'] => code
br[type='page'] => hr.page
"""
_PAGE = re.compile(r'<hr class="page"\s*/>')


def word_pages(data: bytes) -> list[list[Part]]:
    """Return the parts of every page; a page ends at the author's page break."""
    pictures: dict[str, bytes] = {}

    def keep(image: "mammoth.documents.Image") -> dict[str, str]:
        name = f"picture-{len(pictures)}"
        with suppress(KeyError, OSError, ValueError), image.open() as file:
            pictures[name] = file.read()
            return {"src": name}
        # The picture is linked or lost; the text is still readable.
        return {}

    result = mammoth.convert_to_html(
        io.BytesIO(with_equations(data)),
        style_map=_STYLES,
        convert_image=mammoth.images.img_element(keep),
    )
    pages = [parse_html(page) for page in _PAGE.split(result.value)]
    there = [page for page in pages if page is not None]
    _number_items(there, list(item_numbers(data)))
    comments = parse_member(data, "word/comments.xml")
    _make_notes_of_comments(there, {attribute(c, "id"): attribute(c, "author") for c in comments})
    read = [[] if page is None else parts_of_tree(page, pictures.get) for page in pages]
    heads = running_heads(data)
    return [
        [*_head("header", above), *parts, *_head("footer", below)]
        for parts, (above, below) in zip_longest(
            read, heads[: len(read)], fillvalue=heads[-1] if heads else ("", "")
        )
    ]


def _head(kind: BlockType, text: str) -> list[Part]:
    return [text_part(kind, escaped(text))] if text else []


def _make_notes_of_comments(pages: list[Any], authors: dict[str, str]) -> None:
    """Turn mammoth's list of comments into notes after the document's own; `authors` go by id."""
    items = (item for page in pages for item in page.iter("li"))
    number = sum(NOTE.fullmatch(item.get("id") or "") is not None for item in items)
    numbers: dict[str, int] = {}
    for comments in [found for page in pages for found in page.iter("dl")]:
        notes = etree.Element("ol", start=str(number + 1))
        for name, text in zip(comments.findall("dt"), comments.findall("dd"), strict=False):
            number += 1
            id = (name.get("id") or "").removeprefix("comment-")
            numbers[f"#comment-{id}"] = number
            text.tag = "li"
            text.set("id", f"footnote-c{number}")
            words = text[0] if len(text) else text
            words.text = f"{authors.get(id) or 'Comment'}: {words.text or ''}"
            notes.append(text)
        comments.getparent().replace(comments, notes)
    for link in [found for page in pages for found in page.iter("a")]:
        if (noted := numbers.get(link.get("href") or "")) is not None:
            link.set("href", f"#footnote-c{noted}")
            link.text = f"[{noted}]"


def _number_items(pages: list[Any], numbers: list[int]) -> None:
    """Set the numbers of the items of numbered lists if there is one for each."""
    items = [item for page in pages for item in page.iter("li") if _is_numbered(item)]
    if len(items) == len(numbers):
        for item, number in zip(items, numbers, strict=True):
            item.set("value", str(number))


def _is_numbered(item: Any) -> bool:
    """Return whether an item is numbered: not a note, nor the mere holder of a deeper list."""
    holder = not item.text and len(item) > 0 and item[0].tag in ("ol", "ul")
    return item.getparent().tag == "ol" and not item.get("id") and not holder
