"""Running text in HTML, and the kinds of its elements."""

import base64
import binascii
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from carrel.server.reading.markdown.inline import address, escaped
from carrel.server.reading.markdown.scored_text import ScoredText

HIDDEN = frozenset([
    "audio", "button", "canvas", "dialog", "head", "iframe", "math", "noscript", "object",
    "option", "script", "select", "style", "svg", "template", "textarea", "video",
])  # fmt: skip
"""Elements that are hidden, or show no text of the document."""
BLOCKS = frozenset([
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hr", "html", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table",
    "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
])  # fmt: skip
"""Block-level elements."""
MAX_DEPTH = 200
"""Deepest nesting of elements; deeper ones are left out."""


def name_of(element: Any) -> str:
    """Return an element's tag name without its namespace in lower case, empty for a comment."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def holds_blocks(element: Any) -> bool:
    """Return whether an element contains block-level elements."""
    return any(name_of(inner) in BLOCKS for inner in element.iterdescendants())


FindPicture = Callable[[str], bytes | None]
"""The bytes of the picture at an address inside the document; None if it is not there."""

NOTE = re.compile(r"#?(?:foot|end)note-(\w{1,20})")
"""The address or the id of a note, as mammoth writes them."""
_DIGITS = re.compile(r"\d{1,4}")
_BLANK = re.compile(r"\t+|[ \xa0]{3,}")
_DATA = re.compile(r"data:image/[\w.+-]+;base64,", re.IGNORECASE)


class Inline:
    """Running text: words, emphasis, links and the pictures between them.

    White space is held back until something follows it.
    """

    def __init__(self, find: FindPicture) -> None:
        self.text = ScoredText()
        self.links: list[str] = []
        self.pictures: list[bytes] = []
        self.begins_blank = False
        self.space = ""
        self._find = find

    def add(self, element: Any, depth: int = 0) -> None:
        """Add an element's content, without the element."""
        self.words(element.text)
        for child in element:
            self.child(child, depth)
            self.words(child.tail)

    def words(self, text: str | None) -> None:
        """Add text from the source, escaped and with white space collapsed."""
        if not text:
            return
        if text[0].isspace():
            self._blank()
        words = " ".join(text.split())
        if words:
            words = escaped(words, line_start=not self.text.length)
            if self.space == " ":
                words, self.space = f" {words}", ""
            self._syntax("")
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
        """Add an element inside the text."""
        name = name_of(element)
        if name in HIDDEN or depth > MAX_DEPTH:
            return
        match name:
            case "br" if self.text.length:
                self.space = "  \n"
            case "img":
                self._picture(element)
            case "input" if (element.get("type") or "").lower() == "checkbox":
                self.words("☒ " if "checked" in element.attrib else "☐ ")
            case "a":
                self._link(element, depth)
            case "b" | "strong":
                self._add_between("**", "**", self._inner(element, depth))
            case "i" | "em":
                self._add_between("*", "*", self._inner(element, depth))
            case "u" if not (len(element) or any(map(str.isalnum, element.text or ""))):
                # Underlined blanks are there to be written on.
                self.words(_BLANK.sub("____", element.text or ""))
            case "code" | "kbd" | "samp" | "tt":
                self._code(" ".join("".join(element.itertext()).split()))
            case "var" if element.get("class") == "equation":
                self._syntax("")
                self.text.content("".join(element.itertext()), ())
            case _:
                if name in BLOCKS:
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
        note = NOTE.fullmatch(href)
        if note:
            shown = _DIGITS.search("".join(element.itertext()))
            self._syntax(f"[^{shown[0] if shown else note[1]}]")
        elif not href.startswith(("#footnote-ref", "#endnote-ref", "#comment-ref")):
            target = address(href)
            inner = self._inner(element, depth)
            self._add_between("[" if target else "", f"]({target})" if target else "", inner)
            if target:
                self.links.append(href)

    def _inner(self, element: Any, depth: int) -> "Inline":
        inner = Inline(self._find)
        inner.add(element, depth + 1)
        return inner

    def _add_between(self, before: str, after: str, inner: "Inline") -> None:
        """Add an element's content between two marks, with its outer white space outside them."""
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
        inside = _DATA.match(source)
        data = None
        with suppress(binascii.Error):
            data = base64.b64decode(source[inside.end() :]) if inside else self._find(source)
        target = address(source)
        if data:
            self.pictures.append(data)
        elif target:
            self._syntax(f"![{escaped(element.get('alt') or '', line_start=False)}]({target})")
