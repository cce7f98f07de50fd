"""LaTeX: pdfTeX with the packages that papers are set with."""

import random
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

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
from corpus.looks import Look, TableLook

_FONTS = {
    "lmodern": r"\usepackage{lmodern}",
    "times": r"\usepackage{mathptmx}",
    "palatino": r"\usepackage{mathpazo}",
    "bookman": r"\usepackage{bookman}",
    "century": r"\usepackage{newcent}",
    "charter": r"\usepackage{charter}",
    "helvetica": r"\usepackage[scaled=.92]{helvet}\renewcommand\familydefault{\sfdefault}",
}
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": r"\ensuremath{-}",
    "±": r"\ensuremath{\pm}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "×": r"\ensuremath{\times}",
    "→": r"\ensuremath{\to}",
    "✓": r"\ensuremath{\surd}",
    "•": r"\textbullet{}",
    "◦": r"\ensuremath{\circ}",
    "▪": r"\ensuremath{\cdot}",
    "–": "--",
    "—": "---",
    "²": r"\textsuperscript{2}",
    "№": "No.",
    "€": r"\texteuro{}",
    "\u00a0": "~",
    "…": r"\dots{}",
}
_STYLES = {
    "bold": r"\textbf{%s}",
    "italic": r"\textit{%s}",
    "code": r"\texttt{%s}",
    "sup": r"\textsuperscript{%s}",
    "sub": r"\textsubscript{%s}",
}


def fitted(look: Look, rng: random.Random) -> Look:
    """Return the look with one of LaTeX's fonts, and at most two columns."""
    return replace(look, serif=rng.choice(list(_FONTS)), columns=min(2, look.columns))


def set_both(document: Document, look: Look) -> tuple[bytes, bytes]:
    """Return the PDF and its twin."""
    return _pdf(Program(document, look, twin=False).text()), _pdf(
        Program(document, look, twin=True).text()
    )


def _pdf(source: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.tex"
        path.write_text(source, "utf-8")
        subprocess.run(
            ["pdflatex", "-interaction=batchmode", "-no-shell-escape", path.name],
            cwd=folder,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return path.with_suffix(".pdf").read_bytes()


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(ch, ch if ord(ch) < 0x250 else "?") for ch in text)


class Program:
    """The source of one document; both it and its twin colour every leaf, so both set alike."""

    def __init__(self, document: Document, look: Look, *, twin: bool) -> None:
        self.document = document
        self.look = look
        self.twin = twin
        self._tables = 0
        self._beside = 0

    def text(self) -> str:
        look = self.look
        width, height = look.page
        top, right, bottom, left = look.margins
        gap = 0 if look.indent else look.paragraph_gap * look.size
        front = self._blocks(self.document.front)
        body = self._blocks(self.document.body)
        opening = (
            f"\\twocolumn[{{\\parbox{{\\textwidth}}{{{front}}}\\vspace{{1em}}}}]"
            if look.columns == 2 and front
            else front
        )
        return "\n".join(
            [
                r"\documentclass" + ("[twocolumn]" if look.columns == 2 else "") + "{article}",
                r"\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{textcomp}",
                r"\input{glyphtounicode}\pdfgentounicode=1",
                _FONTS.get(look.serif, _FONTS["lmodern"]),
                r"\usepackage{amsmath,amssymb,array,booktabs,multirow,longtable,fancyhdr,microtype}",
                r"\usepackage[table]{xcolor}",
                f"\\usepackage[paperwidth={width}bp,paperheight={height}bp,top={top}bp,right={right}bp,"
                f"bottom={bottom}bp,left={left}bp]{{geometry}}",
                f"\\setlength\\columnsep{{{look.gutter}bp}}\\setlength\\parskip{{{gap:.1f}bp}}",
                f"\\setlength\\parindent{{{'1.2em' if look.indent else '0pt'}}}",
                r"\newcommand\leaf[2]{{\color[RGB]{#1}#2}}",
                r"\pagestyle{fancy}\fancyhf{}",
                f"\\renewcommand\\headrulewidth{{{'.4pt' if look.running_rule else '0pt'}}}",
                self._margins(),
                r"\begin{document}\sloppy\hbadness=10000\raggedbottom",
                f"\\fontsize{{{look.size:.2f}}}{{{look.size * look.leading:.2f}}}\\selectfont",
                "" if look.justify else r"\raggedright",
                opening,
                body,
                r"\end{document}",
            ]
        )

    # leaves

    def _leaf(self, leaf: Leaf, body: str | None = None, ink: str = "0,0,0") -> str:
        """Return the leaf in its colour; `ink` is the colour of the page as it is."""
        tint = ",".join(map(str, colour(leaf))) if self.twin else ink
        return f"\\leaf{{{tint}}}{{{self._words(leaf.runs) if body is None else body}}}"

    def _words(self, some: tuple[Run, ...]) -> str:
        return "".join(
            _STYLES.get(run.style, "%s").replace("%s", _escaped(run.text)) for run in some
        )

    def _margins(self) -> str:
        found = []
        margins = self.document.margins
        places = {"left": "L", "center": "C", "right": "R"}
        for command, edge in (("fancyhead", margins.head), ("fancyfoot", margins.foot)):
            for side, leaf in edge.items():
                body = None
                if leaf.role == "folio":
                    before, _, after = leaf.text.partition("{page}")
                    body = f"{_escaped(before)}\\thepage{_escaped(after)}"
                size = self.look.size * self.look.running_scale
                words = (
                    f"\\fontsize{{{size:.1f}}}{{{size * 1.2:.1f}"
                    f"}}\\selectfont{self._leaf(leaf, body)}"
                )
                found.append(f"\\{command}[{places[side]}]{{{words}}}")
        if not margins.first_page:
            found.append(r"\AtBeginDocument{\thispagestyle{empty}}")
        return "\n".join(found)

    # blocks

    def _blocks(self, blocks: list[Block]) -> str:
        found: list[str] = []
        run_in: Heading | None = None
        for block in blocks:
            if isinstance(block, Heading) and block.run_in and run_in is None:
                run_in = block
                continue
            if run_in and isinstance(block, Paragraph):
                found.append(f"\\par {self._heading_words(run_in)} {self._noted(block)}\\par")
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
                lines = [
                    _escaped(line).replace(" ", "~") or "~" for line in block.leaf.text.splitlines()
                ]
                body = "\\\\\n".join(lines)
                return (
                    f"{{\\par\\small\\ttfamily\\raggedright\\noindent "
                    f"{self._leaf(block.leaf, body)}\\par}}"
                )
            case Formula():
                assert isinstance(block.tree, Tree)
                label = f"\\tag*{{{self._leaf(block.leaf, block.label)}}}" if block.label else ""
                tint = ",".join(map(str, colour(block.leaf))) if self.twin else "0,0,0"
                return f"\\[{{\\color[RGB]{{{tint}}}{block.tree.latex()}}}{label}\\]"
            case Figure():
                return self._figure(block)
            case Form():
                return self._form(block)
            case Contents():
                return self._contents(block)
            case References():
                return "\n".join(
                    f"{{\\par\\small\\noindent\\hangindent1.8em\\hangafter1 "
                    f"{self._leaf(leaf)}\\par}}"
                    for _, leaf in block.entries
                )
            case Box():
                inner = self._blocks(block.blocks)
                framed = f"\\fbox{{\\parbox{{.94\\linewidth}}{{{inner}}}}}"
                return f"\\par\\medskip\\noindent{framed}\\par\\medskip"
            case Beside():
                total = sum(block.widths)
                self._beside += 1
                sides = [
                    f"\\begin{{minipage}}[t]{{{width / total * 0.96:.3f}\\linewidth}}"
                    f"{self._blocks(side)}\\end{{minipage}}"
                    for side, width in zip(block.sides, block.widths, strict=False)
                ]
                self._beside -= 1
                return "\\par\\medskip\\noindent " + "\\hfill ".join(sides) + "\\par\\medskip"
            case PageBreak():
                return r"\clearpage"
            case _:
                raise TypeError("Only HTML sets a page's own HTML.")

    def _heading_words(self, block: Heading) -> str:
        style = self.look.heading(block.leaf.level or 1)
        ink = (
            ",".join(str(int(style.colour[k : k + 2], 16)) for k in (1, 3, 5))
            if len(style.colour) == 7
            else "0,0,0"
        )
        words = self._leaf(block.leaf, ink=ink)
        marks = (r"\bfseries" if style.bold else "") + (r"\itshape" if style.italic else "")
        marks += r"\scshape" if style.case == "small" else ""
        return f"{{{marks} {words}}}"

    def _heading(self, block: Heading) -> str:
        style = self.look.heading(block.leaf.level or 1)
        size = style.scale * self.look.size
        centre = r"\centering" if style.align == "center" else r"\raggedright"
        return (
            f"{{\\par\\addvspace{{{style.before * size:.1f}"
            f"bp}}\\fontsize{{{size:.1f}}}{{{size * 1.2:.1f}}}"
            f"\\selectfont{centre}\\noindent {self._heading_words(block)}\\par\\nobreak"
            f"\\vspace{{{style.after * size:.1f}bp}}}}"
        )

    def _noted(self, block: Paragraph) -> str:
        notes = "".join(
            f"{{\\let\\thefootnote\\relax\\footnotetext{{{self._leaf(note)}}}}}"
            for note in block.footnotes
        )
        return self._leaf(block.leaf) + notes

    def _paragraph(self, block: Paragraph) -> str:
        words = self._noted(block)
        if block.leaf.role == "quote":
            return f"\\begin{{quote}}\\itshape {words}\\end{{quote}}"
        match block.kind:
            case "author":
                return f"{{\\par\\centering {words}\\par}}"
            case "affiliation":
                return f"{{\\par\\centering\\small\\itshape {words}\\par}}"
            case "abstract":
                return f"\\begin{{quote}}\\small {words}\\end{{quote}}"
            case "address":
                return f"{{\\par\\parskip0pt\\noindent {words}\\par}}"
            case "date":
                return f"{{\\par\\bigskip\\raggedleft {words}\\par\\bigskip}}"
            case "lead":
                return f"{{\\par\\itshape\\noindent {words}\\par\\medskip}}"
            case _:
                return f"\\par {words}\\par"

    def _items(self, block: Items) -> str:
        found = []
        for item in block.items:
            indent = 1.5 * (item.depth + 1)
            start = ""
            if item.marker:
                marker = self._leaf(item.leaf, _escaped(item.marker))
                start = f"\\hskip-1.5em\\makebox[1.5em][l]{{{marker}}}"
            else:
                start = "\\hskip-1.5em "
            found.append(
                f"{{\\par\\parindent0pt\\parskip1.5pt\\leftskip{indent:.1f}em "
                f"{start}{self._leaf(item.leaf)}\\par}}"
            )
        return "\\par\\smallskip " + "\n".join(found) + "\\par\\smallskip"

    # tables

    def _table(self, table: Table) -> str:
        style = self.look.table(self._tables)
        self._tables += 1
        narrow = self.look.columns > 1 or self._beside > 0
        total = sum(table.wide)
        fixed = table.full_width or total > 30 or narrow
        room = f"\\dimexpr\\linewidth-{2 * table.columns}\\tabcolsep-2pt\\relax"
        specification = []
        for j in range(table.columns):
            align = self._align(table, j)
            if fixed:
                way = {"right": r"\raggedleft", "center": r"\centering"}.get(align, r"\raggedright")
                share = table.wide[j] / total * 0.98
                specification.append(f">{{{way}\\arraybackslash}}p{{{share:.3f}\\dimexpr {room}}}")
            else:
                specification.append(align[0])
        bars = {"grid": "|", "vertical": "|", "inner": "|"}.get(style.rules, "")
        edge = "|" if style.rules in {"grid", "box"} else ""
        columns = edge + bars.join(specification) + edge
        rows = self._rows(table, style)
        size = style.scale * self.look.size
        environment = "tabular" if narrow or table.rows < 14 else "longtable"
        body = f"\\begin{{{environment}}}{{{columns}}}{rows}\\end{{{environment}}}"
        caption = ""
        if table.caption:
            way = r"\centering" if style.caption_align == "center" else r"\raggedright"
            slant = r"\itshape" if style.caption_italic else ""
            caption = f"{{\\par\\small{way}{slant}\\noindent {self._leaf(table.caption)}\\par}}"
        notes = "".join(
            f"{{\\par\\footnotesize\\noindent {self._leaf(note)}\\par}}" for note in table.notes
        )
        above, below = (caption, "") if table.caption_above else ("", caption)
        return (
            f"{{\\par\\addvspace{{{style.gap:.1f}bp}}\\setlength\\tabcolsep{{{style.across:.1f}bp}}"
            f"\\setlength\\arrayrulewidth{{{style.line}bp}}\\parskip0pt\\parindent0pt"
            f"\\renewcommand\\arraystretch{{{1 + style.down / 14:.2f}}}{above}"
            f"{{\\fontsize{{{size:.2f}}}{{{size * 1.2:.2f}"
            f"}}\\selectfont\\centering {body}\\par}}{notes}{below}"
            f"\\addvspace{{{style.gap:.1f}bp}}}}"
        )

    @staticmethod
    def _align(table: Table, column: int) -> str:
        for cell in table.cells:
            if cell.leaf.column == column and not cell.leaf.head and cell.leaf.colspan == 1:
                return {"decimal": "right"}.get(cell.align, cell.align)
        return "left"

    def _rows(self, table: Table, style: TableLook) -> str:
        top = {"three": r"\toprule", "double": r"\toprule", "grid": r"\hline", "box": r"\hline"}
        bottom = {**top, "three": r"\bottomrule", "double": r"\bottomrule", "hair": r"\hline"}
        middle = {"three": r"\midrule", "double": r"\midrule", "head": r"\hline", "box": r"\hline"}
        by_row: list[dict[int, Cell]] = [{} for _ in range(table.rows)]
        for cell in table.cells:
            by_row[cell.leaf.row or 0][cell.leaf.column or 0] = cell
        covered = {
            (row, cell.leaf.column)
            for cell in table.cells
            for row in range((cell.leaf.row or 0) + 1, (cell.leaf.row or 0) + cell.leaf.rowspan)
        }
        found = [top.get(style.rules, "")]
        for i, row in enumerate(by_row):
            shade = style.tint if self._is_shaded(i, table, style) else ""
            if len(shade) == 4:
                shade = "#" + "".join(ch * 2 for ch in shade[1:])
            start = f"\\rowcolor[HTML]{{{shade[1:].upper()}}}" if shade else ""
            if (
                i >= table.head_rows
                and any(c.rule_above for c in row.values())
                and bottom.get(style.rules)
            ):
                start = (r"\midrule" if style.rules in {"three", "double"} else "") + start
            cells = []
            column = 0
            while column < table.columns:
                found_cell = row.get(column)
                cells.append(self._cell(found_cell, table, style) if found_cell else "")
                column += found_cell.leaf.colspan if found_cell else 1
            found.append(start + " & ".join(cells) + r"\\")
            last = i == table.rows - 1
            if not last:
                found.append(self._between(i, table, style, covered, middle))
        found.append(bottom.get(style.rules, ""))
        return "\n".join(found)

    @staticmethod
    def _is_shaded(row: int, table: Table, style: TableLook) -> bool:
        if style.shade == "stripes":
            return row >= table.head_rows and (row - table.head_rows) % 2 == 1
        return style.shade == "all" or (style.shade == "head" and row < table.head_rows)

    def _between(
        self,
        row: int,
        table: Table,
        style: TableLook,
        covered: set[tuple[int, int | None]],
        middle: dict[str, str],
    ) -> str:
        """Return the rule below a row that is not the last."""
        if style.rules in {"grid", "hair", "inner"}:
            free = [j for j in range(table.columns) if (row + 1, j) not in covered]
            if len(free) == table.columns:
                return r"\hline"
            return "".join(f"\\cline{{{j + 1}-{j + 1}}}" for j in free)
        if row == table.head_rows - 1:
            return middle.get(style.rules, "")
        if row < table.head_rows - 1 and style.rules == "three":
            return "".join(
                f"\\cmidrule(lr){{{c.leaf.column + 1}-{c.leaf.column + c.leaf.colspan}}}"
                for c in table.cells
                if c.leaf.row == row and c.leaf.colspan > 1 and c.leaf.column is not None
            )
        return ""

    def _cell(self, cell: Cell, table: Table, style: TableLook) -> str:
        leaf = cell.leaf
        if not leaf.runs:
            return ""
        dark = leaf.head and style.dark and style.shade == "head"
        words = self._leaf(leaf, ink="255,255,255" if dark else "0,0,0")
        bold = cell.strong or (leaf.head and style.head_bold)
        if bold:
            words = f"\\bfseries {words}"
        if leaf.head and style.head_italic:
            words = f"\\itshape {words}"
        if cell.indent:
            words = f"\\hskip{cell.indent}em {words}"
        if leaf.rowspan > 1:
            words = (
                f"\\multirow[t]{{{leaf.rowspan}}}{{=}}{{{words}}}"
                if table.full_width
                else (f"\\multirow[t]{{{leaf.rowspan}}}{{*}}{{{words}}}")
            )
        if leaf.colspan > 1:
            words = f"\\multicolumn{{{leaf.colspan}}}{{{cell.align[0]}}}{{{words}}}"
        return words

    # others

    def _figure(self, block: Figure) -> str:
        width, height = 220, 10 * block.height
        drawn = []
        for left, top, wide, high in block.frames:
            drawn.append(
                f"\\put({width * left:.0f},{height * (1 - top - high):.0f})"
                f"{{\\framebox({width * wide:.0f},{height * high:.0f}){{}}}}"
            )
        for left, top, wide, high in block.bars:
            drawn.append(
                f"\\put({width * left:.0f},{height * (1 - top - high):.0f})"
                f"{{\\rule{{{width * wide:.1f}bp}}{{{height * high:.1f}bp}}}}"
            )
        for label in block.labels:
            side = {"left": "[l]", "right": "[r]"}.get(label.align, "")
            drawn.append(
                f"\\put({width * label.left:.0f},{height * (1 - label.top) - 6:.0f})"
                f"{{\\makebox({width * label.width:.0f},6){side}"
                f"{{\\tiny {self._leaf(label.leaf)}}}}}"
            )
        picture = (
            f"{{\\par\\setlength\\unitlength{{1bp}}\\centering\\begin{{picture}}({width},{height})"
            f"{''.join(drawn)}\\end{{picture}}\\par}}"
        )
        caption = (
            f"{{\\par\\small\\noindent {self._leaf(block.caption)}\\par}}" if block.caption else ""
        )
        parts = (caption, picture) if block.caption_above else (picture, caption)
        return "\\par\\medskip " + "".join(parts) + "\\par\\medskip"

    def _form(self, block: Form) -> str:
        found = []
        for row in block.rows:
            width = 0.96 / len(row)
            cells = []
            for label, value in row:
                given = self._leaf(value) if value else r"\underline{\hspace{4em}}"
                cells.append(
                    f"\\parbox[t]{{{width:.3f}"
                    f"\\linewidth}}{{\\raggedright\\textbf{{{self._leaf(label)}}} {given}}}"
                )
            found.append("\\par\\noindent " + "\\hfill ".join(cells) + "\\par\\smallskip")
        return "\n".join(found)

    def _contents(self, block: Contents) -> str:
        filler = r"\dotfill " if int(self.look.size * 7) % 2 else r"\hfill "
        found = []
        for leaf, page in block.entries:
            body = _escaped(leaf.text[: -len(page) - 1]) + filler + page
            indent = 1.4 * ((leaf.level or 1) - 1)
            found.append(
                f"{{\\par\\parskip1pt\\leftskip{indent:.1f}"
                f"em\\noindent {self._leaf(leaf, body)}\\par}}"
            )
        return "\n".join(found)
