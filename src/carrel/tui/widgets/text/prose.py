"""Markdown rendered in the theme's colours."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich import box
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.markdown import CodeBlock, Heading, ImageItem, Markdown, Paragraph, TableElement
from rich.measure import measure_renderables
from rich.style import Style
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from carrel.store.chat.formatting import citations
from carrel.store.core.formatting import picture_words, raise_notes
from carrel.text import clean_text

MIN_TAIL = 1500
"""Characters at the end of a growing text that are redrawn at every change."""
_GAP = 2
"""Cells between two columns, and at a table's edges together."""
_LONG_WORD = 16
"""Letters of a word that is broken before a table's columns are given up."""


_PARSER = MarkdownIt().enable(["strikethrough", "table"])


class _Paragraph(Paragraph):
    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> "_Paragraph":
        made = cls(justify="left")
        made.sources = markdown.sources if isinstance(markdown, _Markdown) else {}
        return made

    def __init__(self, justify: JustifyMethod) -> None:
        super().__init__(justify)
        self.sources: Mapping[int, Style] = {}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for number, start, end in citations(self.text.plain):
            if style := self.sources.get(number):
                self.text.stylize(console.get_style("carrel.source") + style, start, end)
        yield from _wrap(self.text, console, options, self.justify)


def _wrap(
    text: Text, console: Console, options: ConsoleOptions, justify: JustifyMethod
) -> RenderResult:
    # A line at a time: Rich takes quadratic time to split a long text without styles.
    for line in text.wrap(console, options.max_width, justify=justify):
        yield from line.render(console, end="\n")


class _Heading(Heading):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _CodeBlock(CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(
            code,
            self.lexer_name,
            theme=self.theme,
            word_wrap=True,
            padding=(0, 2),
            background_color="default",
        )


class _Image(ImageItem):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        name = picture_words(self.text.plain or self.destination)
        yield Text(f"▣ {name} ", style="markdown.image", end="")


class _Table(TableElement):
    """A table whose words stay whole; where its columns do not fit, a block of lines for each row.

    Only words too long for such a block too are broken.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            assert isinstance(table, Table)
            sizes = [
                measure_renderables(console, options, [column.header, *column.cells])
                for column in table.columns
            ]
            room = options.max_width - _GAP * len(sizes)
            if sum(min(size.minimum, _LONG_WORD) for size in sizes) > room:
                yield _records(table)
                return
            spare = room - sum(size.minimum for size in sizes)
            wanted = sum(size.span for size in sizes)
            for column, size in zip(table.columns, sizes, strict=True):
                column.overflow = "fold"
                if 0 <= spare < wanted:
                    column.width = size.minimum + spare * size.span // wanted
            yield table


def _records(table: Table) -> Table:
    """Return a table as a block for each row: a line for each cell with text, after its head.

    The heads of empty columns stand before them.
    """
    records = Table(box=box.SIMPLE, show_header=False, pad_edge=False, collapse_padding=True)
    records.add_column(overflow="fold")
    records.add_column(overflow="fold")
    heads, rows = _heads_and_rows(table)
    for head, *cells in zip(heads, *rows, strict=True):
        if head and not any(cells):
            records.add_row(head, "")
    records.add_section()
    for row in rows:
        for head, cell in zip(heads, row, strict=True):
            if cell:
                records.add_row(head, cell)
        records.add_section()
    return records


def _heads_and_rows(table: Table) -> tuple[list[Any], list[Sequence[Any]]]:
    """Return each column's head, joined with one below that spans fewer columns, and the rows."""
    heads: list[Any] = [column.header for column in table.columns]
    rows = list[Sequence[Any]](zip(*(column.cells for column in table.columns), strict=True))
    # Only the first column of a head over several has its text.
    over: list[Any] = [*accumulate(heads, lambda last, head: head or last)]
    shared = [sum(other is head for other in over) > 1 for head in over]
    below = [*zip(over, rows[0], shared, strict=True)] if rows and not rows[0][0] else []
    if any(cell for _, cell, _ in below) and all(among for _, cell, among in below if cell):
        return [Text(" · ").join(filter(None, named)) for *named, _ in below], rows[1:]
    return heads, rows


class _Markdown(Markdown):
    elements: ClassVar[dict[str, Any]] = {
        **Markdown.elements,
        "paragraph_open": _Paragraph,
        "heading_open": _Heading,
        "fence": _CodeBlock,
        "code_block": _CodeBlock,
        "image": _Image,
        "table_open": _Table,
    }

    def __init__(self, text: str, code_theme: str, sources: Mapping[int, Style]) -> None:
        # The original makes a parser for each text, which takes longer than most texts.
        vars(self).update(vars(_empty(code_theme)))
        self.markup, self.parsed = text, _PARSER.parse(text)
        self.sources = sources


@cache
def _empty(code_theme: str) -> Markdown:
    return Markdown("", code_theme, justify="left", hyperlinks=False)


class Prose:
    """Markdown for a `Rendered`. Links are not clickable: a document may name any address.

    `sources` maps numbers in brackets to styles.

    It is parsed during drawing. The parsed objects outnumber the words, and if kept for a long
    chat, the garbage collector would scan them again and again.
    """

    def __init__(
        self, text: str, *, dark: bool = True, sources: Mapping[int, Style] | None = None
    ) -> None:
        self._text = raise_notes(clean_text(text))
        self._sources = sources or {}
        self._code_theme = "nord" if dark else "friendly"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield _Markdown(self._text, self._code_theme, self._sources)


class TypedText:
    """A text as it was typed, for a `Rendered`: with its line breaks and indents."""

    def __init__(self, text: str) -> None:
        self._text = clean_text(text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _wrap(Text(self._text), console, options, "left")


_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_CONTINUES = re.compile(r"\s|[-*+>|]|\d+[.)]")


def settled_length(text: str) -> int:
    """Return the number of characters of a growing text whose rendering is final.

    Cuts at a blank line outside of fences, lists, tables and quotes, at least `MIN_TAIL` characters
    before the end; 0 if there is none.
    """
    cut = at = 0
    fence = ""
    blank = False
    for row in text.splitlines(keepends=True):
        if blank and not fence and not _CONTINUES.match(row) and at <= len(text) - MIN_TAIL:
            cut = at
        if marker := _FENCE.match(row):
            if not fence:
                fence = marker[1]
            elif marker[1].startswith(fence):
                fence = ""
        blank = not row.strip()
        at += len(row)
    return cut
