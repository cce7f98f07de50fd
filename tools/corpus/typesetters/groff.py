"""groff: its own requests, and tbl for tables, as manuals and reports were set with."""

import random
import subprocess
from collections.abc import Iterator
from dataclasses import replace

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
from corpus.looks import Look

_FONTS = {"Times": "T", "Helvetica": "H"}
"""Those that every viewer has: of the others, groff wants files that Debian keeps elsewhere."""
_STYLES = {"bold": "\\f[B]{}\\f[]", "italic": "\\f[I]{}\\f[]", "code": "\\f[CR]{}\\f[]"}
_STYLES |= {"sup": "\\u\\s-3{}\\s+3\\d", "sub": "\\d\\s-3{}\\s+3\\u"}
_TURNED = {"−": "-", "•": "\\[bu]", "✓": "x", "▪": "\\[bu]", "◦": "o", "№": "No.", "\u00a0": " "}


def fitted(look: Look, rng: random.Random) -> Look:
    return replace(look, serif=rng.choice(list(_FONTS)), columns=1)


def set_both(document: Document, look: Look) -> tuple[bytes, bytes]:
    """Return the PDF and its twin."""
    return _pdf(document, look, twin=False), _pdf(document, look, twin=True)


def _pdf(document: Document, look: Look, *, twin: bool) -> bytes:
    source = "\n".join(Source(document, look, twin=twin).lines()) + "\n"
    width, height = look.page
    command = ["groff", "-k", "-t", "-Tpdf", f"-P-p{width / 72:.2f}i,{height / 72:.2f}i"]
    done = subprocess.run(command, input=source.encode(), capture_output=True, timeout=60)
    return done.stdout


def _escaped(text: str) -> str:
    text = "".join(_TURNED.get(ch, ch) for ch in text.replace("\\", "/"))
    return "".join(ch for ch in text if ord(ch) < 0x180 or ch.startswith("\\") or ch in "–—’“”€")


class Source:
    """Lines of requests; each leaf has a colour of its own, black on the page as it is."""

    def __init__(self, document: Document, look: Look, *, twin: bool) -> None:
        self.document, self.look, self.twin = document, look, twin
        self._tables = 0

    def lines(self) -> Iterator[str]:
        look = self.look
        width, height = look.page
        top, right, bottom, left = look.margins
        for leaf in self.document.leaves():
            red, green, blue = colour(leaf) if self.twin else (0, 0, 0)
            yield f".defcolor c{leaf.id} rgb #{red:02x}{green:02x}{blue:02x}"
        yield f".pl {height}p"
        yield f".po {left}p"
        yield f".ll {width - left - right}p"
        yield f".lt {width - left - right}p"
        yield f".fam {_FONTS.get(look.serif, 'T')}"
        yield f".ps {look.size:.1f}z"
        yield f".vs {look.size * look.leading:.1f}p"
        yield ".ad b" if look.justify else ".ad l"
        yield ".hy 4" if look.hyphens else ".nh"
        yield from self._edge("Hd", self.document.margins.head, top * 0.5, top)
        yield from self._edge("Ft", self.document.margins.foot, bottom * 0.4, None)
        yield ".wh 0 Hd"
        yield f".wh -{bottom}p Ft"
        yield from self._blocks([*self.document.front, *self.document.body])

    def _edge(
        self, name: str, places: dict[str, Leaf], down: float, end: float | None
    ) -> Iterator[str]:
        yield f".de {name}"
        yield f"'sp {down:.1f}p"
        parts = []
        for side in ("left", "center", "right"):
            leaf = places.get(side)
            words = _escaped(leaf.text).replace("'", "\\[aq]") if leaf else ""
            words = words.replace("{page}", "\\\\n%")
            parts.append(f"\\m[c{leaf.id}]{words}\\m[]" if leaf else "")
        yield f"'tl '{parts[0]}'{parts[1]}'{parts[2]}'"
        yield f"'sp |{end:.1f}p" if end else "'bp"
        yield ".."

    def _leaf(self, leaf: Leaf, body: str | None = None) -> str:
        words = self._words(leaf.runs) if body is None else body
        return f"\\&\\m[c{leaf.id}]{words}\\m[]"

    def _words(self, some: tuple[Run, ...]) -> str:
        return "".join(_STYLES.get(run.style, "{}").format(_escaped(run.text)) for run in some)

    def _blocks(self, blocks: list[Block]) -> Iterator[str]:
        for block in blocks:
            yield from self._block(block)

    def _paragraph(
        self, words: str, *, indent: float = 0, gap: float | None = None
    ) -> Iterator[str]:
        size = self.look.size
        yield ".br"
        yield f".sp {(self.look.paragraph_gap if gap is None else gap) * size:.1f}p"
        yield ".ne 2v"
        yield f".in {indent:.1f}p"
        if self.look.indent and not indent:
            yield f".ti +{size * 1.2:.1f}p"
        yield words
        yield ".br"
        yield ".in 0"

    def _block(self, block: Block) -> Iterator[str]:
        match block:
            case Heading():
                yield from self._heading(block)
            case Paragraph():
                centred = block.kind in {"author", "affiliation"}
                if centred:
                    yield ".br"
                    yield ".ce 9"
                    yield self._leaf(block.leaf)
                    yield ".ce 0"
                else:
                    indent = 24 if block.leaf.role == "quote" or block.kind == "abstract" else 0
                    yield from self._paragraph(self._leaf(block.leaf), indent=indent)
                for note in block.footnotes:
                    yield ".ps -2"
                    yield from self._paragraph(self._leaf(note), indent=10)
                    yield ".ps +2"
            case Items():
                for item in block.items:
                    depth = self.look.size * 1.6 * (item.depth + 1)
                    yield ".br"
                    yield f".in {depth:.1f}p"
                    yield f".ti -{self.look.size * 1.6:.1f}p"
                    yield f".ta {depth:.1f}p"
                    start = self._leaf(item.leaf, _escaped(item.marker)) if item.marker else ""
                    yield (
                        f"{start}\\h'|{depth:.1f}p'{self._leaf(item.leaf)}"
                        if start
                        else (self._leaf(item.leaf))
                    )
                    yield ".br"
                    yield ".in 0"
            case Table():
                yield from self._table(block)
            case Code():
                yield ".sp 4p"
                yield ".nf"
                for line in block.leaf.text.splitlines():
                    yield self._leaf(block.leaf, f"\\f[CR]\\s-1{_escaped(line)}\\s+1\\f[]")
                yield ".fi"
            case Formula():
                yield ".sp 4p"
                yield ".ce 1"
                yield self._leaf(block.leaf, _escaped(block.leaf.text))
            case Figure():
                if block.caption:
                    yield from self._paragraph(self._leaf(block.caption))
            case Form():
                for row in block.rows:
                    for label, value in row:
                        given = self._leaf(value) if value else "__________"
                        words = f"\\f[B]{self._leaf(label)}\\f[] " + (given if value else "")
                        yield from self._paragraph(words, gap=0.2)
            case Contents():
                for leaf, page in block.entries:
                    yield ".br"
                    title = _escaped(leaf.text[: -len(page) - 1])
                    yield ".ta \\n[.l]uR"
                    yield self._leaf(leaf, f"{title}\t{page}")
            case References():
                for _, leaf in block.entries:
                    yield from self._paragraph(self._leaf(leaf), gap=0.2)
            case Box():
                yield from self._blocks(block.blocks)
            case Beside():
                for side in block.sides:
                    yield from self._blocks(side)
            case PageBreak():
                yield ".bp"
            case _:
                raise TypeError("Only HTML sets a page's own HTML.")

    def _heading(self, block: Heading) -> Iterator[str]:
        style = self.look.heading(block.leaf.level or 1)
        size = self.look.size
        font = ("B" if style.bold else "") + ("I" if style.italic else "") or "R"
        yield ".br"
        yield f".sp {style.before * size:.1f}p"
        yield ".ne 4v"
        yield f".ps {size * style.scale:.1f}z"
        yield f".vs {size * style.scale * 1.2:.1f}p"
        yield ".na"
        if style.align == "center":
            yield ".ce 9"
        yield f"\\f[{font}]{self._leaf(block.leaf)}\\f[]"
        yield ".br"
        yield ".ce 0"
        yield f".ps {size:.1f}z"
        yield f".vs {size * self.look.leading:.1f}p"
        yield ".ad b" if self.look.justify else ".ad l"
        yield f".sp {style.after * size:.1f}p"

    def _table(self, table: Table) -> Iterator[str]:
        look = self.look.table(self._tables)
        self._tables += 1
        if table.caption and table.caption_above:
            yield from self._paragraph(self._leaf(table.caption))
        rows: list[dict[int, Cell]] = [{} for _ in range(table.rows)]
        for cell in table.cells:
            rows[cell.leaf.row or 0][cell.leaf.column or 0] = cell
        options = ["allbox"] if look.rules == "grid" else ["box"] if look.rules == "box" else []
        options += ["expand"] if table.full_width else []
        options += ["tab(\x01)", "nospaces"]
        yield ".sp 4p"
        yield ".TS"
        yield " ".join(options) + ";"
        bar = " | " if look.rules in {"vertical", "inner"} else " "
        total = sum(table.wide)
        room = self.look.page[0] - self.look.margins[1] - self.look.margins[3]
        formats = []
        for row in rows:
            keys = []
            for j in range(table.columns):
                held = row.get(j)
                if held is None:
                    before = any(
                        c.leaf.colspan > 1
                        and (c.leaf.column or 0) < j < (c.leaf.column or 0) + c.leaf.colspan
                        for c in row.values()
                    )
                    keys.append("s" if before else "^")
                    continue
                key = {"center": "c", "right": "r", "decimal": "r"}.get(held.align, "l")
                bold = (held.leaf.head and look.head_bold) or held.strong
                keys.append(key + ("b" if bold else ""))
            formats.append(bar.join(keys))
        yield "\n".join(formats) + "."
        for i, row in enumerate(rows):
            if i == 0 and look.rules in {"three", "double"}:
                yield "_"
            cells = []
            for j in range(table.columns):
                filled = row.get(j)
                if filled is None or not filled.leaf.runs:
                    cells.append("")
                elif len(filled.leaf.text) > 24:
                    width = max(60.0, room * table.wide[j] / total * 0.8)
                    words = f".na\n.ll {width:.0f}p\n.nh\n{self._leaf(filled.leaf)}"
                    cells.append(f"T{{\n{words}\nT}}")
                else:
                    cells.append(self._leaf(filled.leaf))
            yield "\x01".join(cells)
            head = i == table.head_rows - 1
            if (look.rules in {"three", "double", "head", "box"} and head) or look.rules == "hair":
                yield "_"
        if look.rules in {"three", "double"}:
            yield "_"
        yield ".TE"
        yield ".sp 4p"
        if table.caption and not table.caption_above:
            yield from self._paragraph(self._leaf(table.caption))
        for note in table.notes:
            yield from self._paragraph(self._leaf(note), gap=0.1)
