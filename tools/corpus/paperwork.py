"""Papers of offices: invoices, forms, letters, contracts, directories, minutes."""

from typing import TYPE_CHECKING

from corpus.document import (
    Beside,
    Block,
    Document,
    Form,
    Item,
    Items,
    Leaf,
    Paragraph,
    Run,
    Style,
    Table,
    runs,
)
from corpus.tables import Build

if TYPE_CHECKING:
    from corpus.compose import Composer

Field = tuple[Leaf, Leaf | None]


class Paperwork:
    """Composes them with the pieces of a composer."""

    def __init__(self, make: "Composer") -> None:
        self.make, self.maker, self.rng = make, make.maker, make.rng

    def invoice(self) -> Document:
        rng = self.rng
        make = self.maker
        left: list[Block] = [
            Paragraph(Leaf(runs(make.word() + " " + make.word(), "bold"), "text"), "address")
        ]
        left += [
            Paragraph(Leaf(runs(text), "text"), "address")
            for text in (make.phrase(30), f"{rng.randint(1000, 99999)} {make.word()}", make.word())
        ]
        rows: list[list[tuple[Leaf, Leaf | None]]] = [
            [(Leaf(runs(name), "form_field"), Leaf(runs(value), "form_field"))]
            for name, value in (
                (
                    rng.choice(("Invoice no.", "Number", "Our ref.")),
                    f"{rng.randint(100, 99999)}-{rng.randint(10, 99)}",
                ),
                ("Date", f"{rng.randint(1, 28)}.{rng.randint(1, 12)}.{rng.randint(1999, 2026)}"),
                (make.word(), make.phrase(20)),
            )
        ]
        front: list[Block] = [Beside([left, [Form(rows)]], (3, 2))]
        title = rng.choice(("Invoice", "INVOICE", "Rechnung", "Statement", "Quotation", "Order"))
        body: list[Block] = [self.make.heading(1, title), self._goods()]
        for _ in range(rng.randint(1, 3)):
            body.append(self.make.paragraph(2))
        return Document(self.make.language, front, body, self.make.margins())

    def _goods(self) -> Table:
        rng = self.rng
        build = Build(5)
        heads = rng.choice(
            (
                ("Pos", "Description", "Qty", "Price", "Amount"),
                ("#", "Item", "Units", "Rate", "Total"),
            )
        )
        build.head([runs(text) for text in heads])
        total = 0.0
        for k in range(rng.randint(2, 14)):
            count, price = rng.randint(1, 20), rng.uniform(1, 900)
            total += count * price
            text = self.maker.phrase(40) if rng.random() < 0.7 else self.maker.sentences(1)[:120]
            texts = (str(k + 1), text, str(count), f"{price:,.2f}", f"{count * price:,.2f}")
            build.row([runs(one) for one in texts])
        rate = rng.choice((5, 7, 19, 20))
        for name, value in (
            ("Subtotal", total),
            (f"VAT {rate}%", total * rate / 100),
            ("Total", total * (1 + rate / 100)),
        ):
            texts = ("", name, "", "", f"{value:,.2f}")
            build.row(
                [runs(one) for one in texts], strong=name == "Total", rule_above=name == "Subtotal"
            )
        return build.table(rng)

    def form(self) -> Document:
        rng = self.rng
        body: list[Block] = []
        count = 0
        for _ in range(rng.randint(2, 5)):
            if rng.random() < 0.7:
                body.append(self.make.heading(2))
            if rng.random() < 0.4:
                body.append(self.make.paragraph(2))
            across = rng.choice(((1,), (2,), (1, 2, 3), (3, 4), (2, 3)))
            counted = rng.random() < 0.25
            rows = []
            for _ in range(rng.randint(2, 8)):
                row = []
                for _ in range(rng.choice(across)):
                    count += 1
                    row.append(self._field(f"{count}. " if counted else ""))
                rows.append(row)
            body.append(Form(rows, boxed=rng.random() < 0.5, stacked=rng.random() < 0.4))
            if rng.random() < 0.15:
                body.append(self.make.table())
        return Document(self.make.language, [self.make.heading(1)], body, self.make.margins())

    def _field(self, mark: str) -> Field:
        rng = self.rng
        label = mark + self.maker.phrase(24) + rng.choice(("", ":", ":"))
        day = f"{rng.randint(1, 28):02}/{rng.randint(1, 12):02}/{rng.randint(1960, 2026)}"
        choices = rng.choice(("[ ] Yes  [ ] No", "[x] Yes  [ ] No", "( ) M  ( ) F"))
        value = rng.choice(
            (None, self.maker.phrase(24), str(rng.randint(1, 99999)), self._name(), day, choices)
        )
        return Leaf(runs(label), "form_field"), Leaf(runs(value), "form_field") if value else None

    def _name(self) -> str:
        rng = self.rng
        family, given = self.maker.word().title(), self.maker.word().title()
        initial = f"{given[0]}."
        return rng.choice(
            (f"{given} {family}", f"{initial} {family}", f"{family}, {initial}", f"M. {family}")
        )

    def _address(self) -> list[Block]:
        """Return lines that begin with numbers, capitals and initials, and make no list."""
        rng, word = self.rng, self.maker.word
        number = rng.randint(1, 9999)
        lines = [
            self._name(),
            rng.choice((self.maker.phrase(30), f"{word()} {word()} Ltd.", f"A. {word()} & Co.")),
            rng.choice(
                (f"{number} {word()} St.", f"{word()} {number}", f"{number}, rue {word()}",
                 f"P.O. Box {number}", f"{number}. {word()} {word()}")
            ),
            rng.choice(
                (f"{rng.randint(10000, 99999)} {word()}", f"{word()}, CA {number:05}",
                 f"B-{number:04} {word()}")
            ),
        ]  # fmt: skip
        if rng.random() < 0.5:
            phone = f"{rng.randint(100, 999)} {rng.randint(1000, 99999)}"
            lines.append(rng.choice(("Tel. ", "T: ", "+49 ", "Fax ", "")) + phone)
        if rng.random() < 0.4:
            lines.append(f"{word().lower()}@{word().lower()}.org")
        kept = [lines[0], *(line for line in lines[1:] if rng.random() < 0.85)]
        strong: Style = rng.choice(("", "", "", "bold"))
        return [
            Paragraph(Leaf(runs(line, strong if k == 0 else ""), "text"), "address")
            for k, line in enumerate(kept)
        ]

    def letter(self) -> Document:
        """Return a letter; its head may stand beside the writer's details."""
        rng, make = self.rng, self.make
        sender = self._address()
        if rng.random() < 0.5:
            title: list[Block] = [make.heading(1, self.maker.phrase(30))]
            sides = [title, sender] if rng.random() < 0.6 else [sender, title]
            sender = [Beside(sides, (rng.uniform(1, 2.5), 1))]
        place = f"{self.maker.word()}, {rng.randint(1, 28)}/{rng.randint(1, 12)}/2024"
        body: list[Block] = []
        if rng.random() < 0.6:
            body += self._address()
        body.append(Paragraph(Leaf(runs(place), "text"), "date"))
        if rng.random() < 0.6:
            body.append(make.heading(2, self.maker.phrase(60)))
        body += [make.paragraph() for _ in range(rng.randint(3, 6))]
        if rng.random() < 0.4:
            body.insert(-2, make.table())
        if rng.random() < 0.3:
            body.insert(-1, make.items())
        body += [Paragraph(Leaf(runs(self.maker.phrase(30)), "text")), *self._address()[:2]]
        return Document(make.language, sender, body, make.margins())

    def contract(self) -> Document:
        """Return numbered clauses with their parts."""
        rng, make = self.rng, self.make
        body: list[Block] = []
        part = rng.choice(("({})", "{}.", "({})", "{})"))
        for clause in range(1, rng.randint(3, 9)):
            mark = rng.choice((f"{clause}. ", f"{clause} ", f"Article {clause}. ", f"§ {clause} "))
            body.append(make.heading(2, None if make.numbered else mark + self.maker.phrase(40)))
            if rng.random() < 0.3:
                body.append(make.paragraph(3))
            items = []
            for k in range(rng.randint(1, 6)):
                words = runs(self.maker.sentences(3))
                items.append(Item(Leaf(words, "list_item", 1), f"{clause}.{k + 1}", 0))
                for n in range(rng.choice((0, 0, 0, 2, 3))):
                    words = runs(self.maker.sentences(1))
                    items.append(Item(Leaf(words, "list_item", 2), part.format(chr(97 + n)), 1))
            body.append(Items(items))
        if rng.random() < 0.5:
            body.append(Beside([self._address()[:3], self._address()[:3]]))
        return Document(make.language, [make.heading(1)], body, make.margins())

    def directory(self) -> Document:
        """Return names and addresses, side by side or below each other."""
        rng, make = self.rng, self.make
        body: list[Block] = []
        sides = rng.choice((2, 3)) if make.columns == 1 else 1
        for _ in range(rng.randint(3, 8)):
            if rng.random() < 0.3:
                body.append(make.heading(rng.choice((2, 3))))
            if rng.random() < 0.2:
                names = ", ".join(self._name() for _ in range(rng.randint(6, 30)))
                body.append(Paragraph(Leaf(runs(names), "text")))
            if sides > 1:
                body.append(Beside([self._address() for _ in range(sides)], (1,) * sides))
            else:
                body += self._address()
                body.append(make.paragraph(1))
        if rng.random() < 0.4:
            body.append(self._roster())
        return Document(make.language, [make.heading(1)], body, make.margins())

    def _roster(self) -> Table:
        return self.maker.names(self._name)

    def minutes(self) -> Document:
        """Return speeches: a speaker's name is no heading, though it is set apart."""
        rng, make = self.rng, self.make
        strong: Style = rng.choice(("", "bold", "bold", "italic"))
        pattern = rng.choice(("{}:", "{}.", "Mr. {}:", "Q.", "The {}."))
        large = rng.random() < 0.4
        body: list[Block] = []
        if rng.random() < 0.5:
            body.append(self._roster())
        for _ in range(rng.randint(6, 20)):
            if rng.random() < 0.15:
                body.append(make.heading(rng.choice((2, 3))))
            name = pattern.format(self.maker.word())
            words = Run(" " + self.maker.sentences(4))
            body.append(
                Paragraph(Leaf((Run(name.upper() if large else name, strong), words), "text"))
            )
        return Document(make.language, [make.heading(1)], body, make.margins())
