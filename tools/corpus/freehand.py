"""Pages in HTML of their own: forms, bills, clauses, contents, title pages, notes beside text …"""

import html
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from carrel.server.reading.page_model.network import Role
from corpus.document import (
    Beside,
    Block,
    Document,
    Heading,
    Leaf,
    Markup,
    Paragraph,
    Piece,
    Run,
    Style,
    Table,
    plain,
    runs,
)
from corpus.tables import Build

if TYPE_CHECKING:
    from corpus.compose import Composer

_SQUARE = '<i style="display:inline-block;width:.75em;height:.75em;border:.6pt solid #000;'
_TICK = ("☐", "☑", "☒", "□", "■", "○", "●", "❑")


def _piece(
    text: str, role: Role = "text", style: str = "", tag: str = "p", strong: Style = ""
) -> Piece:
    return Piece(Leaf(runs(text, strong), role), style, tag)


def _set(blocks: Sequence[str | Block]) -> Markup:
    return Markup(list(blocks))


class Freehand:
    """Composes them with the pieces of a composer."""

    def __init__(self, make: "Composer") -> None:
        self.make, self.maker, self.rng = make, make.maker, make.rng
        self.wide = make.columns == 1

    def document(self) -> Document:
        rng, make = self.rng, self.make
        kinds: list[tuple[Callable[[], list[Block]], float]] = [
            (self.form, 4),
            (self.bill, 2.5),
            (self.contents, 2),
            (self.clauses, 3),
            (self.title_page, 1.5),
            (self.lines, 2),
            (self.beside, 1.5),
            (self.dropped, 1),
            (self.formulas, 2),
            (self.diagrams, 2),
            (self.marked, 1.5),
            (self.gaps, 2.5),
        ]
        body: list[Block] = []
        front: list[Block] = [make.heading(1)] if rng.random() < 0.4 else []
        for kind in rng.choices([kind for kind, _ in kinds], [odds for _, odds in kinds], k=2):
            for _ in range(rng.choice((1, 1, 2))):
                body += kind()
                if rng.random() < 0.4:
                    body += make.middle(rng.randint(1, 4))
        return Document(make.language, front, body, make.margins())

    def _phrase(self, longest: int = 30) -> str:
        return self.maker.phrase(longest)

    def _head(self) -> Block:
        """Return a heading, in some letter-spaced."""
        heading = self.make.heading(self.rng.choice((2, 2, 3)))
        if self.rng.random() < 0.7:
            return heading
        level, spaced = heading.leaf.level or 2, self.rng.uniform(0.15, 0.5)
        heading.leaf.runs = runs(plain(heading.leaf.runs)[:40])
        return Piece(heading.leaf, f"letter-spacing:{spaced:.2f}em;margin:.8em 0 .4em", f"h{level}")

    # forms

    def form(self) -> list[Block]:
        rng = self.rng
        found: list[Block] = [self._head()] if rng.random() < 0.8 else []
        if rng.random() < 0.3:
            found.append(self.make.paragraph(2))
        parts = [self._blanks, self._fields, self._ticks, self._questions, self._comb, self._signed]
        for part in rng.choices(parts, (3, 3, 3, 2, 1.5, 1), k=rng.randint(2, 4)):
            found.append(part())
        return found

    def _value(self) -> str:
        rng = self.rng
        day = f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02}.{rng.randint(1950, 2026)}"
        name = f"{self.maker.word().title()} {self.maker.word().title()}"
        return rng.choice((name, day, str(rng.randint(1, 10**6)), self._phrase(24), "X", "—"))

    def _blanks(self) -> Block:
        """Return labels with underscores, dots or a drawn line; several may stand in a line."""
        rng = self.rng
        blank, room = rng.choice("__..…"), rng.randint(8, 40)
        drawn = rng.random() < 0.4
        colon = rng.choice(("", ":", ":"))
        parts: list[str | Block] = []
        for number in range(rng.randint(2, 9)):
            count = rng.choice((1, 1, 1, 2, 3)) if self.wide else 1
            parts.append(f'<div style="margin:{rng.uniform(0.3, 1):.1f}em 0">')
            for _ in range(count):
                label = (
                    (f"{number + 1}. " if rng.random() < 0.15 else "") + self._phrase(28) + colon
                )
                width = 100 / count - 3
                parts.append(f'<div style="display:inline-block;width:{width:.0f}%">')
                if drawn:
                    parts += [
                        _piece(label, "form_field", "", "span"),
                        f' <i style="display:inline-block;width:{rng.randint(20, 50)}%;'
                        'border-bottom:.5pt solid #000"></i>',
                    ]
                else:
                    line = blank * (room // count + rng.randint(0, 6))
                    parts.append(_piece(f"{label} {line}", "form_field", "", "span"))
                parts.append("</div>")
            parts.append("</div>")
        return _set(parts)

    def _fields(self) -> Block:
        """Return boxes with small labels above, below or inside, and values in some."""
        rng = self.rng
        place = rng.choice(("above", "below", "inside"))
        small = f"display:block;font-size:{rng.uniform(0.55, 0.8):.2f}em;line-height:1.1"
        filled = rng.choice((0.0, 0.4, 0.9))
        high = rng.uniform(1.3, 2.2)
        parts: list[str | Block] = []
        for _ in range(rng.randint(2, 7)):
            count = rng.choice((1, 2, 2, 3, 4)) if self.wide else rng.choice((1, 2))
            parts.append('<div style="display:flex;gap:1%;margin:.3em 0">')
            for _ in range(count):
                label = _piece(self._phrase(26), "form_field", small, "span")
                value: list[str | Block] = []
                if rng.random() < filled:
                    style = rng.choice(("", "font-family:DejaVu Sans Mono;", "color:#1a3a8b;"))
                    value = [_piece(self._value(), "form_field", style, "span")]
                box = (
                    f'<div style="height:{high:.1f}em;border:.5pt solid #333;padding:.1em .3em;'
                    'overflow:hidden">'
                )
                if place != "inside" and rng.random() < 0.4:
                    box = f'<div style="height:{high:.1f}em;border-bottom:.6pt solid #000">'
                parts.append(f'<div style="flex:{rng.uniform(1, 2.5):.1f};min-width:0">')
                if place == "inside":
                    parts += [
                        '<div style="border:.5pt solid #333;padding:.1em .3em;min-height:2.6em">',
                        label, *value, "</div>",
                    ]  # fmt: skip
                elif place == "above":
                    parts += [label, box, *value, "</div>"]
                else:
                    parts += [box, *value, "</div>", label]
                parts.append("</div>")
            parts.append("</div>")
        return _set(parts)

    def _ticks(self) -> Block:
        """Return boxes before or after their labels, below each other or in a line."""
        rng = self.rng
        drawn, after = rng.random() < 0.5, rng.random() < 0.3
        inline = rng.random() < 0.5
        sign = rng.choice(_TICK[:4])
        round_ = "border-radius:50%;" if rng.random() < 0.3 else ""
        parts: list[str | Block] = []
        for _ in range(rng.randint(1, 5)):
            if rng.random() < 0.5:
                parts.append(_piece(self._phrase(60) + ":", "form_field", "margin:.3em 0"))
            parts.append('<div style="margin:.2em 0">')
            for _ in range(rng.randint(2, 5)):
                text = rng.choice((self._phrase(18), self._phrase(40), "Yes", "No", "N/A"))
                margin = "margin-right:2em;" if inline else ""
                parts.append(
                    f'<span style="display:{"inline-block" if inline else "block"};{margin}">'
                )
                if drawn:
                    mark = f'{_SQUARE}{round_}margin:0 .5em"></i>'
                    label: list[str | Block] = [_piece(text, "form_field", "", "span"), mark]
                else:
                    one = rng.choice(_TICK) if rng.random() < 0.2 else sign
                    text = f"{text} {one}" if after else f"{one} {text}"
                    label = [_piece(text, "form_field", "", "span")]
                parts += label if after else label[::-1]
                parts.append("</span> ")
            parts.append("</div>")
        return _set(parts)

    def _questions(self) -> Block:
        """Return numbered questions; boxes or room for an answer end each."""
        rng = self.rng
        boxed = rng.random() < 0.5
        parts: list[str | Block] = []
        for number in range(1, rng.randint(4, 11)):
            text = f"{number}{rng.choice(('.', ')', ''))} {self.maker.sentences(1)[:140]}"
            parts.append('<div style="display:flex;justify-content:space-between;margin:.35em 0">')
            parts.append(_piece(text, "form_field", "flex:1;margin:0 1em 0 0"))
            if boxed:
                for name in ("Yes", "No"):
                    parts += [_piece(name, "form_field", "margin:0", "span"),
                              f'{_SQUARE}margin:.1em .8em 0 .3em"></i>']  # fmt: skip
            else:
                parts.append('<i style="width:22%;border-bottom:.5pt solid #000"></i>')
            parts.append("</div>")
        return _set(parts)

    def _comb(self) -> Block:
        """Return fields of small boxes, one a letter."""
        rng = self.rng
        parts: list[str | Block] = []
        for _ in range(rng.randint(1, 4)):
            text = (
                str(rng.randint(10**5, 10**9)) if rng.random() < 0.6 else self.maker.word().upper()
            )
            room, full = len(text) + rng.randint(0, 5), rng.random() < 0.6
            step = 1.5
            parts += [
                _piece(self._phrase(24), "form_field", "margin:.4em 0 .1em"),
                f'<div style="position:relative;height:1.5em;white-space:nowrap">'
                f"{''.join(_cell(k, step) for k in range(room))}",
            ]
            if full:
                inside = "".join(
                    f'<span style="position:absolute;left:{k * step + 0.4:.1f}em">{ch}</span>'
                    for k, ch in enumerate(text)
                )
                parts.append(Piece(Leaf(runs(text), "form_field"), "", "span", inside))
            parts.append("</div>")
        return _set(parts)

    def _signed(self) -> Block:
        """Return lines to sign on, side by side, with what they are for below."""
        rng = self.rng
        parts: list[str | Block] = ['<div style="display:flex;gap:8%;margin:2.5em 0 1em">']
        for _ in range(rng.choice((1, 2, 2, 3))):
            parts.append('<div style="flex:1;min-width:0">')
            if rng.random() < 0.25:
                parts.append(_piece(self._value(), "form_field", "margin:0"))
            parts.append('<div style="border-top:.5pt solid #000">')
            for _ in range(rng.choice((1, 1, 2))):
                parts.append(_piece(self._phrase(22), "form_field", "margin:0;font-size:.85em"))
            parts.append("</div></div>")
        parts.append("</div>")
        return _set(parts)

    # bills

    def bill(self) -> list[Block]:
        """Return two boxes side by side, items in boxed columns, and the sums."""
        rng = self.rng
        found: list[Block] = []
        if rng.random() < 0.7:
            title = rng.choice(("Invoice", "INVOICE", "Rechnung", "Facture", "Purchase order"))
            found.append(self.make.heading(1, title))
        parts: list[str | Block] = ['<div style="display:flex;gap:3%;margin:.6em 0">']
        for _ in range(2):
            edge = rng.choice(
                ("border:.6pt solid #000;", "background:#eee;", "border-top:1pt solid;", "")
            )
            parts.append(f'<div style="flex:1;min-width:0;padding:.4em .6em;{edge}">')
            parts += self._details()
            parts.append("</div>")
        found.append(_set([*parts, "</div>"]))
        table, total = self._items()
        found.append(self._ruled(table))
        if rng.random() < 0.6:
            found.append(self._sums(total))
        found += [self.make.paragraph(1) for _ in range(rng.choice((0, 1, 2)))]
        return found

    def _details(self) -> list[str | Block]:
        """Return lines of an address, or of names with their values."""
        rng = self.rng
        parts: list[str | Block] = []
        if rng.random() < 0.6:
            parts.append(_piece(self._phrase(16) + ":", "form_field", "margin:0;font-size:.8em"))
        if rng.random() < 0.5:
            for number in range(rng.randint(3, 6)):
                text = rng.choice(
                    (self._phrase(26), f"{rng.randint(1, 99999)} {self.maker.word()}")
                )
                strong: Style = "bold" if number == 0 and rng.random() < 0.5 else ""
                parts.append(_piece(text, "text", "margin:0", strong=strong))
            return parts
        apart = rng.random() < 0.5
        for _ in range(rng.randint(2, 6)):
            label, value = self._phrase(16) + rng.choice((":", "", " #")), self._value()
            width = "display:inline-block;width:45%" if apart else "margin-right:.5em"
            parts += ['<div>', _piece(label, "form_field", width, "span"), " ",
                      _piece(value, "form_field", "", "span"), "</div>"]  # fmt: skip
        return parts

    def _items(self) -> tuple[Table, float]:
        rng, total = self.rng, 0.0
        names = ["#", "Code", "Description", "Qty", "Unit", "Price", "%", "Amount"]
        kept = sorted({2, 7, *rng.sample(range(8), rng.randint(2, 6))})
        build = Build(len(kept))
        build.head([runs(names[k]) for k in kept])
        for number in range(rng.randint(1, 12)):
            count, price = rng.randint(1, 40), rng.uniform(1, 900)
            total += count * price
            text = self._phrase(50) if rng.random() < 0.7 else self.maker.sentences(1)[:130]
            code, rate = str(rng.randint(1000, 999999)), rng.choice((0, 7, 19))
            row = [str(number + 1), code, text, str(count), "pc", f"{price:,.2f}", f"{rate} %"]
            row.append(f"{count * price:,.2f}")
            build.row([runs(row[k]) for k in kept])
        if rng.random() < 0.4:
            last = [""] * (len(kept) - 2) + [rng.choice(("Total", "Subtotal", "Sum"))]
            texts = [*last, f"{total:,.2f}"]
            build.row([runs(text) for text in texts], strong=True, rule_above=True)
        return build.table(rng), total

    def _ruled(self, table: Table) -> Block:
        """Return the table ruled between its columns and around all, with room at the end."""
        rng = self.rng
        if rng.random() < 0.35:
            return table
        name = f"ruled{rng.randrange(10**6)}"
        room = rng.choice((0, 2, 6, 14))
        shade = rng.choice(
            ("", "background:#ddd!important;", "border-bottom:.8pt solid!important;")
        )
        style = (
            f"<style>#{name} table{{border:.8pt solid #000!important}}"
            f"#{name} td,#{name} th{{border:0!important;border-left:.5pt solid #000!important}}"
            f"#{name} th{{{shade}}}#{name} tr{{border:0!important}}"
            f"#{name} tbody tr:last-child td{{padding-bottom:{room}em}}</style>"
        )
        return _set([f'{style}<div id="{name}">', table, "</div>"])

    def _sums(self, total: float) -> Block:
        rng = self.rng
        build = Build(2)
        for name, part in (
            ("Subtotal", 1.0),
            ("VAT 19%", 0.19),
            ("Shipping", 0.02),
            ("Total", 1.21),
        ):
            if name in {"Subtotal", "Total"} or rng.random() < 0.6:
                build.row([runs(name), runs(f"{total * part:,.2f}")], strong=name == "Total")
        return _set(['<div style="margin-left:55%">', build.table(rng), "</div>"])

    # contents

    def contents(self) -> list[Block]:
        rng = self.rng
        kind = rng.choice(("edge", "after", "before", "none", "edge", "leader"))
        numbered, deep = rng.random() < 0.6, rng.random() < 0.7
        strong = rng.random() < 0.5
        step = rng.choice((0.0, 1.2, 2.0))
        page, first, second = 1, 0, 0
        parts: list[str | Block] = []
        for _ in range(rng.randint(8, 30)):
            below = deep and first > 0 and rng.random() < 0.65
            first, second = (first, second + 1) if below else (first + 1, 0)
            mark = f"{first}.{second}" if below else rng.choice((f"{first}", f"{first}."))
            page += rng.randint(0, 12)
            title = (f"{mark} " if numbered else "") + rng.choice(self.make.voice.titles)[:60]
            text = f"{page} {title}" if kind == "before" else f"{title} {page}"
            leaf = Leaf(runs(title if kind == "none" else text), "contents_entry", 1 + below)
            words, weight = html.escape(title), "bold" if strong and not below else "normal"
            room = rng.choice((1, 2, 4))
            inside = {
                "edge": f'{words} <span style="position:absolute;right:0;bottom:0">{page}</span>',
                "after": f'{words}<span style="margin-left:{room}em">{page}</span>',
                "before": f'<span style="display:inline-block;width:3em">{page}</span>{words}',
                "none": words,
                "leader": f'{words} <span style="white-space:nowrap">{page}</span>',
            }[kind]
            if kind == "leader":
                dots = rng.choice((". . . . . . . . .", "...............", "__________"))
                leaf.runs = runs(f"{title} {dots} {page}")
                inside = ""
            style = (
                f"position:relative;margin:0 0 .2em {step * below:.1f}em;padding-right:3em;"
                f"font-weight:{weight}"
            )
            parts.append(Piece(leaf, style, "p", inside))
        head: list[Block] = []
        if rng.random() < 0.7:
            head.append(
                self.make.heading(2, rng.choice(("Contents", "Table of contents", "Index")))
            )
        return [*head, _set(parts)]

    # running text that is no heading

    def clauses(self) -> list[Block]:
        """Return numbered clauses whose text is a paragraph; short ones are no headings."""
        rng = self.rng
        hanging, strong = rng.random() < 0.4, rng.random() < 0.3
        headed = rng.random() < 0.5
        gap = rng.uniform(0.1, 0.9)
        found: list[Block] = []
        letter = rng.choice(("({})", "{})", "{}.", "({})"))
        for first in range(1, rng.randint(3, 7)):
            if headed:
                title = f"{first}{rng.choice(('.', ''))} {self._phrase(40)}"
                found.append(Heading(Leaf(runs(title), "heading", 2)))
            else:
                found.append(self._clause(f"{first}.", 0, hanging, strong, gap))
            for second in range(1, rng.randint(1, 5)):
                found.append(self._clause(f"{first}.{second}", 1, hanging, strong, gap))
                for third in range(rng.choice((0, 0, 0, 2, 3, 4))):
                    found.append(
                        self._clause(letter.format(chr(97 + third)), 2, hanging, False, gap)
                    )
        return found

    def _clause(self, mark: str, depth: int, hanging: bool, strong: bool, gap: float) -> Block:
        rng = self.rng
        text = self.maker.sentences(rng.choice((1, 1, 2, 3)))
        if rng.random() < 0.3:
            text = self._phrase(40) + rng.choice((";", ",", ".", ":", ""))
        words = runs(text)
        if strong:
            words = (Run(self._phrase(24) + ".", "bold"), Run(" " + text))
        left = 1.6 * depth * (rng.random() < 0.95)
        indent = 2.4 if hanging else 0
        style = (
            f"margin:0 0 {gap:.2f}em {left + indent:.1f}em;text-indent:-{indent}em;"
            f"text-align:{'justify' if rng.random() < 0.5 else 'start'}"
        )
        leaf = Leaf(words, "list_item", depth + 1)
        width = f"display:inline-block;text-indent:0;min-width:{indent or 1}em"
        before = f'<span style="{width}">{mark}</span> '
        inside = before + "".join(
            f"<b>{html.escape(run.text)}</b>" if run.style else html.escape(run.text)
            for run in words
        )
        return Piece(leaf, style, "p", inside)

    def title_page(self) -> list[Block]:
        """Return centred lines of several sizes: one is the title, the others are text."""
        rng = self.rng
        room = rng.uniform(0.5, 5)
        found: list[Block] = []
        lines = rng.randint(4, 10)
        title = rng.randrange(lines)
        for number in range(lines):
            margin = f"margin:{rng.uniform(0.2, room):.1f}em 0;text-align:center;text-indent:0"
            if number == title:
                found.append(self.make.heading(1, rng.choice(self.make.voice.titles)))
                continue
            year = str(rng.randint(1960, 2026))
            text = rng.choice((self._phrase(40), self._phrase(24), f"{self.maker.word()}, {year}",
                               f"{self.maker.word()} {self.maker.word()}", "by", year))  # fmt: skip
            size = rng.choice((0.9, 1, 1, 1.1, 1.3))
            strong: Style = rng.choice(("", "", "bold", "italic"))
            found.append(_piece(text, "text", f"{margin};font-size:{size}em", strong=strong))
        if rng.random() < 0.5:
            found.append(_set(['<div class="break"></div>']))
        return found

    def lines(self) -> list[Block]:
        """Return short lines that are no items: verse, addresses, dishes, names."""
        rng = self.rng
        align = rng.choice(("left", "left", "center"))
        margin = f"text-align:{align};text-indent:0;margin:0 0 {rng.uniform(0.3, 1.2):.1f}em"
        found: list[Block] = [self._head()] if rng.random() < 0.5 else []
        for _ in range(rng.randint(2, 6)):
            texts = [self._phrase(rng.choice((20, 40))) for _ in range(rng.randint(2, 8))]
            if rng.random() < 0.5:
                inside = "<br>".join(html.escape(text) for text in texts)
                found.append(Piece(Leaf(runs(" ".join(texts)), "text"), margin, "p", inside))
            else:
                found += [_piece(text, "text", f"text-align:{align};margin:0") for text in texts]
                found.append(_piece(self._phrase(24), "text", margin))
        if rng.random() < 0.4:
            found += self._priced()
        return found

    def _priced(self) -> list[Block]:
        """Names with a number at the right edge: a table without rules."""
        build = Build(2)
        for _ in range(self.rng.randint(3, 9)):
            build.row([runs(self._phrase(30)), runs(f"{self.rng.uniform(1, 90):.2f}")])
        return [build.table(self.rng)]

    def beside(self) -> list[Block]:
        """Return small notes in a column of their own, each beside its paragraph."""
        rng = self.rng
        first = rng.random() < 0.5
        size = rng.uniform(0.7, 0.9)
        if not self.wide:
            return [self.make.paragraph(), self.make.box()]
        found: list[Block] = []
        for _ in range(rng.randint(3, 8)):
            text: list[Block] = [self.make.paragraph(5) for _ in range(rng.choice((1, 1, 2)))]
            note: list[Block] = []
            if rng.random() < 0.7:
                note = [
                    _piece(
                        self.maker.sentences(1)[:120], "aside", f"font-size:{size:.2f}em;margin:0"
                    )
                ]
            sides, widths = [text, note], (rng.uniform(2.2, 4), 1.0)
            found.append(Beside(sides[::-1], widths[::-1]) if first else Beside(sides, widths))
            if rng.random() < 0.2:
                found.append(self._head())
        return found

    def dropped(self) -> list[Block]:
        """Return a paragraph that begins with a large letter, and more text."""
        rng = self.rng
        size, high = rng.uniform(2.4, 4), rng.uniform(0.75, 0.95)
        paragraph = self.make.paragraph(6)
        text = paragraph.leaf.text
        inside = (
            f'<span style="float:left;font-size:{size:.1f}em;line-height:{high:.2f};'
            f'margin-right:.06em;{rng.choice(("", "font-weight:bold;", "color:#7a1f1f;"))}">'
            f"{html.escape(text[:1])}</span>{html.escape(text[1:])}"
        )
        start = Piece(Leaf(runs(text), "text"), "text-indent:0;margin:0 0 .5em", "p", inside)
        return [self._head(), start, *(self.make.paragraph(5) for _ in range(rng.randint(2, 5)))]

    def formulas(self) -> list[Block]:
        """Return text full of raised and lowered signs, with a formula after each piece."""
        found: list[Block] = []
        for _ in range(self.rng.randint(4, 10)):
            pieces: list[Run] = []
            for sentence in range(self.rng.randint(1, 4)):
                pieces.append(
                    Run((" " if sentence else "") + self.rng.choice(self.make.voice.sentences))
                )
                pieces += self.make.aside_in_line()
            found += [Paragraph(Leaf(tuple(pieces), "text")), self.make.formula()]
            if self.rng.random() < 0.2:
                found.append(self.make.formula())
        return found

    def diagrams(self) -> list[Block]:
        found: list[Block] = []
        for _ in range(self.rng.randint(1, 3)):
            found += [self.make.paragraph(4), self.make.figure()]
        return found

    def marked(self) -> list[Block]:
        """Return text with shaded stretches, a pen's line through it, a stamp over it."""
        rng = self.rng
        found: list[Block] = [self._head()]
        for _ in range(rng.randint(2, 5)):
            paragraph = self.make.paragraph(5)
            words = html.escape(paragraph.leaf.text).split()
            start = rng.randrange(len(words))
            end = start + rng.randint(1, 12)
            shade = rng.choice(("#ff9", "#cfc", "#ddd", "#fcd"))
            words[start] = f'<span style="background:{shade}">{words[start]}'
            words[min(end, len(words)) - 1] += "</span>"
            inside = " ".join(words)
            found.append(Piece(Leaf(runs(paragraph.leaf.text), "text"), "", "p", inside))
        over = rng.choice(("pen", "stamp", "both"))
        parts: list[str | Block] = ['<div style="position:relative;height:0">']
        if over != "stamp":
            points = " ".join(
                f"{10 + 8 * k},{50 + rng.uniform(-40, 40):.0f}" for k in range(rng.randint(3, 11))
            )
            left, up = rng.randint(0, 50), rng.randint(2, 9)
            parts.append(
                f'<svg style="position:absolute;left:{left}%;top:-{up}em;'
                'width:40%;height:5em" viewBox="0 0 100 100" preserveAspectRatio="none"><polyline '
                f'fill="none" stroke="{rng.choice(("#22c", "#c22"))}" stroke-width="1" '
                f'points="{points}"/></svg>'
            )
        if over != "pen":
            turn, left, top = rng.randint(-16, 16), rng.randint(5, 65), rng.randint(3, 8)
            parts += [
                f'<div style="position:absolute;left:{left}%;top:-{top}em;'
                f"transform:rotate({turn}deg);padding:.2em .5em;"
                f'border:1.5pt solid {rng.choice(("#a22", "#229"))}">',
                _piece(self.maker.word().upper(), "figure_label", "margin:0;font-size:1.3em"),
                _piece(
                    f"{rng.randint(1, 28)} {self.maker.word()[:4]} 2024", "figure_label", "margin:0"
                ),
                "</div>",
            ]
        return [*found, _set([*parts, "</div>"]), self.make.paragraph(3)]

    def gaps(self) -> list[Block]:
        """Return a table with room between groups of rows, or before a column."""
        rng = self.rng
        table = self.make.table()
        name = f"gaps{rng.randrange(10**6)}"
        wide, every = rng.uniform(0.8, 2.2), rng.randint(2, 6)
        rules = f"#{name} tbody tr:nth-child({every}n) td{{padding-top:{wide:.1f}em!important}}"
        if rng.random() < 0.4:
            third = f"#{name} td:nth-child(3),#{name} th:nth-child(3)"
            rules += f"{third}{{padding-left:{2 * wide:.1f}em!important}}"
        parts: list[str | Block] = [f'<style>{rules}</style><div id="{name}">', table, "</div>"]
        return [self._head(), _set(parts)] if rng.random() < 0.5 else [_set(parts)]


def _cell(number: int, step: float) -> str:
    return (
        f'<i style="position:absolute;left:{number * step:.1f}em;top:0;width:{step}em;height:1.4em;'
        'border:.5pt solid #555"></i>'
    )
