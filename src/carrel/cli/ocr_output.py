"""Output of a reading as text, HTML or JSON, with pictures and tables as files."""

import html
import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, assert_never
from urllib.parse import quote

from carrel.system.atomic import replacing
from carrel.system.filenames import file_name
from carrel.text import clean_text

if TYPE_CHECKING:
    from markdown_it.token import Token

    from carrel.wire.ocr import OCRResult, Page

Format = Literal["md", "json", "jsonl", "html", "txt"]

_LONGEST = 40
"""Longest name of a picture or table in bytes; it is appended to the document's."""
_LINE_ENDS = ("paragraph_close", "heading_close", "tr_close")
_ENDS_WITH_SPACE = ("table_close", "bullet_list_close", "ordered_list_close")


@dataclass(frozen=True)
class OutputFolders:
    """The folders for pictures and tables, or None to keep them inline.

    The text's links are relative to `base`; names of table files begin with `name`.
    """

    base: Path
    name: str
    images: Path | None = None
    tables: Path | None = None

    def separate(self, page: "Page") -> "Page":
        """Write a page's pictures and tables to files and link them in the page."""
        from carrel.store.documents.export.formats import decode_picture
        from carrel.store.documents.table_rows import as_csv, rows_of

        markdown, images = page.markdown, page.images
        if self.images is not None:
            for image in images:
                if picture := decode_picture(image.image_base64):
                    name = file_name(image.id, "picture", _LONGEST)
                    path = _write(self.images / name, picture[1])
                    markdown = markdown.replace(f"]({image.id})", f"]({self._link(path)})")
            images = [image.model_copy(update={"image_base64": None}) for image in images]
        if self.tables is not None:
            for table in page.tables:
                stem = table.id.rpartition(".")[0] or table.id
                rows = as_csv(rows_of(table.content)).encode()
                own = file_name(stem, "table", _LONGEST)
                path = _write(self.tables / f"{self.name}.{own}.csv", rows)
                link = f"[{stem}.csv]({self._link(path)})"
                markdown = markdown.replace(f"[{table.id}]({table.id})", link)
        return page.model_copy(update={"markdown": markdown, "images": images})

    def _link(self, path: Path) -> str:
        return quote(Path(os.path.relpath(path, self.base)).as_posix())


def render(result: "OCRResult", format: Format, title: str) -> str:
    """Return a whole document as text with a final line break."""
    match format:
        case "json":
            return json.dumps(result.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"
        case "jsonl":
            return "".join(page.model_dump_json() + "\n" for page in result.pages)
        case "html":
            return _html(result.pages, title)
        case "md":
            return _join(page.markdown for page in result.pages)
        case "txt":
            return _join(plain(page.markdown) for page in result.pages)
        case _:
            assert_never(format)


def _join(texts: Iterable[str]) -> str:
    return "\n\n".join(clean_text(text).strip("\n") for text in texts) + "\n"


def plain(markdown: str) -> str:
    """Return a Markdown text without markup, with table cells separated by tabs."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark", {"html": False}).enable("table").parse(markdown)
    lines: list[str] = []
    line = ""
    for token in tokens:
        if token.type == "list_item_open":
            line += "  " * (token.level // 2) + (f"{token.info}. " if token.info else "- ")
        elif token.type in ("td_close", "th_close"):
            line += "\t"
        elif token.type in ("fence", "code_block"):
            lines += [token.content.rstrip("\n"), ""]
        elif token.type == "inline":
            line += _words(token.children or [])
        elif token.type in _LINE_ENDS:
            lines.append(line.rstrip("\t"))
            line = ""
            if not token.hidden and token.type != "tr_close":
                lines.append("")
        elif token.type in _ENDS_WITH_SPACE and token.level == 0:
            lines.append("")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def write_text(path: Path, text: str) -> None:
    """Write a file atomically."""
    _write(path, text.encode())


def _words(tokens: Sequence["Token"]) -> str:
    parts = []
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.type != "image":
            parts.append(token.content)
    return "".join(parts)


def _html(pages: Sequence["Page"], title: str) -> str:
    from markdown_it import MarkdownIt

    # A document's content is text: tags in it are shown, not interpreted.
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    sections = "".join(
        f'<section id="page-{page.index + 1}">\n{markdown.render(clean_text(page.markdown))}'
        "</section>\n"
        for page in pages
    )
    head = f'<meta charset="utf-8">\n<title>{html.escape(clean_text(title))}</title>'
    return f"<!doctype html>\n<html>\n<head>\n{head}\n</head>\n<body>\n{sections}</body>\n</html>\n"


def _write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(data)
    return path
