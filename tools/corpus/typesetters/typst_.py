"""Typst, from its wheel: a document as one Typst program."""

import random
from functools import cache
from itertools import pairwise

import typst

from corpus.document import (
    Beside,
    Block,
    Box,
    Cell,
    Code,
    Contents,
    Document,
    Figure,
    Form,
    Formula,
    Heading,
    Items,
    Leaf,
    PageBreak,
    Paragraph,
    References,
    Run,
    Table,
    colour,
)
from corpus.formulas import Tree
from corpus.looks import FONTS, Look, TableLook
from corpus.sources import RIGHT_TO_LEFT

_RENAMED = {
    "TeX Gyre Bonum": "TeX Gyre Bonum",
    "DejaVu Sans Condensed": "DejaVu Sans",
}


@cache
def _fonts() -> typst.Fonts:
    return typst.Fonts()


@cache
def _compiler() -> typst.Compiler:
    return typst.Compiler(b"", font_paths=_fonts())


def fitted(look: Look, rng: random.Random) -> Look:
    return look


def set_both(document: Document, look: Look) -> tuple[bytes, bytes]:
    """Return the PDF and its twin."""
    tagged = int(look.size * 10) % 3 == 0
    found = []
    for twin in (False, True):
        source = Program(document, look, twin=twin).text()
        written = _compiler().compile(source.encode(), format="pdf", pdf_tags=tagged)
        assert isinstance(written, bytes)
        found.append(written)
    return found[0], found[1]


def _string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


_STYLES = {
    "bold": "strong({})",
    "italic": "emph({})",
    "code": "text(font: mono, size: .85em, {})",
    "sup": "super(typographic: false, {})",
    "sub": "sub(typographic: false, {})",
    "link": "{}",
}
_ALIGN = {"left": "start", "right": "end", "center": "center", "decimal": "end"}


class Program:
    """Writes expressions of Typst's code mode; every block is one."""

    def __init__(self, document: Document, look: Look, *, twin: bool) -> None:
        self.document = document
        self.look = look
        self.twin = twin
        self._tables = 0

    def text(self) -> str:
        look = self.look
        language = self.document.language
        width, height = look.page
        top, right, bottom, left = look.margins
        families = [look.serif, *FONTS.fallback.get(language, ()), "Noto Sans", "DejaVu Sans"]
        leading = max(0.35, look.leading - 0.72)
        gap = max(leading, look.paragraph_gap + leading) if not look.indent else leading
        front = self._blocks(self.document.front)
        placed = (
            f'#place(top, scope: "parent", float: true, clearance: '
            f"1.2em, block(width: 100%, {front}))"
            if look.columns > 1
            else f"#({front})"
        )
        return "\n".join(
            [
                f"#let fonts = ({', '.join(map(_string, families))},)",
                f"#let heads = ({_string(look.heads)},) + fonts",
                '#let mono = ("DejaVu Sans Mono",)',
                "#let leaf(c, body) = " + ("text(fill: c, body)" if self.twin else "body"),
                f"#set page(width: {width}pt, height: {height}pt, columns: {look.columns}, margin: "
                f"(top: {top}pt, right: {right}pt, bottom: {bottom}pt, left: {left}pt), "
                f"header: {self._edge(self.document.margins.head, rule=look.running_rule)}, "
                f"footer: {self._edge(self.document.margins.foot)})",
                f"#set columns(gutter: {look.gutter}pt)",
                f"#set text(font: fonts, size: {look.size}pt, lang: {_string(language)}, "
                f"hyphenate: {str(look.hyphens).lower()}, tracking: {look.spacing}pt, "
                f"dir: {'rtl' if language in RIGHT_TO_LEFT else 'ltr'})",
                f"#set par(justify: {str(look.justify).lower()}, leading: {leading:.2f}em, "
                f"spacing: {gap:.2f}em, first-line-indent: {'1.2em' if look.indent else '0em'})",
                "#show heading: it => it.body",
                "#show footnote.entry: it => it.note.body",
                "#set footnote(numbering: _ => [])",
                placed,
                f"#({self._blocks(self.document.body)})",
            ]
        )

    # leaves

    def _leaf(self, leaf: Leaf, body: str | None = None) -> str:
        red, green, blue = colour(leaf)
        return f"leaf(rgb({red}, {green}, {blue}), {body or self._words(leaf.runs)})"

    def _words(self, some: tuple[Run, ...]) -> str:
        parts = [_STYLES.get(run.style, "[#{}]").format(_string(run.text)) for run in some]
        return " + ".join(parts) or "[]"

    def _edge(self, places: dict[str, Leaf], *, rule: bool = False) -> str:
        if not places:
            return "none"
        cells = []
        for side in ("left", "center", "right"):
            leaf = places.get(side)
            if leaf is None:
                cells.append("[]")
            elif leaf.role == "folio":
                before, _, after = leaf.text.partition("{page}")
                body = f"[#{_string(before)}#counter(page).display()#{_string(after)}]"
                cells.append(self._leaf(leaf, body))
            else:
                cells.append(self._leaf(leaf))
        normal = ", ".join(cells)
        other = ", ".join(reversed(cells))
        mirrored = self.document.margins.mirrored
        size = self.look.size * self.look.running_scale
        grid = "grid(columns: (1fr, auto, 1fr), align: (left, center, right), {})"
        body = (
            f"if calc.even(here().page()) {{ {grid.format(other)} "
            f"}} else {{ {grid.format(normal)} }}"
            if mirrored
            else grid.format(normal)
        )
        if not self.document.margins.first_page:
            body = f"if here().page() > 1 {{ {body} }}"
        line = " + v(-.6em) + line(length: 100%, stroke: .4pt)" if rule else ""
        return (
            f"context text(size: {size:.1f}pt, {{ set par(first-line-indent: 0pt); {body} }}{line})"
        )

    # blocks

    def _blocks(self, blocks: list[Block]) -> str:
        found: list[str] = []
        run_in: Heading | None = None
        for block in blocks:
            if isinstance(block, Heading) and block.run_in and run_in is None:
                run_in = block
                continue
            if run_in and isinstance(block, Paragraph):
                start = self._heading_text(run_in, size=False)
                found.append(f"par({start} + [ ] + {self._noted(block)})")
                run_in = None
                continue
            if run_in:
                found.append(self._heading(run_in))
                run_in = None
            found.append(self._block(block))
        if run_in:
            found.append(self._heading(run_in))
        return " + ".join(found) or "[]"

    def _block(self, block: Block) -> str:
        match block:
            case Heading():
                return self._heading(block)
            case Paragraph():
                return self._paragraph(block)
            case Items():
                return self._items(block)
            case Table():
                return self._table(block)
            case Code():
                frame = "fill: luma(242)" if self.look.box_shade else "stroke: .4pt + gray"
                lines = self._leaf(block.leaf, f"raw({_string(block.leaf.text)}, block: true)")
                return (
                    f"block(width: 100%, inset: 5pt, {frame}, {{ set "
                    f"text(font: mono, size: .9em); {lines} }})"
                )
            case Formula():
                assert isinstance(block.tree, Tree)
                number = f"[#{_string(block.label)}]" if block.label else "[]"
                body = self._leaf(block.leaf, f"[$ {block.tree.typst()} $]")
                return (
                    f"block(width: 100%, grid(columns: (2em, 1fr, 2em), align: horizon, [], "
                    f"align(center, {body}), align(right, {self._leaf(block.leaf, number)})))"
                )
            case Figure():
                return self._figure(block)
            case Form():
                return self._form(block)
            case Contents():
                return self._contents(block)
            case References():
                return (
                    " + ".join(
                        "{ set par(hanging-indent: 1.8em, "
                        "first-line-indent: 0pt); set text(size: .92em); "
                        f"par({self._leaf(leaf)}) }}"
                        for _, leaf in block.entries
                    )
                    or "[]"
                )
            case Box():
                frame = "fill: rgb(235, 240, 246)" if self.look.box_shade else "stroke: .6pt + gray"
                return (
                    f"block(width: 100%, inset: 8pt, {frame}, {{ set par(first-line-indent: 0pt); "
                    f"{self._blocks(block.blocks)} }})"
                )
            case Beside():
                widths = ", ".join(f"{width}fr" for width in block.widths[: len(block.sides)])
                sides = ", ".join(f"({self._blocks(side)})" for side in block.sides)
                return f"grid(columns: ({widths},), gutter: 12pt, {sides})"
            case PageBreak():
                return "pagebreak(weak: true)"
            case _:
                raise TypeError("Only HTML sets a page's own HTML.")

    def _heading_text(self, block: Heading, *, size: bool = True) -> str:
        style = self.look.heading(block.leaf.level or 1)
        words = self._leaf(block.leaf)
        if style.case == "upper":
            words = f"upper({words})"
        elif style.case == "small":
            words = f"smallcaps({words})"
        scale = f"{style.scale}em" if size else "1em"
        weight = "bold" if style.bold else "regular"
        slant = "italic" if style.italic else "normal"
        return (
            f'text(font: heads, size: {scale}, weight: "{weight}", style: "{slant}", '
            f'fill: rgb("{style.colour}"), {words})'
        )

    def _heading(self, block: Heading) -> str:
        style = self.look.heading(block.leaf.level or 1)
        words = self._heading_text(block)
        if style.align == "center":
            words = f"align(center, {words})"
        rule = " + v(-.5em) + line(length: 100%, stroke: .6pt)" if style.rule else ""
        before, after = style.before * style.scale, style.after * style.scale + 0.25
        band = f'fill: rgb("{style.band}"), inset: 3pt, ' if style.band else ""
        return (
            f"block(above: {before:.2f}em, below: {after:.2f}em, sticky: true, width: 100%, {band}"
            f"{{ set par(justify: false, first-line-indent: 0pt, leading: .4em); {words}{rule} }})"
        )

    def _noted(self, block: Paragraph) -> str:
        words = self._leaf(block.leaf)
        for note in block.footnotes:
            words += f" + footnote({self._leaf(note)})"
        return f"({words})"

    def _paragraph(self, block: Paragraph) -> str:
        words = self._noted(block)
        if block.leaf.role == "quote":
            return f"pad(x: 1.8em, y: .3em, emph({words}))"
        plain = "set par(first-line-indent: 0pt, justify: false);"
        match block.kind:
            case "author":
                return f"align(center, {{ {plain} par({words}) }})"
            case "affiliation":
                return f"align(center, {{ {plain} par(text(size: .9em, emph({words}))) }})"
            case "abstract":
                return f"pad(x: 8%, y: .5em, text(size: .92em, par({words})))"
            case "address":
                return f"block(spacing: .5em, {{ {plain} {words} }})"
            case "date":
                return f"block(above: 1.5em, below: 1em, width: 100%, align(end, {words}))"
            case "lead":
                return f"block(below: 1.2em, text(size: 1.15em, emph({words})))"
            case _:
                return f"par({words})"

    def _items(self, block: Items) -> str:
        found = []
        for item in block.items:
            words = self._leaf(item.leaf)
            inset = f"inset: (left: {item.depth * 1.5:.1f}em)"
            if self.document.language in RIGHT_TO_LEFT:
                inset = inset.replace("left", "right")
            if item.marker:
                marker = self._leaf(item.leaf, f"[#{_string(item.marker)}]")
                room = max(1.5, 0.6 * len(item.marker) + 0.5)
                body = f"grid(columns: ({room:.1f}em, 1fr), {marker}, ({words}))"
            else:
                body = f"{{ set par(hanging-indent: 1.6em); par({words}) }}"
            found.append(f"block(spacing: .55em, width: 100%, {inset}, {body})")
        return f"{{ set par(first-line-indent: 0pt); {' + '.join(found)} }}"

    # tables

    def _table(self, table: Table) -> str:
        style = self.look.table(self._tables)
        self._tables += 1
        share = ", ".join(f"{part:.2f}fr" for part in table.wide)
        columns = f"({share},)" if table.full_width or self._is_long(table) else str(table.columns)
        rows: list[list[Cell]] = [[] for _ in range(table.rows)]
        for cell in table.cells:
            rows[cell.leaf.row or 0].append(cell)
        parts = []
        heads = [self._cell(cell, style, table) for row in rows[: table.head_rows] for cell in row]
        if heads:
            repeat = str(style.repeats_head).lower()
            parts.append(f"table.header(repeat: {repeat}, {', '.join(heads)})")
        for number, row in enumerate(rows[table.head_rows :], table.head_rows):
            ruled = style.rules not in {"none", "vertical"} and any(c.rule_above for c in row)
            if ruled:
                line = f'{style.line}pt + rgb("{style.line_colour}")'
                parts.append(f"table.hline(y: {number}, stroke: {line})")
            parts += [self._cell(cell, style, table) for cell in row]
        parts += self._lines(style, table)
        inner = (
            f"table(columns: {columns}, stroke: {self._stroke(style)}, "
            f"fill: {self._fill(style, table)}, "
            f"inset: (x: {style.across:.1f}pt, y: {style.down + 1.2:.1f}pt), {', '.join(parts)})"
        )
        font = 'font: ("Carlito", "Lato") + fonts, ' if style.sans else ""
        inner = f"text(size: {style.scale}em, {font}{inner})"
        notes = " + ".join(
            f"block(above: .5em, below: 0pt, text(size: .8em, {self._leaf(note)}))"
            for note in table.notes
        )
        caption = ""
        if table.caption:
            words = self._leaf(table.caption)
            if style.caption_italic:
                words = f"emph({words})"
            align = "center" if style.caption_align == "center" else "start"
            caption = (
                f"block(spacing: .6em, sticky: {str(table.caption_above).lower()}, width: 100%, "
                f"align({align}, text(size: {style.caption_scale}em, {words})))"
            )
        above, below = (caption, "") if table.caption_above else ("", caption)
        parts = [part for part in (above, inner, notes, below) if part]
        return (
            "{ set par(justify: false, first-line-indent: 0pt, leading: .45em, spacing: .6em); "
            f"v({style.gap:.1f}pt, weak: true) + {' + '.join(parts)} + "
            f"v({style.gap:.1f}pt, weak: true) }}"
        )

    @staticmethod
    def _is_long(table: Table) -> bool:
        return sum(table.wide) > 40

    def _cell(self, cell: Cell, style: TableLook, table: Table) -> str:
        leaf = cell.leaf
        words = self._leaf(leaf)
        if leaf.head:
            if style.head_bold:
                words = f"strong({words})"
            if style.head_italic:
                words = f"emph({words})"
            if style.dark:
                words = f'text(fill: rgb("{style.head_colour}"), {words})'
        if cell.strong:
            words = f"strong({words})"
        if cell.indent:
            words = f"pad(left: {9 * cell.indent}pt, ({words}))"
        vertical = {"top": "top", "middle": "horizon", "bottom": "bottom"}[style.vertical]
        about = [f"align: {_ALIGN[cell.align]} + {vertical}", f"x: {leaf.column}", f"y: {leaf.row}"]
        if leaf.rowspan > 1:
            about.append(f"rowspan: {leaf.rowspan}")
        if leaf.colspan > 1:
            about.append(f"colspan: {leaf.colspan}")
        return f"table.cell({', '.join(about)}, ({words}))"

    def _stroke(self, style: TableLook) -> str:
        line = f'{style.line}pt + rgb("{style.line_colour}")'
        match style.rules:
            case "grid":
                return line
            case "inner":
                return f"(x, y) => (left: if x > 0 {{ {line} }}, top: if y > 0 {{ {line} }})"
            case "hair":
                return f"(x, y) => (bottom: {line})"
            case "vertical":
                return f"(x, y) => (left: if x > 0 {{ {line} }})"
            case "double":
                return f"(x, y) => (right: if x == 0 {{ {line} }})"
            case _:
                return "none"

    def _lines(self, style: TableLook, table: Table) -> list[str]:
        line = f'{style.line}pt + rgb("{style.line_colour}")'
        thick = f'{style.line * 1.8:.2f}pt + rgb("{style.line_colour}")'
        found = []
        if style.rules in {"three", "double", "box"}:
            edge = line if style.rules == "box" else thick
            found.append(f"table.hline(y: 0, stroke: {edge})")
            found.append(f"table.hline(y: {table.rows}, stroke: {edge}, position: top)")
        if style.rules in {"three", "double", "box", "head"} and table.head_rows:
            found.append(f"table.hline(y: {table.head_rows}, stroke: {line})")
        if style.rules == "three":
            for cell in table.cells:
                leaf = cell.leaf
                if (
                    leaf.head
                    and leaf.colspan > 1
                    and leaf.row is not None
                    and leaf.column is not None
                ):
                    found.append(
                        f"table.hline(y: {leaf.row + 1}, start: {leaf.column}, "
                        f"end: {leaf.column + leaf.colspan}, stroke: {line})"
                    )
        if style.rules == "box":
            found.append(f"table.vline(x: 0, stroke: {line})")
            found.append(f"table.vline(x: {table.columns}, stroke: {line})")
        return found

    def _fill(self, style: TableLook, table: Table) -> str:
        tint = f'rgb("{style.tint}")'
        tests = {
            "stripes": f"y >= {table.head_rows} and calc.odd(y - {table.head_rows})",
            "head": f"y < {table.head_rows}",
            "stub": "x == 0",
            "columns": "calc.odd(x)",
            "all": "true",
        }
        test = tests.get(style.shade)
        return f"(x, y) => if {test} {{ {tint} }}" if test else "none"

    # others

    def _figure(self, block: Figure) -> str:
        drawn = []
        for paint, areas in (
            ("fill: rgb(106, 140, 175)", block.bars),
            ("stroke: .6pt", block.frames),
        ):
            for left, top, width, height in areas:
                drawn.append(
                    f"place(top + left, dx: {100 * left:.1f}%, dy: {100 * top:.1f}%, "
                    f"rect(width: {100 * width:.1f}%, height: {100 * height:.1f}%, {paint}))"
                )
        for (x, y), (next_x, next_y) in pairwise(block.line):
            drawn.append(
                f"place(top + left, line(start: ({100 * x:.1f}%, {100 * y:.1f}%), "
                f"end: ({100 * next_x:.1f}%, {100 * next_y:.1f}%), stroke: .7pt))"
            )
        for label in block.labels:
            drawn.append(
                f"place(top + left, dx: {100 * label.left:.1f}%, dy: {100 * label.top:.1f}%, "
                f"box(width: {100 * label.width:.1f}%, "
                f"align({label.align}, {self._leaf(label.leaf)})))"
            )
        inside = " + ".join(drawn)
        body = (
            f"block(width: 100%, height: {block.height:.1f}em, "
            f"{{ set text(size: .75em); {inside} }})"
        )
        caption = ""
        if block.caption:
            caption = f"block(spacing: .7em, text(size: .9em, {self._leaf(block.caption)}))"
        parts = (caption, body) if block.caption_above else (body, caption)
        inner = " + ".join(part for part in parts if part)
        return (
            "block(breakable: false, width: 100%, above: 1.2em, below: 1.2em, "
            f"{{ set par(first-line-indent: 0pt, justify: false); {inner} }})"
        )

    def _form(self, block: Form) -> str:
        found = []
        for row in block.rows:
            cells = []
            for label, value in row:
                named = self._leaf(label)
                given = (
                    self._leaf(value)
                    if value
                    else "box(width: 30%, stroke: (bottom: .4pt), height: .8em)"
                )
                if block.boxed:
                    given = given if value else "[]"
                    cells.append(
                        f"rect(width: 100%, stroke: .5pt, inset: 3pt, text(size: "
                        f".8em, {named}) + linebreak() + {given})"
                    )
                else:
                    between = "linebreak()" if block.stacked else "h(.5em)"
                    cells.append(f"(strong({named}) + {between} + {given})")
            columns = ", ".join(["1fr"] * len(cells))
            gutter = "0pt" if block.boxed else "8pt"
            found.append(
                f"block(spacing: {'0pt' if block.boxed else '.6em'}, width: 100%, "
                f"grid(columns: ({columns},), gutter: {gutter}, {', '.join(cells)}))"
            )
        return f"{{ set par(first-line-indent: 0pt, justify: false); {' + '.join(found)} }}"

    def _contents(self, block: Contents) -> str:
        dotted = int(self.look.size * 7) % 2
        found = []
        for leaf, page in block.entries:
            title = leaf.text[: -len(page) - 1]
            fill = "repeat[.#h(.3em)]" if dotted else "h(1fr)"
            filler = f"box(width: 1fr, {fill})" if dotted else fill
            body = f"[#{_string(title + ' ')}] + {filler} + [#{_string(' ' + page)}]"
            indent = 1.4 * ((leaf.level or 1) - 1)
            found.append(
                f"block(spacing: .6em, width: 100%, inset: (left: "
                f"{indent:.1f}em), {self._leaf(leaf, body)})"
            )
        return f"{{ set par(first-line-indent: 0pt, justify: false); {' + '.join(found)} }}"
