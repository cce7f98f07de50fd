"""Receipts: narrow paper, typewriter faces, a label and its amount in each line, no rules."""

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Literal

from corpus.document import Block, Document, Leaf, Margins, Markup, Piece, Style, Table, runs
from corpus.looks import HeadingLook, Look, TableLook, random_look
from corpus.tables import Build

if TYPE_CHECKING:
    from corpus.compose import Composer

_FACES = ("DejaVu Sans Mono", "Liberation Mono", "Latin Modern Mono", "Noto Sans Mono")
_SUMS = ("Subtotal", "Zwischensumme", "VAT", "Discount", "Tip", "Rabatt", "TVA", "Cash", "BAR")
_TOTALS = ("TOTAL", "Total", "SUMME", "Total EUR", "Amount due", "IMPORTE", "Summe EUR", "BALANCE")
_PAID = ("CASH", "VISA", "Change", "Rückgeld", "CARD", "Bar EUR", "Tendered", "EC-Karte", "Espèces")
_NOTES = ("Thank you for your visit!", "VIELEN DANK", "Gracias por su compra", "Keep this receipt")


def receipt_look(rng: Random) -> Look:
    """Return narrow paper, some of it in a face whose letters differ in width."""
    face = rng.choice(_FACES) if rng.random() < 0.8 else random_look(rng).serif
    width, side = rng.uniform(150, 270), rng.uniform(6, 22)
    table = TableLook(
        "none", scale=1.0, across=rng.uniform(0, 3), down=rng.uniform(0, 1), head_bold=False, gap=2
    )
    align: Literal["left", "center"] = "center" if rng.random() < 0.7 else "left"
    return Look(
        serif=face,
        heads=face,
        size=rng.uniform(6.5, 10),
        leading=rng.uniform(1.0, 1.3),
        page=(width, rng.uniform(380, 800)),
        margins=(rng.uniform(10, 40), side, rng.uniform(10, 40), side),
        justify=False,
        hyphens=False,
        paragraph_gap=0.1,
        headings=(HeadingLook(rng.choice((1.2, 1.5, 2.0, 2.6)), align=align),) * 3,
        tables=(table,),
    )


class Receipt:
    """Composes them with the pieces of a composer."""

    def __init__(self, make: "Composer") -> None:
        self.make, self.maker, self.rng = make, make.maker, make.rng
        self.align = self.rng.choice(("center", "center", "left"))
        self.comma = self.rng.random() < 0.5
        self.mark = self.rng.choice(("", "", "", "$", "€", "EUR ", "£"))

    def document(self) -> Document:
        rng = self.rng
        parts: list[Block] = []
        if rng.random() < 0.75:
            parts.append(self.make.heading(1, self._words(18).upper()))
        parts += [self._text(self._address()) for _ in range(rng.randint(1, 5))]
        parts += self._between() + self._facts()
        parts += [*self._between(), self._goods(), *self._between()]
        if rng.random() < 0.6:
            parts += [self._taxes(), *self._between()]
        parts += self._facts()
        for _ in range(rng.randint(1, 4)):
            note = rng.choice((*_NOTES, self._words(40), self.maker.sentences(1)[:120]))
            parts.append(self._text(note, rng.choice(("", "", "bold"))))
        return Document(self.make.language, [], parts, Margins())

    def _words(self, longest: int) -> str:
        return self.maker.phrase(longest)

    def _text(self, text: str, strong: Style = "") -> Block:
        style = f"margin:0;text-indent:0;text-align:{self.align}"
        return Piece(Leaf(runs(text, strong), "text"), style)

    def _address(self) -> str:
        rng = self.rng
        digits = rng.randint(1000, 99999)
        return rng.choice((
            f"{self.maker.word()} {rng.randint(1, 200)}", f"{digits} {self.maker.word()}",
            f"Tel. {rng.randint(100, 999)}-{digits}", f"**** {self.maker.word()} ****",
            f"VAT {rng.randint(10**8, 10**9)}", self._words(24),
        ))  # fmt: skip

    def _between(self) -> list[Block]:
        """Return a line of signs, a broken rule or room."""
        rng = self.rng
        kind, width = rng.random(), rng.randint(16, 30)
        if kind < 0.35:
            return [self._text(rng.choice("-=*_") * width)]
        if kind < 0.45:
            return [Markup(['<div style="border-top:.6pt dashed #000;margin:.4em 0"></div>'])]
        return [Markup([f'<div style="height:{rng.uniform(0.2, 1.5):.1f}em"></div>'])]

    def _facts(self) -> list[Block]:
        """Return lines of dates, times and numbers, some with two in a line."""
        rng = self.rng
        found: list[Block] = []
        for _ in range(rng.randint(0, 3)):
            day = f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02}.{rng.randint(2009, 2026)}"
            time, number = f"{rng.randint(8, 21)}:{rng.randint(10, 59)}", rng.randint(10, 10**6)
            label = rng.choice(("Bon-Nr.:", "Receipt", "Table", "Kasse:", "Cashier:", "Date:"))
            text = rng.choice((f"{day} {time}", f"{label} {number}", f"{day} {label}{number}"))
            found.append(self._text(text))
        return found

    def _amount(self, value: float) -> str:
        text = f"{value:.2f}"
        return self.mark + (text.replace(".", ",") if self.comma else text)

    def _goods(self) -> Table:
        """Return the goods with their amounts, and the sums below; each line is a row."""
        rng, total = self.rng, 0.0
        counted, classed = rng.random() < 0.3, rng.random() < 0.35
        coined = rng.random() < 0.3
        """Whether the sums' currency stands in a column of its own."""
        columns = 2 + counted + classed + coined
        build = Build(columns)

        def row(label: str, amount: str, count: str = "", coin: str = "", *, bold: bool) -> None:
            texts = [count] * counted + [label] + [coin] * coined + [amount]
            texts += [rng.choice("ABE12") if amount else ""] * classed
            build.row([runs(text) for text in texts], strong=bold)

        if rng.random() < 0.35:
            head = [rng.choice(("Qty", "#"))] * counted + [rng.choice(("Item", "", "Artikel"))]
            head += [""] * coined + [rng.choice(("EUR", "Price", "Amount", "USD"))]
            build.head([runs(text) for text in head + [""] * classed])
        upper = rng.random() < 0.6
        for _ in range(rng.randint(1, 14)):
            count, price = rng.choice((1, 1, 1, 2, 3)), rng.uniform(0.2, rng.choice((5, 30, 300)))
            name = self._words(rng.choice((12, 18, 24)))
            name, total = name.upper() if upper else name, total + count * price
            amount = self._amount(count * price)
            apart = not counted and rng.random() < 0.2
            if apart and rng.random() < 0.5:
                row(name, "", bold=False)
                row(f"  {count} x {self._amount(price)}", amount, bold=False)
            else:
                row(name, amount, str(count), bold=False)
                if apart:
                    row(f"  {count} Stk x {self._amount(price)}", "", bold=False)
        coin = rng.choice(("EUR", "USD", "CHF"))
        names = rng.sample(_SUMS, rng.randint(0, 2)), [rng.choice(_TOTALS)]
        for name in [*names[0], *names[1], *rng.sample(_PAID, rng.randint(0, 2))]:
            value = total if name in names[1] else total * rng.uniform(0.05, 1.2)
            bold = name in names[1] and rng.random() < 0.6
            row(name, self._amount(value), coin=coin, bold=bold)
        table = build.table(rng)
        for cell in table.cells:
            last = cell.leaf.column == columns - 1 - classed
            cell.align = "right" if last else "left"
        return table

    def _taxes(self) -> Table:
        rng = self.rng
        columns = rng.randint(3, 4)
        build = Build(columns)
        names = ("MwSt", "Netto", "Steuer", "Brutto"), ("VAT %", "Net", "Tax", "Gross")
        build.head([runs(name) for name in rng.choice(names)[:columns]])
        for rate in rng.sample((5, 7, 10, 19, 20), rng.randint(1, 2)):
            net = rng.uniform(1, 90)
            values = (net, net * rate / 100, net * (1 + rate / 100))[: columns - 1]
            texts = [rng.choice((f"{rate}%", f"A={rate},0%")), *map(self._amount, values)]
            build.row([runs(text) for text in texts])
        table = build.table(rng)
        return replace(table, full_width=rng.random() < 0.8)
