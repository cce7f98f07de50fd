"""The text, tables and headings of a document: of its truth, and of an answer in Markdown."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from support.tables import Cell, Grid, grids_of

_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")
_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")


@dataclass
class Structure:
    text: str = ""
    tables: list[Grid] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Truth:
    """A document of the corpus: its file, and the structure of its pages."""

    path: Path
    structure: Structure
    pages: int


def truth(path: Path) -> Truth:
    """Return the truth beside a PDF; running heads and folios are no part of its text."""
    about = json.loads(path.with_suffix(".json").read_text("utf-8"))
    found = Structure()
    texts: list[str] = []
    headings: set[int] = set()
    for page in about["pages"]:
        elements = sorted(page["elements"], key=lambda element: int(element["order"]))
        kept = [one for one in elements if one["role"] not in {"running_head", "folio"}]
        texts += [one["text"] for one in kept]
        for one in kept:
            if one["role"] == "heading" and one["id"] not in headings:
                headings.add(one["id"])
                found.headings.append((one["level"], one["text"]))
        tables = dict.fromkeys(one["table"] for one in kept if one["role"] == "cell")
        for table in tables:
            cells = [one for one in kept if one["role"] == "cell" and one["table"] == table]
            found.tables.append(_grid(cells))
    found.text = "\n".join(texts)
    return Truth(path, found, len(about["pages"]))


def _grid(cells: Sequence[dict[str, Any]]) -> Grid:
    """Return the cells on one page, with the empty ones, rows counted from its first."""
    rows = sorted({row for one in cells for row in range(one["row"], one["row"] + one["rowspan"])})
    place = {row: index for index, row in enumerate(rows)}
    columns = max(one["column"] + one["colspan"] for one in cells)
    found: Grid = []
    taken: set[tuple[int, int]] = set()
    for one in cells:
        top, left = place[one["row"]], one["column"]
        found.append(Cell(top, left, one["rowspan"], one["colspan"], one["text"]))
        taken |= {
            (row, column)
            for row in range(top, top + one["rowspan"])
            for column in range(left, left + one["colspan"])
        }
    empty = [
        Cell(row, column, 1, 1, "")
        for row in range(len(rows))
        for column in range(columns)
        if (row, column) not in taken
    ]
    return sorted(found + empty, key=lambda cell: (cell.row, cell.column))


def answer(markdown: str) -> Structure:
    """Return the structure of Markdown, whose tables may be HTML."""
    found = Structure()
    texts: list[str] = []
    markdown = _TABLE.sub(lambda match: "\n\n" + match[0].replace("\n", " ") + "\n\n", markdown)
    tokens = _MARKDOWN.parse(markdown)
    rows: list[list[str]] = []
    inside = False
    heading = 0
    for token in tokens:
        match token.type:
            case "html_block":
                found.tables += grids_of(token.content)
                texts.append(_words(token.content))
            case "table_open":
                inside, rows = True, []
            case "tr_open" if inside:
                rows.append([])
            case "table_close":
                inside = False
                found.tables.append(_plain_grid(rows))
            case "heading_open":
                heading = int(token.tag[1])
            case "inline":
                text = _words("".join(_inline(child) for child in token.children or []))
                texts.append(text)
                if inside:
                    rows[-1].append(text)
                elif heading:
                    found.headings.append((heading, text))
                    heading = 0
            case "fence" | "code_block":
                texts.append(token.content)
    found.text = "\n".join(texts)
    return found


def _inline(token: Any) -> str:
    if token.type in {"softbreak", "hardbreak"}:
        return " "
    return str(token.content) if token.type in {"text", "code_inline", "html_inline"} else ""


def _words(text: str) -> str:
    text = re.sub(r"</(td|th|tr|p|li)>|<br\s*/?>", " ", text)
    return " ".join(unescape(_TAG.sub("", text)).split())


def _plain_grid(rows: Sequence[Sequence[str]]) -> Grid:
    return [Cell(i, j, 1, 1, text) for i, row in enumerate(rows) for j, text in enumerate(row)]
