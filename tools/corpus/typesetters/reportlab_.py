"""reportlab: what programs that write PDFs by themselves set."""

import html
import io
import random
import subprocess
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import Any

from reportlab.lib import colors
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY, TA_LEFT, TA_RIGHT
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    NextPageTemplate,
    PageTemplate,
    Spacer,
)
from reportlab.platypus import PageBreak as NewPage
from reportlab.platypus import Paragraph as Text
from reportlab.platypus import Table as Grid

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
from corpus.looks import Look, TableLook

_FAMILIES = ("DejaVu Sans", "DejaVu Serif", "Liberation Sans", "Liberation Serif")
_MORE = ("Carlito", "Caladea", "Lato", "Noto Sans", "Noto Serif", "Open Sans")
_BUILT_IN = ("Helvetica", "Times")
_STYLES = {
    "bold": "<b>{}</b>",
    "italic": "<i>{}</i>",
    "code": '<font face="Courier">{}</font>',
    "sup": "<super>{}</super>",
    "sub": "<sub>{}</sub>",
}
_ALIGN = {"left": TA_LEFT, "center": TA_CENTER, "right": TA_RIGHT, "decimal": TA_RIGHT}


def fitted(look: Look, rng: random.Random) -> Look:
    return replace(look, serif=rng.choice((*_FAMILIES, *_MORE, *_BUILT_IN)))


@cache
def _family(name: str) -> str:
    """Register the four faces of a family; return the name they go by."""
    if name in _BUILT_IN:
        return name
    faces = {}
    for face in ("Regular", "Bold", "Italic", "Bold Italic"):
        pattern = f"{name}:style={face}:fontformat=TrueType"
        command = ["fc-match", "-f", "%{file}", pattern]
        path = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        faces[face] = f"{name} {face}"
        pdfmetrics.registerFont(TTFont(faces[face], path))
    pdfmetrics.registerFontFamily(name, *faces.values())
    pdfmetrics.registerFontFamily(faces["Regular"], *faces.values())
    return faces["Regular"]


def set_both(document: Document, look: Look) -> tuple[bytes, bytes]:
    """Return the PDF and its twin."""
    return Setter(document, look, twin=False).pdf(), Setter(document, look, twin=True).pdf()


class Setter:
    def __init__(self, document: Document, look: Look, *, twin: bool) -> None:
        self.document = document
        self.look = look
        self.twin = twin
        self._tables = 0
        self._font = _family(look.serif)
        if self._font == "Times":
            self._font = "Times-Roman"
        self._base = ParagraphStyle(
            "base",
            fontName=self._font,
            fontSize=look.size,
            leading=look.size * look.leading,
            alignment=TA_JUSTIFY if look.justify else TA_LEFT,
            firstLineIndent=look.size * 1.2 if look.indent else 0,
            spaceAfter=0 if look.indent else look.size * look.paragraph_gap,
            allowWidows=0,
            allowOrphans=0,
        )
        self._flat = ParagraphStyle("flat", parent=self._base, firstLineIndent=0, alignment=TA_LEFT)

    def pdf(self) -> bytes:
        look = self.look
        width, height = look.page
        top, right, bottom, left = look.margins
        room, tall = width - left - right, height - top - bottom
        frame = partial(Frame, leftPadding=0, rightPadding=0, topPadding=0, bottomPadding=0)
        each = (room - look.gutter * (look.columns - 1)) / look.columns
        front = self._blocks(self.document.front, room)
        head = sum(
            one.wrap(room, tall)[1] + one.getSpaceAfter() + one.getSpaceBefore() for one in front
        )
        head = min(head + 6, tall * 0.6) if front else 0
        columns = [left + index * (each + look.gutter) for index in range(look.columns)]
        written = io.BytesIO()
        template = BaseDocTemplate(written, pagesize=look.page, invariant=1)
        first = [frame(left, bottom + tall - head, room, head)] if front else []
        first += [frame(x, bottom, each, tall - head) for x in columns]
        template.addPageTemplates(
            [
                PageTemplate("first", first, onPage=self._margins),
                PageTemplate(
                    "later", [frame(x, bottom, each, tall) for x in columns], onPage=self._margins
                ),
            ]
        )
        body = self._blocks(self.document.body, each)
        template.build([NextPageTemplate("later"), *front, *body])
        return written.getvalue()

    # leaves

    def _leaf(self, leaf: Leaf, body: str | None = None, ink: str = "#000000") -> str:
        tint = "#{:02x}{:02x}{:02x}".format(*colour(leaf)) if self.twin else ink
        return f'<font color="{tint}">{self._words(leaf.runs) if body is None else body}</font>'

    def _words(self, some: tuple[Run, ...]) -> str:
        return "".join(_STYLES.get(run.style, "{}").format(self._escaped(run.text)) for run in some)

    def _escaped(self, text: str) -> str:
        if self.look.serif in _BUILT_IN:
            text = text.replace("−", "-").encode("cp1252", "ignore").decode("cp1252")
        return html.escape(text, quote=False)

    def _margins(self, canvas: Canvas, template: Any) -> None:
        margins = self.document.margins
        if template.page == 1 and not margins.first_page:
            return
        width, height = self.look.page
        top, right, bottom, left = self.look.margins
        size = self.look.size * self.look.running_scale
        canvas.setFont(self._font, size)
        flipped = margins.mirrored and template.page % 2 == 0
        for edge, y in ((margins.head, height - top * 0.6), (margins.foot, bottom * 0.5)):
            for place, leaf in edge.items():
                side = {"left": "right", "right": "left"}.get(place, place) if flipped else place
                text = leaf.text.replace("{page}", str(template.page))
                text = html.unescape(self._escaped(text))
                red, green, blue = colour(leaf) if self.twin else (0, 0, 0)
                canvas.setFillColorRGB(red / 255, green / 255, blue / 255)
                if side == "left":
                    canvas.drawString(left, y, text)
                elif side == "right":
                    canvas.drawRightString(width - right, y, text)
                else:
                    canvas.drawCentredString(width / 2, y, text)

    # blocks

    def _blocks(self, blocks: list[Block], room: float) -> list[Flowable]:
        found: list[Flowable] = []
        for block in blocks:
            found += self._block(block, room)
        return found

    def _style(self, name: str, **changes: Any) -> ParagraphStyle:
        return ParagraphStyle(name, parent=self._flat, **changes)

    def _block(self, block: Block, room: float) -> list[Flowable]:
        size = self.look.size
        match block:
            case Heading():
                return [self._heading(block)]
            case Paragraph():
                return self._paragraph(block)
            case Items():
                return self._items(block)
            case Table():
                return self._table(block, room)
            case Code():
                lines = [
                    self._escaped(line).replace(" ", "&nbsp;")
                    for line in block.leaf.text.splitlines()
                ]
                style = self._style(
                    "code", fontName="Courier", fontSize=size * 0.8, leading=size, spaceAfter=6
                )
                return [Text(self._leaf(block.leaf, "<br/>".join(lines)), style)]
            case Formula():
                body = self._leaf(block.leaf, self._escaped(f"{block.leaf.text}    {block.label}"))
                return [
                    Text(
                        body,
                        self._style("formula", alignment=TA_CENTER, spaceBefore=6, spaceAfter=6),
                    )
                ]
            case Figure():
                drawing = Drawing(self, block, room)
                if not block.caption:
                    return [drawing]
                caption = Text(
                    self._leaf(block.caption),
                    self._style("caption", fontSize=size * 0.9, spaceAfter=8),
                )
                return [caption, drawing] if block.caption_above else [drawing, caption]
            case Form():
                return self._form(block, room)
            case Contents():
                return self._contents(block, room)
            case References():
                style = self._style("reference", leftIndent=18, firstLineIndent=-18, spaceAfter=3)
                return [Text(self._leaf(leaf), style) for _, leaf in block.entries]
            case Box():
                look: list[tuple[Any, ...]] = [("BOX", (0, 0), (-1, -1), 0.6, colors.grey)]
                if self.look.box_shade:
                    look = [("BACKGROUND", (0, 0), (-1, -1), colors.HexColor("#eef1f4"))]
                inside = self._blocks(block.blocks, room - 14)
                return [Grid([[inside]], [room], style=look, spaceBefore=6, spaceAfter=6)]
            case Beside():
                total = sum(block.widths)
                widths = [room * width / total for width in block.widths[: len(block.sides)]]
                sides = [
                    self._blocks(side, width - 12)
                    for side, width in zip(block.sides, widths, strict=True)
                ]
                return [Grid([sides], widths, style=[("VALIGN", (0, 0), (-1, -1), "TOP")])]
            case PageBreak():
                return [NewPage()]
            case _:
                raise TypeError("Only HTML sets a page's own HTML.")

    def _heading(self, block: Heading) -> Flowable:
        style = self.look.heading(block.leaf.level or 1)
        size = self.look.size * style.scale
        words = self._leaf(block.leaf, ink=_hex(style.colour))
        words = f"<b>{words}</b>" if style.bold else words
        words = f"<i>{words}</i>" if style.italic else words
        return Text(
            words,
            self._style(
                "heading",
                fontSize=size,
                leading=size * 1.2,
                alignment=TA_CENTER if style.align == "center" else TA_LEFT,
                spaceBefore=style.before * size,
                spaceAfter=style.after * size,
                keepWithNext=1,
                backColor=style.band or None,
            ),
        )

    def _paragraph(self, block: Paragraph) -> list[Flowable]:
        size = self.look.size
        words = self._leaf(block.leaf)
        styles = {
            "author": self._style("author", alignment=TA_CENTER),
            "affiliation": self._style(
                "affiliation", alignment=TA_CENTER, fontSize=size * 0.9, spaceAfter=6
            ),
            "abstract": self._style("abstract", leftIndent=30, rightIndent=30, spaceAfter=8),
            "address": self._style("address", spaceAfter=0),
            "date": self._style("date", alignment=TA_RIGHT, spaceBefore=14, spaceAfter=10),
            "lead": self._style("lead", fontSize=size * 1.15, leading=size * 1.5, spaceAfter=10),
        }
        style = styles.get(block.kind, self._base)
        if block.leaf.role == "quote":
            words, style = (
                f"<i>{words}</i>",
                self._style("quote", leftIndent=24, rightIndent=24, spaceAfter=6),
            )
        notes = [
            Text(
                self._leaf(note),
                self._style("note", fontSize=size * 0.8, leading=size, spaceAfter=6),
            )
            for note in block.footnotes
        ]
        return [Text(words, style), *notes]

    def _items(self, block: Items) -> list[Flowable]:
        step = self.look.size * 1.5
        found: list[Flowable] = []
        for item in block.items:
            indent = step * (item.depth + 1)
            changes: dict[str, Any] = {"leftIndent": indent, "spaceAfter": 2}
            words = self._leaf(item.leaf)
            if item.marker:
                changes["bulletIndent"] = indent - step
                words = (
                    f"<bullet>{self._leaf(item.leaf, self._escaped(item.marker))}</bullet>{words}"
                )
            else:
                changes["firstLineIndent"] = -step
            found.append(Text(words, self._style("item", **changes)))
        return [*found, Spacer(1, 4)]

    # tables

    def _table(self, table: Table, room: float) -> list[Flowable]:
        look = self.look.table(self._tables)
        self._tables += 1
        cells: list[list[Any]] = [["" for _ in range(table.columns)] for _ in range(table.rows)]
        commands: list[tuple[Any, ...]] = [
            ("VALIGN", (0, 0), (-1, -1), look.vertical.upper()),
            ("LEFTPADDING", (0, 0), (-1, -1), look.across),
            ("RIGHTPADDING", (0, 0), (-1, -1), look.across),
            ("TOPPADDING", (0, 0), (-1, -1), look.down),
            ("BOTTOMPADDING", (0, 0), (-1, -1), look.down + 1),
        ]
        for cell in table.cells:
            leaf = cell.leaf
            row, column = leaf.row or 0, leaf.column or 0
            cells[row][column] = self._cell(cell, look)
            if leaf.rowspan > 1 or leaf.colspan > 1:
                end = (column + leaf.colspan - 1, row + leaf.rowspan - 1)
                commands.append(("SPAN", (column, row), end))
            if cell.rule_above and look.rules not in {"none", "vertical"}:
                commands.append(
                    ("LINEABOVE", (column, row), (column, row), look.line, colors.black)
                )
        commands += _rules(table, look) + _shades(table, look)
        widths = self._widths(table, look, room)
        repeated = table.head_rows if look.repeats_head else 0
        grid = Grid(cells, widths, style=commands, repeatRows=repeated, hAlign="LEFT")
        size = self.look.size
        found: list[Flowable] = [grid]
        if table.caption:
            words = self._leaf(table.caption)
            words = f"<i>{words}</i>" if look.caption_italic else words
            align = TA_CENTER if look.caption_align == "center" else TA_LEFT
            style = self._style(
                "caption",
                fontSize=size * look.caption_scale,
                alignment=align,
                spaceBefore=3,
                spaceAfter=3,
                keepWithNext=int(table.caption_above),
            )
            found.insert(0 if table.caption_above else 1, Text(words, style))
        small = self._style("tablenote", fontSize=size * 0.8, leading=size)
        notes = [Text(self._leaf(note), small) for note in table.notes]
        place = found.index(grid) + 1
        found[place:place] = notes
        return [Spacer(1, look.gap), *found, Spacer(1, look.gap)]

    def _widths(self, table: Table, look: TableLook, room: float) -> list[float]:
        """Return each column's width: its share, and at least that of its longest word."""
        total = sum(table.wide)
        whole = room if table.full_width or total > 25 else min(room, room * max(0.3, total / 30))
        size = self.look.size * look.scale
        least = [2 * look.across + size] * table.columns
        for cell in table.cells:
            if cell.leaf.colspan == 1 and cell.leaf.column is not None:
                for word in cell.leaf.text.split():
                    width = pdfmetrics.stringWidth(word, self._font, size) * 1.12
                    width += 2 * look.across + 9 * cell.indent
                    least[cell.leaf.column] = max(least[cell.leaf.column], width)
        whole = min(room, max(whole, sum(least)))
        shares = [whole * part / total for part in table.wide]
        free = [max(0.0, share - need) for share, need in zip(shares, least, strict=True)]
        over = max(0.0, whole - sum(least))
        return [
            need + over * part / (sum(free) or 1) for need, part in zip(least, free, strict=True)
        ]

    def _cell(self, cell: Cell, look: TableLook) -> Any:
        if not cell.leaf.runs:
            return ""
        dark = cell.leaf.head and look.dark
        words = self._leaf(cell.leaf, ink=_hex(look.head_colour) if dark else "#000000")
        if cell.strong or (cell.leaf.head and look.head_bold):
            words = f"<b>{words}</b>"
        if cell.leaf.head and look.head_italic:
            words = f"<i>{words}</i>"
        size = self.look.size * look.scale
        style = self._style(
            "cell",
            fontSize=size,
            leading=size * 1.2,
            alignment=_ALIGN[cell.align],
            leftIndent=9 * cell.indent,
            spaceAfter=0,
            splitLongWords=0,
        )
        return Text(words, style)

    # others

    def _form(self, block: Form, room: float) -> list[Flowable]:
        found: list[Flowable] = []
        for row in block.rows:
            cells = []
            for label, value in row:
                between = "<br/>" if block.boxed or block.stacked else " "
                words = f"<b>{self._leaf(label)}</b>{between}"
                words += (
                    self._leaf(value)
                    if value
                    else ""
                    if block.boxed
                    else "<u>" + "&nbsp;" * 16 + "</u>"
                )
                cells.append(Text(words, self._flat))
            look = [("GRID", (0, 0), (-1, -1), 0.5, colors.black)] if block.boxed else []
            found.append(Grid([cells], [room / len(cells)] * len(cells), style=look))
        return found

    def _contents(self, block: Contents, room: float) -> list[Flowable]:
        found: list[Flowable] = []
        for leaf, page in block.entries:
            title = Text(
                self._leaf(leaf, self._escaped(leaf.text[: -len(page) - 1])),
                self._style("entry", leftIndent=14 * ((leaf.level or 1) - 1), spaceAfter=0),
            )
            number = Text(
                self._leaf(leaf, page), self._style("number", alignment=TA_RIGHT, spaceAfter=0)
            )
            found.append(Grid([[title, number]], [room * 0.88, room * 0.12]))
        return found


def _hex(name: str) -> str:
    return "#" + "".join(ch * 2 for ch in name[1:]) if len(name) == 4 else name


def _rules(table: Table, look: TableLook) -> list[tuple[Any, ...]]:
    ink = colors.HexColor(_hex(look.line_colour))
    line, thick = look.line, look.line * 1.8
    whole = ((0, 0), (-1, -1))
    head = table.head_rows - 1
    below = [("LINEBELOW", (0, head), (-1, head), line, ink)] if table.head_rows else []
    edges = [
        ("LINEABOVE", (0, 0), (-1, 0), thick, ink),
        ("LINEBELOW", (0, -1), (-1, -1), thick, ink),
    ]
    found: dict[str, list[tuple[Any, ...]]] = {
        "grid": [("GRID", *whole, line, ink)],
        "inner": [("INNERGRID", *whole, line, ink)],
        "three": [*edges, *below],
        "double": [*edges, *below, ("LINEAFTER", (0, 0), (0, -1), line, ink)],
        "hair": [("LINEBELOW", *whole, line, ink)],
        "head": below,
        "vertical": [("LINEAFTER", (0, 0), (-2, -1), line, ink)],
        "box": [("BOX", *whole, line, ink), *below],
    }
    return found.get(look.rules, [])


def _shades(table: Table, look: TableLook) -> list[tuple[Any, ...]]:
    tint = colors.HexColor(_hex(look.tint))
    head = table.head_rows
    match look.shade:
        case "stripes":
            return [
                ("BACKGROUND", (0, row), (-1, row), tint) for row in range(head + 1, table.rows, 2)
            ]
        case "head" if head:
            return [("BACKGROUND", (0, 0), (-1, head - 1), tint)]
        case "stub":
            return [("BACKGROUND", (0, 0), (0, -1), tint)]
        case "columns":
            return [("BACKGROUND", (k, 0), (k, -1), tint) for k in range(1, table.columns, 2)]
        case "all":
            return [("BACKGROUND", (0, 0), (-1, -1), tint)]
    return []


class Drawing(Flowable):  # type: ignore[misc]
    """A figure, with its labels."""

    def __init__(self, setter: Setter, figure: Figure, room: float) -> None:
        super().__init__()
        self.setter, self.figure = setter, figure
        self.width, self.height = room, figure.height * setter.look.size

    def draw(self) -> None:
        canvas, figure, setter = self.canv, self.figure, self.setter
        canvas.setFillColorRGB(0.42, 0.55, 0.69)
        for areas, filled in ((figure.bars, 1), (figure.frames, 0)):
            for left, top, width, height in areas:
                canvas.rect(
                    left * self.width,
                    (1 - top - height) * self.height,
                    width * self.width,
                    height * self.height,
                    stroke=1 - filled,
                    fill=filled,
                )
        for (x, y), (next_x, next_y) in pairwise(figure.line):
            canvas.line(
                x * self.width,
                (1 - y) * self.height,
                next_x * self.width,
                (1 - next_y) * self.height,
            )
        size = setter.look.size * 0.7
        canvas.setFont(setter._font, size)
        for label in figure.labels:
            red, green, blue = colour(label.leaf) if setter.twin else (0, 0, 0)
            canvas.setFillColorRGB(red / 255, green / 255, blue / 255)
            text = html.unescape(setter._escaped(label.leaf.text))
            x, y = label.left * self.width, (1 - label.top) * self.height - size
            width = label.width * self.width
            if label.align == "left":
                canvas.drawString(x, y, text)
            elif label.align == "right":
                canvas.drawRightString(x + width, y, text)
            else:
                canvas.drawCentredString(x + width / 2, y, text)
