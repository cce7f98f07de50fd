"""Rows of Markdown and HTML tables, and their conversion to CSV and Markdown."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser

Rows = tuple[tuple[str, ...], ...]

MAX_SPAN = 100
"""Most columns or rows that one cell may span: HTML may claim any number."""
_RULE = re.compile(r"\s*\|?(\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*")
_CELL = re.compile(r"(?<!\\)\|")
_WORDS = r"(?:[^\[\]\\]|\\.)"
_LINK = re.compile(rf"(?<!\\)\[((?:{_WORDS}|\[{_WORDS}*\])*)\]\([^)\s]*\)")
"""A Markdown link, whose text may contain brackets."""
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SYNTAX = re.compile(
    r"\\(?=[!-/:-@\[-`{-~\n]|$)|[`*|~]|\[|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w+;)"
)


def rows_of(content: str) -> Rows:
    """Return the rows of a Markdown or HTML table, or no rows if it is neither."""
    if "<t" in content.lower():
        parser = _HTMLTable()
        parser.feed(content)
        parser.close()
        rows = parser.rows()
    else:
        rows = [*_markdown_rows(content)]
    width = max(map(len, rows), default=0)
    return tuple(tuple(row) + ("",) * (width - len(row)) for row in rows)


def as_csv(rows: Rows) -> str:
    """Return comma-separated values (RFC 4180)."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def as_markdown(rows: Rows) -> str:
    """Return a Markdown table with the first row as its head."""
    if not rows:
        return ""
    head, *body = (list(map(_escape, row)) for row in rows)
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _escape(cell: str) -> str:
    """Escape a cell's text for Markdown."""
    return _SYNTAX.sub(r"\\\g<0>", cell).replace("\n", "<br>")


def _plain(cell: str) -> str:
    """Return a cell's text without Markdown; a link becomes its text."""
    lines = re.sub(r"(?<!\\)<br\s*/?>", "\n", cell)
    return _ESCAPED.sub(r"\1", _LINK.sub(r"\1", lines)).strip()


def _markdown_rows(content: str) -> Iterator[list[str]]:
    for number, line in enumerate(content.strip().splitlines()):
        if "|" not in line or (number == 1 and _RULE.fullmatch(line)):
            continue
        cells = _CELL.split(line.strip())
        inner = cells[bool(cells[0] == "") : len(cells) - (cells[-1] == "")]
        yield list(map(_plain, inner))


class _HTMLTable(HTMLParser):
    """Collects the cells of the rows; a spanning cell stands in its first column and row."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[list[tuple[str, int, int]]] = []
        self._parts: list[str] | None = None
        self._span = (1, 1)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._end_cell()
            self._rows.append([])
        elif tag in ("td", "th"):
            self._end_cell()
            spans = dict(attrs)
            self._parts = []
            self._span = (_span(spans.get("colspan")), _span(spans.get("rowspan")))
        elif tag == "br":
            self.handle_data("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._end_cell()

    def handle_data(self, data: str) -> None:
        if self._parts is not None:
            self._parts.append(data)

    def _end_cell(self) -> None:
        if self._parts is not None:
            if not self._rows:
                self._rows.append([])
            text = "\n".join(line.strip() for line in "".join(self._parts).strip().splitlines())
            self._rows[-1].append((text, *self._span))
        self._parts = None

    def rows(self) -> list[list[str]]:
        """Return the rows with every cell in its column."""
        taken: dict[tuple[int, int], str] = {}
        for y, row in enumerate(self._rows):
            x = 0
            for text, across, down in row:
                while (y, x) in taken:
                    x += 1
                for below in range(min(down, len(self._rows) - y)):
                    taken |= {(y + below, x + beside): "" for beside in range(across)}
                taken[y, x] = text
                x += across
        width = max((x for _, x in taken), default=-1) + 1
        return [[taken.get((y, x), "") for x in range(width)] for y in range(len(self._rows))]


def _span(value: str | None) -> int:
    # No more digits than counted: Python refuses to parse numbers with too many digits.
    return min(max(int(value[:4]), 1), MAX_SPAN) if value and value.isdecimal() else 1
