"""Writes a document as HTML with its style sheet, plain or as its twin in colours."""

import html

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
    Markup,
    PageBreak,
    Paragraph,
    Piece,
    References,
    Table,
    colour,
)
from corpus.formulas import Tree
from corpus.looks import FONTS, Look, TableLook
from corpus.sources import RIGHT_TO_LEFT

_STYLES = {
    "bold": "b",
    "italic": "i",
    "code": "code",
    "sup": "sup",
    "sub": "sub",
    "link": "a",
}


class Page:
    """The HTML of one document; `floats_notes` where footnotes go to the foot by themselves."""

    def __init__(
        self, document: Document, look: Look, *, twin: bool, floats_notes: bool = True
    ) -> None:
        self.document = document
        self.look = look
        self.twin = twin
        self.floats_notes = floats_notes
        self._tables = 0

    def html(self) -> str:
        language = self.document.language
        direction = "rtl" if language in RIGHT_TO_LEFT else "ltr"
        front = self._blocks(self.document.front)
        body = self._blocks(self.document.body)
        return (
            f'<!doctype html><html lang="{language}" dir="{direction}"><head>'
            f'<meta charset="utf-8"><title>-</title><style>{self._style()}</style></head>'
            f'<body><div class="front">{front}</div>'
            f'<div class="columns">{body}</div></body></html>'
        )

    # leaves

    def _tint(self, leaf: Leaf) -> str:
        if not self.twin:
            return ""
        red, green, blue = colour(leaf)
        return f"color:rgb({red},{green},{blue})!important"

    def _open(self, tag: str, leaf: Leaf, kind: str = "", style: str = "", more: str = "") -> str:
        named = f' class="leaf {kind}"' if kind else ' class="leaf"'
        more += f' data-leaf="{leaf.id}"'
        styles = ";".join(filter(None, (style, self._tint(leaf))))
        return f"<{tag}{named}{more}" + (f' style="{styles}">' if styles else ">")

    def _words(self, leaf: Leaf) -> str:
        found = []
        for run in leaf.runs:
            text = html.escape(run.text, quote=False)
            tag = _STYLES.get(run.style)
            found.append(f"<{tag}>{text}</{tag}>" if tag else text)
        return "".join(found)

    def _leaf(self, tag: str, leaf: Leaf, kind: str = "", style: str = "") -> str:
        return f"{self._open(tag, leaf, kind, style)}{self._words(leaf)}</{tag}>"

    # blocks

    def _blocks(self, blocks: list[Block]) -> str:
        found = []
        run_in: Heading | None = None
        for block in blocks:
            if isinstance(block, Heading) and block.run_in and run_in is None:
                run_in = block
                continue
            if run_in and isinstance(block, Paragraph):
                level = run_in.leaf.level or 1
                start = self._leaf("span", run_in.leaf, f"runin h{level}") + " "
                found.append(f'<div class="p">{start}{self._paragraph(block, "span")}</div>')
                run_in = None
                continue
            if run_in:
                found.append(self._heading(run_in))
                run_in = None
            found.append(self._block(block))
        if run_in:
            found.append(self._heading(run_in))
        return "\n".join(found)

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
                return self._leaf("pre", block.leaf)
            case Formula():
                return self._formula(block)
            case Figure():
                return self._figure(block)
            case Form():
                return self._form(block)
            case Contents():
                return self._contents(block)
            case References():
                return "".join(self._leaf("p", leaf, "reference") for _, leaf in block.entries)
            case Box():
                kind = "box floating" if block.floating else "box"
                return f'<div class="{kind}">{self._blocks(block.blocks)}</div>'
            case Beside():
                return self._beside(block)
            case Piece():
                start = self._open(block.tag, block.leaf, "", block.style)
                return f"{start}{block.inside or self._words(block.leaf)}</{block.tag}>"
            case Markup():
                return "".join(
                    part if isinstance(part, str) else self._block(part) for part in block.parts
                )
            case PageBreak():
                return '<div class="break"></div>'

    def _heading(self, block: Heading) -> str:
        level = block.leaf.level or 1
        return self._leaf(f"h{level}", block.leaf, f"h{level}")

    def _paragraph(self, block: Paragraph, tag: str = "p") -> str:
        kind = "quote" if block.leaf.role == "quote" else block.kind
        notes = "".join(self._leaf("span", note, "note") for note in block.footnotes)
        return f"{self._open(tag, block.leaf, kind)}{self._words(block.leaf)}</{tag}>" + (
            f'<div class="notes">{notes}</div>' if notes and not self.floats_notes else notes
        )

    def _items(self, block: Items) -> str:
        found = []
        for item in block.items:
            style = f"margin-inline-start:{1.6 * (item.depth + 1):.1f}em"
            start = f'<span class="marker">{item.marker}</span> ' if item.marker else ""
            kind = "item" if item.marker else "definition"
            found.append(
                f"{self._open('p', item.leaf, kind, style)}{start}{self._words(item.leaf)}</p>"
            )
        return f'<div class="items">{"".join(found)}</div>'

    def _table(self, table: Table) -> str:
        style = self.look.table(self._tables)
        name = f"t{self._tables % len(self.look.tables)}"
        self._tables += 1
        caption = self._leaf("p", table.caption, "caption") if table.caption else ""
        rows: list[list[Cell]] = [[] for _ in range(table.rows)]
        for cell in table.cells:
            rows[cell.leaf.row or 0].append(cell)
        parts = []
        if table.head_rows:
            parts.append(
                f"<thead>"
                f"{''.join(self._row(row, style) for row in rows[: table.head_rows])}</thead>"
            )
        parts.append("<tbody>")
        for number, row in enumerate(rows[table.head_rows :]):
            parts.append(self._row(row, style, odd=number % 2 == 1))
        parts.append("</tbody>")
        total = sum(table.wide)
        columns = "".join(f'<col style="width:{100 * part / total:.1f}%">' for part in table.wide)
        whole = " full" if table.full_width else ""
        notes = "".join(self._leaf("p", note, "tablenote") for note in table.notes)
        above, below = (caption, "") if table.caption_above else ("", caption)
        span = " spanning" if table.spanning else ""
        columns = f"<colgroup>{columns}</colgroup>" if table.full_width else ""
        return (
            f'<div class="table {name}{span}">{above}<table class="{style.rules}{whole}">{columns}'
            f"{''.join(parts)}</table>{notes}{below}</div>"
        )

    def _row(self, cells: list[Cell], style: TableLook, *, odd: bool = False) -> str:
        found = []
        for cell in cells:
            leaf = cell.leaf
            more = f' rowspan="{leaf.rowspan}"' if leaf.rowspan > 1 else ""
            more += f' colspan="{leaf.colspan}"' if leaf.colspan > 1 else ""
            align = {"left": "start", "right": "end"}.get(cell.align, "center")
            look = [f"text-align:{align}"]
            if cell.indent:
                look.append(f"padding-inline-start:{style.across + 9 * cell.indent:.1f}pt")
            if cell.strong:
                look.append("font-weight:bold")
            if cell.rule_above and style.rules not in {"none", "vertical"}:
                look.append(f"border-top:{style.line}pt solid {style.line_colour}")
            kind = "first" if not leaf.column else "odd" if leaf.column % 2 else "even"
            if leaf.head and leaf.colspan > 1:
                kind += " group"
            tag = "th" if leaf.head else "td"
            found.append(
                f"{self._open(tag, leaf, kind, ';'.join(look), more)}{self._words(leaf)}</{tag}>"
            )
        return f"<tr{' class=odd' if odd else ''}>{''.join(found)}</tr>"

    def _formula(self, block: Formula) -> str:
        assert isinstance(block.tree, Tree)
        label = f'<span class="label">{block.label}</span>' if block.label else ""
        return f"{self._open('div', block.leaf, 'formula')}{label}{block.tree.html()}</div>"

    def _figure(self, block: Figure) -> str:
        caption = self._leaf("p", block.caption, "caption") if block.caption else ""
        drawn = [
            f'<i class="{kind}" style="left:{100 * left:.1f}%;top:{100 * top:.1f}%;'
            f'width:{100 * width:.1f}%;height:{100 * height:.1f}%"></i>'
            for kind, areas in (("bar", block.bars), ("frame", block.frames))
            for left, top, width, height in areas
        ]
        if block.line:
            points = " ".join(f"{100 * x:.1f},{100 * y:.1f}" for x, y in block.line)
            drawn.append(
                '<svg viewBox="0 0 100 100" preserveAspectRatio="none"><polyline fill="none" '
                f'stroke="#345" stroke-width="0.6" points="{points}"/></svg>'
            )
        labels = [
            self._leaf(
                "span",
                label.leaf,
                "figurelabel",
                f"left:{100 * label.left:.1f}%;width:{100 * label.width:.1f}%;"
                f"top:{100 * label.top:.1f}%;text-align:{label.align}",
            )
            for label in block.labels
        ]
        inside = "".join(drawn + labels)
        above, below = (caption, "") if block.caption_above else ("", caption)
        return (
            f'<div class="figure">{above}<div class="drawing" style="height:{block.height:.1f}em" '
            f'dir="ltr">{inside}</div>{below}</div>'
        )

    def _form(self, block: Form) -> str:
        found = []
        for row in block.rows:
            width = 100 / len(row) - 1.2
            cells = []
            for label, value in row:
                inside = self._leaf("span", label, "label")
                inside += (
                    " " + self._leaf("span", value, "value") if value else ' <i class="blank"></i>'
                )
                cells.append(f'<div style="width:{width:.1f}%">{inside}</div>')
            found.append(f'<div class="fields">{"".join(cells)}</div>')
        kind = " boxed" * block.boxed + " stacked" * block.stacked
        return f'<div class="form{kind}">{"".join(found)}</div>'

    def _contents(self, block: Contents) -> str:
        found = []
        for leaf, page in block.entries:
            title = html.escape(leaf.text[: -len(page) - 1], quote=False)
            style = f"margin-inline-start:{1.4 * ((leaf.level or 1) - 1):.1f}em"
            start = self._open("p", leaf, "entry", style)
            found.append(f'{start}{title} <span class="pageno">{page}</span></p>')
        return f'<div class="contents">{"".join(found)}</div>'

    def _beside(self, block: Beside) -> str:
        total = sum(block.widths)
        found = []
        for blocks, width in zip(block.sides, block.widths, strict=False):
            share = 100 * width / total - 2
            found.append(
                f'<div class="side" style="width:{share:.1f}%">{self._blocks(blocks)}</div>'
            )
        return f'<div class="beside">{"".join(found)}</div>'

    # style

    def _style(self) -> str:
        look = self.look
        families = ", ".join(
            f"'{name}'"
            for name in (look.serif, *FONTS.fallback.get(self.document.language, ()), "Noto Sans")
        )
        heads = f"'{look.heads}', {families}"
        width, height = look.page
        top, right, bottom, left = look.margins
        gap = "0" if look.indent else f"{look.paragraph_gap:.2f}em"
        justify = look.justify and self.document.language not in RIGHT_TO_LEFT
        dotted = hash(look.size + look.leading) % 2
        rules = [
            f"@page{{size:{width}pt {height}pt;margin:{top:.1f}pt {right:.1f}pt {bottom:.1f}pt "
            f"{left:.1f}pt;{self._boxes(mirrored=False)}}}",
            self._page_exceptions(),
            f"body{{margin:0;font:{look.size:.2f}pt/{look.leading:.2f} {families};"
            f"letter-spacing:{look.spacing}pt;overflow-wrap:break-word}}",
            ".leaf *{color:inherit!important}" if self.twin else "a{color:#1a3a8b}",
            f".columns{{column-count:{look.columns};column-gap:{look.gutter:.1f}pt;column-fill:auto;"
            + ("column-rule:0.4pt solid #777}" if look.column_rule else "}"),
            ".front{margin-bottom:1em}.spanning{column-span:all}",
            f"p,.p{{margin:0 0 {gap};orphans:2;widows:2}}",
            f"p.body,p.quote{{text-align:{'justify' if justify else 'start'};"
            f"hyphens:{'auto' if look.hyphens else 'manual'}}}",
            "p.body+p.body{text-indent:1.2em}" if look.indent else "",
            "p.lead{font-size:1.15em;font-style:italic;margin-bottom:1em}",
            "p.author{text-align:center;margin:.2em 0}"
            "p.affiliation{text-align:center;font-style:italic;"
            "font-size:.9em;margin-bottom:.8em}p.abstract{margin:.4em 8% 1em;font-size:.92em}",
            "p.address{margin:0}p.date{margin:1.5em 0 1em;text-align:end}",
            ".quote{margin:.6em 2em!important;font-style:italic}",
            "code,pre{font-family:'DejaVu Sans Mono';font-size:.82em}",
            "pre{margin:.6em 0;padding:.4em;white-space:pre-wrap;"
            + ("background:#f2f2f2}" if look.box_shade else "border:.4pt solid #999}"),
            "sup,sub{font-size:.68em;line-height:0}",
            ".items{margin:.4em 0}.item{text-indent:-1.5em;margin-bottom:.15em}"
            ".marker{display:inline-block;text-indent:0;min-width:1.2em;margin-right:.1em}"
            ".definition{text-indent:-1.6em;margin-bottom:.3em}",
            ".box{border:.6pt solid #666;padding:.6em .8em;margin:.8em 0;"
            + ("background:#eef1f4;border:0}" if look.box_shade else "}"),
            ".floating{float:right;width:46%;margin-left:1em}" if look.columns == 1 else "",
            ".beside{margin:.6em 0}.side{display:inline-block;"
            "vertical-align:top;margin-right:1.6%}",
            ".formula{margin:.8em 0;text-align:center;font-family:'TeX Gyre Termes','DejaVu Serif';"
            "direction:ltr}"
            ".formula .label{float:right}.fraction{display:inline-block;vertical-align:middle;"
            "text-align:center;line-height:1.15}.fraction>span{display:block;padding:0 .2em}"
            ".fraction>span:first-child{border-bottom:.5pt solid}.root{border-top:.5pt solid}"
            ".big{font-size:1.5em}",
            ".figure{margin:1em 0}.drawing{position:relative}"
            ".drawing>*{position:absolute;font-style:normal}.figurelabel{font-size:.75em;"
            "line-height:1.1}"
            ".bar{background:#6a8caf}.frame{border:.6pt solid #333}"
            ".drawing svg{left:0;top:0;width:100%;height:100%}",
            ".form{margin:.6em 0}.fields>div{display:inline-block;"
            "vertical-align:top;padding:.2em .3em;"
            "box-sizing:border-box}.form .label{font-weight:bold;margin-right:.4em}"
            ".boxed .fields>div{border:.5pt solid #555;"
            "min-height:2.6em}.boxed .label{display:block;"
            "font-weight:normal;font-size:.8em}.stacked .label{display:block}"
            ".blank{display:inline-block;width:30%;border-bottom:.4pt solid #000;height:.8em}"
            ".boxed .blank{border:0}",
            ".reference{padding-inline-start:1.8em;"
            "text-indent:-1.8em;font-size:.92em;margin:0 0 .3em}",
            ".entry{margin-bottom:.2em;text-align:start}"
            + (
                ".pageno::before{content:leader('.')}"
                if self.floats_notes and dotted
                else ".entry{padding-inline-end:3em;position:relative}.pageno{position:absolute;"
                "inset-inline-end:0}"
                if not self.floats_notes
                else ".pageno::before{content:leader(' ')}"
            ),
            ".note{float:footnote;font-size:.8em;text-indent:0;text-align:start;font-weight:normal;"
            "font-style:normal;font-variant:normal}"
            "::footnote-call{content:''}::footnote-marker{content:''}"
            if self.floats_notes
            else ".notes{font-size:.8em;margin:.3em 0 .8em;border-top:.4pt solid #000;width:60%}",
            ".tablenote{font-size:.8em;margin:.2em 0}.break{break-before:page}",
            f"h1,h2,h3,h4,.runin{{font-family:{heads};line-height:1.2;break-after:avoid;margin:0}}",
        ]
        for level in range(1, 5):
            rules.append(self._heading_style(level))
        for index, table in enumerate(look.tables):
            rules.append(self._table_style(f".t{index}", table))
        return "\n".join(rules)

    def _heading_style(self, level: int) -> str:
        style = self.look.heading(level)
        case = {
            "upper": "text-transform:uppercase;letter-spacing:.04em;",
            "small": "font-variant:small-caps;",
        }
        block = (
            f"font-size:{style.scale}em;"
            f"text-align:{'center' if style.align == 'center' else 'start'};"
            f"margin:{style.before}em 0 {style.after}em;"
            + ("border-bottom:.6pt solid #000;" if style.rule else "")
            + (f"background:{style.band};padding:.15em .3em;" if style.band else "")
        )
        common = (
            f"font-weight:{'bold' if style.bold else 'normal'};"
            f"font-style:{'italic' if style.italic else 'normal'};color:{style.colour};"
            + case.get(style.case, "")
        )
        return f"h{level}.h{level}{{{block}{common}}}.runin.h{level}{{{common}}}"

    def _table_style(self, name: str, style: TableLook) -> str:
        line = f"{style.line}pt solid {style.line_colour}"
        thick = f"{style.line * 1.8:.2f}pt solid {style.line_colour}"
        rules = [
            f"{name}{{margin:{style.gap:.1f}pt 0;break-inside:auto}}",
            f"{name} table{{border-collapse:collapse;font-size:{style.scale}em;line-height:1.2;"
            f"text-align:start;{'font-family:Carlito, Lato, sans-serif;' if style.sans else ''}}}",
            f"{name} .full{{width:100%;table-layout:auto}}",
            f"{name} th,{name} td{{padding:{style.down:.1f}pt {style.across:.1f}pt;"
            f"vertical-align:{style.vertical};text-indent:0;font-weight:normal}}",
            f"{name} th{{font-weight:{'bold' if style.head_bold else 'normal'};"
            f"font-style:{'italic' if style.head_italic else 'normal'}}}",
            f"{name} tr{{break-inside:avoid}}",
            "" if style.repeats_head else f"{name} thead{{display:table-row-group}}",
            f"{name} .caption{{font-size:{style.caption_scale}em;text-align:"
            f"{'center' if style.caption_align == 'center' else 'start'};margin:.3em 0;"
            f"break-after:avoid;{'font-style:italic' if style.caption_italic else ''}}}",
        ]
        lines = {
            "grid": f"{name} th,{name} td{{border:{line}}}",
            "inner": f"{name} td+td,{name} th+th{{border-left:{line}}}"
            f"{name} tr+tr td,{name} tbody td{{border-top:{line}}}",
            "three": f"{name} table{{border-top:{thick};border-bottom:{thick}}}"
            f"{name} thead tr:last-child th{{border-bottom:{line}}}"
            f"{name} .group{{border-bottom:{line}}}",
            "double": f"{name} table{{border-top:{thick};border-bottom:{thick}}}{name} thead{{"
            f"border-bottom:{line}}}{name} tr td.first,{name} tr th.first{{border-right:{line}}}",
            "hair": f"{name} tr{{border-bottom:{line}}}",
            "head": f"{name} thead{{border-bottom:{line}}}",
            "none": "",
            "vertical": f"{name} td+td,{name} th+th{{border-left:{line}}}",
            "box": f"{name} table{{border:{line}}}{name} thead{{border-bottom:{line}}}",
        }
        shades = {
            "none": "",
            "stripes": f"{name} tr.odd td{{background:{style.tint}}}",
            "head": f"{name} th{{background:{style.tint};"
            + (f"color:{style.head_colour}}}" if style.dark else "}"),
            "stub": f"{name} .first{{background:{style.tint}}}",
            "columns": f"{name} .odd.leaf{{background:{style.tint}}}",
            "all": f"{name} table{{background:{style.tint}}}",
        }
        return "".join(rules) + lines[style.rules] + shades[style.shade]

    def _boxes(self, *, mirrored: bool) -> str:
        found = []
        for place, edge in (
            (self.document.margins.head, "top"),
            (self.document.margins.foot, "bottom"),
        ):
            for side, leaf in place.items():
                where = {"left": "right", "right": "left"}.get(side, side) if mirrored else side
                text = leaf.text
                if leaf.role == "folio":
                    before, _, after = text.partition("{page}")
                    content = f"'{_quoted(before)}' counter(page) '{_quoted(after)}'"
                else:
                    content = f"'{_quoted(text)}'"
                rule = (
                    "border-bottom:.4pt solid #000;"
                    if self.look.running_rule and edge == "top"
                    else ""
                )
                found.append(
                    f"@{edge}-{where}{{content:{content};font-size:"
                    f"{self.look.size * self.look.running_scale:.1f}pt;{rule}{self._tint(leaf)}}}"
                )
        return "".join(found)

    def _page_exceptions(self) -> str:
        found = ""
        places = [
            f"{edge}-{side}" for edge in ("top", "bottom") for side in ("left", "center", "right")
        ]
        nothing = "".join(f"@{place}{{content:none;border:0}}" for place in places)
        if self.document.margins.mirrored:
            found += f"@page:left{{{nothing}{self._boxes(mirrored=True)}}}"
        if not self.document.margins.first_page:
            found += f"@page:first{{{nothing}}}"
        return found


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'").replace("<", "").replace("\n", " ")
