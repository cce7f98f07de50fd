"""Headers and footers of a Word document, for each of its pages as the author broke them."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from lxml import etree

from carrel.server.reading.office.archive import attribute, parse_member

_UNSEEN = frozenset(["Fallback", "del", "instrText", "delText"])
"""Elements whose text is not shown: the copy of a text box for old programs, deletions, fields."""


def running_heads(data: bytes) -> list[tuple[str, str]]:
    """Return the header and footer of every page, empty where there is none."""
    document = parse_member(data, "word/document.xml")
    sections = list(_sections(document, _texts(data)))
    settings = parse_member(data, "word/settings.xml")
    both_sides = settings.find("{*}evenAndOddHeaders") is not None
    found: list[tuple[str, str]] = []
    for before, section in pairwise([-1, *_sections_of_pages(document)]):
        if section == len(sections):
            break
        first_differs, heads = sections[section]
        usual = "even" if both_sides and len(found) % 2 == 1 else "default"
        which = "first" if first_differs and section != before else usual
        found.append((heads.get(f"header {which}", ""), heads.get(f"footer {which}", "")))
    return found


def _sections(document: Any, texts: dict[str, str]) -> Iterator[tuple[bool, dict[str, str]]]:
    """Yield whether each section's first page differs, and its headers and footers by kind."""
    heads: dict[str, str] = {}
    for properties in document.iter("{*}sectPr"):
        heads = dict(heads)  # Those of the section before stay where no other is named.
        for reference in properties.iterchildren("{*}headerReference", "{*}footerReference"):
            kind = etree.QName(reference).localname[:6]
            name = f"{kind} {attribute(reference, 'type') or 'default'}"
            heads[name] = texts.get(attribute(reference, "id"), "")
        yield properties.find("{*}titlePg") is not None, heads


def _sections_of_pages(document: Any) -> Iterator[int]:
    """Yield the number of the section in which each page begins."""
    section = 0
    yield section
    for element in document.iter("{*}br", "{*}sectPr"):
        if etree.QName(element).localname == "sectPr":
            section += 1
        elif attribute(element, "type") == "page":
            yield section


def _texts(data: bytes) -> dict[str, str]:
    """Return the text of each header and footer, by the id of its relation."""
    texts = {}
    for relation in parse_member(data, "word/_rels/document.xml.rels"):
        if str(relation.get("Type")).endswith(("/header", "/footer")):
            path = PurePosixPath("/word") / str(relation.get("Target"))
            texts[str(relation.get("Id"))] = _text(parse_member(data, str(path).lstrip("/")))
    return texts


def _text(root: Any) -> str:
    paragraphs = (" ".join("".join(_words(each)).split()) for each in root.iter("{*}p"))
    # A text box stands inside a paragraph: its words are the box's own.
    return " ".join(filter(None, paragraphs))


def _words(element: Any) -> Iterator[str]:
    for child in element:
        name = etree.QName(child).localname if isinstance(child.tag, str) else ""
        if name == "t":
            yield child.text or ""
        elif name in ("tab", "br", "ptab"):
            yield " "
        elif name not in _UNSEEN and name != "p":
            yield from _words(child)
