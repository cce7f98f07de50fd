"""Tables of every kind, from public rows and a language's phrases."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from corpus.document import Align, Cell, Leaf, Run, Runs, Table, plain, runs
from corpus.sources import UNSPACED, Library, Voice

_CURRENCIES = ("$", "€", "£", "CHF ", "¥", "USD ", "kr ")
_ACCOUNTS = [
    "Revenue",
    "Cost of sales",
    "Gross profit",
    "Distribution costs",
    "Administrative expenses",
    "Other income",
    "Operating profit",
    "Finance income",
    "Finance costs",
    "Profit before tax",
    "Income tax expense",
    "Property, plant and equipment",
    "Intangible assets",
    "Goodwill",
    "Right-of-use assets",
    "Inventories",
    "Trade and other receivables",
    "Cash and cash equivalents",
    "Share capital",
    "Share premium",
    "Retained earnings",
    "Borrowings",
    "Deferred tax liabilities",
    "Provisions",
    "Trade and other payables",
    "Depreciation and amortisation",
    "Impairment losses",
    "Dividends paid",
    "Proceeds from borrowings",
    "Interest received",
    "Lease liabilities",
    "Employee benefits",
    "Non-controlling interests",
    "Net cash from operating activities",
    "Acquisition of subsidiaries, net of cash acquired",
]
_UNITS = ("(%)", "(kg)", "(mm)", "(€)", "($m)", "in %", "[s]", "(n)", "(°C)", "(km²)", "USD '000")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


@dataclass
class Maker:
    """Makes tables in one language."""

    library: Library
    voice: Voice
    rng: random.Random

    def table(self, *, narrow: bool = False) -> Table:
        """Return a table of a kind drawn at random; a `narrow` one fits a column of a page."""
        kinds: list[tuple[Callable[[], Table], float]] = [
            (self.sheet, 5),
            (self.figures, 1.5),
            (self.wrapped, 2.5),
            (self.grouped_heads, 0.8 if narrow else 2),
            (self.statement, 2.5),
            (self.prose, 1.5 if narrow else 2.5),
            (self.pairs, 1.5),
            (self.row_groups, 1.5),
            (self.marks, 1),
            (self.counted, 1.5),
            (self.estimates, 1.2),
            (self.shares, 1.2),
            (self.square, 0.6),
            (self.months, 0.2 if narrow else 0.8),
            (self.public, 1.5),
            (self.ledger, 1.2),
            (self.counts, 0.2 if narrow else 1.6),
            (self.halves, 0.2 if narrow else 0.8),
            (self.timetable, 0.8),
        ]
        make = self.rng.choices([kind for kind, _ in kinds], [odds for _, odds in kinds])[0]
        table = make()
        if narrow and table.columns > 5:
            table = self.pairs() if self.rng.random() < 0.3 else self.statement()
        change = self.rng.random()
        if change < 0.06:
            self._title(table)
        elif change < 0.12:
            self._lead(table)
        elif change < 0.2:
            for cell in table.cells:
                if cell.leaf.head and (cell.leaf.row, cell.leaf.column) == (0, 0):
                    cell.leaf.runs = ()
        return table

    def _title(self, table: Table) -> None:
        """Put the table's title into a row of its own, over all columns."""
        for cell in table.cells:
            cell.leaf.row = (cell.leaf.row or 0) + 1
        title = runs(self.phrase(60), self.rng.choice(("", "bold")))
        align: Align = self.rng.choice(("left", "center"))
        table.cells.insert(0, _head(title, 0, 0, colspan=table.columns, align=align))
        table.rows += 1
        table.head_rows += 1

    def _lead(self, table: Table) -> None:
        """Lead the eye from the stubs to their values with dots."""
        dots = self.rng.choice((".", ". ", " ."))
        stubs = [
            cell.leaf
            for cell in table.cells
            if cell.leaf.column == 0 and not cell.leaf.head and cell.leaf.colspan == 1
        ]
        longest = max((len(leaf.text) for leaf in stubs), default=0)
        if longest < 50:
            for leaf in stubs:
                if leaf.runs:
                    leaf.runs = (*leaf.runs, Run(" " + dots * (longest + 4 - len(leaf.text))))

    # pieces

    def phrase(self, longest: int = 40) -> str:
        for _ in range(12):
            text = self.rng.choice(self.voice.phrases)
            if len(text) <= longest:
                break
        else:
            text = self.rng.choice(self.voice.words)
        if self.rng.random() < 0.7:
            text = text[:1].upper() + text[1:]
        return text

    def word(self) -> str:
        text = self.rng.choice(self.voice.words)[:18]
        return text[:1].upper() + text[1:] if self.rng.random() < 0.7 else text

    def sentences(self, most: int) -> str:
        count = self.rng.randint(1, most)
        blank = "" if self.voice.language in UNSPACED else " "
        return blank.join(self.rng.choice(self.voice.sentences) for _ in range(count))

    def numbers(self) -> Callable[[], str]:
        """Return a maker of the numbers of one column: all of one kind and size."""
        rng = self.rng
        size = rng.choice((1, 10, 100, 1_000, 10_000, 250_000, 5_000_000))
        comma = "," if self.voice.language == "en" or rng.random() < 0.3 else rng.choice(". ")
        point = "." if comma == "," else ","
        decimals = rng.choice((0, 0, 1, 1, 2)) if size < 1_000 else rng.choice((0, 0, 0, 2))
        kind = rng.choices(
            ("plain", "percent", "money", "change", "range", "year"), (8, 2, 1.5, 1, 0.6, 0.4)
        )[0]
        currency = rng.choice(_CURRENCIES)
        empty = rng.choice((0, 0, 0.05, 0.2))
        dash = rng.choice(("–", "-", "—", "", "n/a", "0"))
        brackets = rng.random() < 0.5

        def one(value: float, places: int) -> str:
            text = f"{abs(value):,.{places}f}"
            return text.translate(str.maketrans(",.", comma + point))

        def make() -> str:
            if rng.random() < empty:
                return dash
            value = rng.lognormvariate(0, 1) * size
            if kind == "percent":
                return one(rng.uniform(0, 100), rng.choice((decimals, decimals))) + "%"
            if kind == "money":
                return currency + one(value, 2 if decimals else 0)
            if kind == "change":
                sign = rng.choice(("+", "−", "-"))
                return sign + one(rng.uniform(0, 30), 1)
            if kind == "range":
                low = rng.uniform(0, size)
                return f"{one(low, decimals)}–{one(low + value, decimals)}"
            if kind == "year":
                return str(rng.randint(1950, 2026))
            text = one(value, decimals)
            if brackets and rng.random() < 0.15:
                return f"({text})"
            return text

        return make

    def heads(self, count: int) -> list[str]:
        rng = self.rng
        kind = rng.random()
        if kind < 0.3:
            year = rng.randint(1995, 2026)
            step = rng.choice((1, 1, 1, -1, 5))
            prefix = rng.choice(("", "", "", "FY", "Q1 "))
            return [f"{prefix}{year + step * k}" for k in range(count)]
        names = [self.phrase(rng.choice((8, 14, 24, 32))) for _ in range(count)]
        if kind < 0.55:
            names = [f"{name} {rng.choice(_UNITS)}" for name in names]
        return names

    # kinds

    def sheet(self) -> Table:
        sheet = self.library.sheet(self.rng)
        build = Build(len(sheet.head))
        build.head([runs(text) for text in sheet.head])
        for row in sheet.rows:
            build.row([runs(text) for text in row])
        table = build.table(self.rng)
        if self.rng.random() < 0.2:
            numeric = [j for j in range(table.columns) if build.is_numeric(j)]
            if numeric and 0 not in numeric:
                return self._with_total(build, numeric)
        return table

    def _with_total(self, build: "Build", numeric: Sequence[int]) -> Table:
        texts = [runs("")] * build.columns
        texts[0] = runs(self.rng.choice(("Total", "Sum", "Average", "All", "Σ")))
        for j in numeric:
            texts[j] = runs(build.texts(j)[-1])
        build.row(texts, strong=True, rule_above=True)
        return build.table(self.rng)

    def figures(self) -> Table:
        """Return a few narrow columns of numbers, with or without a head."""
        rng = self.rng
        columns = rng.choice((2, 2, 3, 4))
        build = Build(columns)
        if rng.random() < 0.6:
            build.head([runs(name) for name in self.heads(columns)])
        make = [self.numbers() for _ in range(columns)]
        first, step = rng.randint(1, 2000), rng.choice((1, 1, 5, 10))
        for k in range(rng.randint(3, 24)):
            texts = [one() for one in make]
            if rng.random() < 0.5:
                texts[0] = str(first + k * step)
            build.row([runs(text) for text in texts])
        return build.table(rng)

    def wrapped(self) -> Table:
        """Return rows whose stub takes several lines, and so may a head; numbers stand beside."""
        rng = self.rng
        columns = rng.choice((3, 3, 4, 5, 6))
        build = Build(columns)
        if rng.random() < 0.85:
            build.head([runs(self.phrase(rng.choice((12, 30, 50)))) for _ in range(columns)])
        words = rng.randint(0, min(2, columns - 2))
        make = [self.numbers() for _ in range(columns - 1 - words)]
        for _ in range(rng.randint(3, 12)):
            stub = self.phrase(70) if rng.random() < 0.6 else self.sentences(1)[:140]
            others = [self.phrase(60) if rng.random() < 0.8 else "" for _ in range(words)]
            build.row([runs(text) for text in (stub, *others, *(one() for one in make))])
        return build.table(rng, [rng.uniform(1.2, 3), *[rng.uniform(0.8, 1.4)] * (columns - 1)])

    def grouped_heads(self) -> Table:
        """Heads of two or three rows: groups over the columns they span."""
        rng = self.rng
        groups = rng.randint(2, 3)
        each = rng.choice((2, 2, 3))
        columns = 1 + groups * each
        build = Build(columns)
        stub_spans = rng.random() < 0.5
        build.cells.append(_head(runs(self.phrase(16)), 0, 0, rowspan=2 if stub_spans else 1))
        for group in range(groups):
            name = runs(self.phrase(22) if rng.random() < 0.7 else str(rng.randint(1990, 2026)))
            build.cells.append(_head(name, 0, 1 + group * each, colspan=each, align="center"))
        if not stub_spans:
            build.cells.append(_head(runs(""), 1, 0))
        repeated = [self.phrase(12) for _ in range(each)]
        same = rng.random() < 0.6
        for group in range(groups):
            for k in range(each):
                title = repeated[k] if same else self.phrase(12)
                build.cells.append(_head(runs(title), 1, 1 + group * each + k))
        build.rows = build.head_rows = 2
        if rng.random() < 0.25:
            letters = [""] + [f"({chr(97 + k)})" for k in range(columns - 1)]
            build.head([runs(letter) for letter in letters])
        make = [self.numbers() for _ in range(columns - 1)]
        for _ in range(rng.choice((3, 4, 5, 7, 9, 12))):
            build.row([runs(self.phrase(34)), *(runs(one()) for one in make)])
        return build.table(rng)

    def statement(self) -> Table:
        """Return accounts: indented stubs, names of groups, totals, brackets for what is lost."""
        rng = self.rng
        columns = rng.choice((2, 3, 3, 4))
        notes = columns > 2 and rng.random() < 0.35
        build = Build(columns)
        if rng.random() < 0.9:
            values = self.heads(columns - 1 - notes)
            stub = rng.choice(("", "", self.phrase(20), rng.choice(_UNITS)))
            build.head([runs(stub), *(runs(t) for t in (["Note"] if notes else []) + values)])
            if rng.random() < 0.3:
                unit = rng.choice(("£m", "€'000", "$", "%", "USD million"))
                build.head(
                    [runs(""), *([runs("")] if notes else []), *([runs(unit)] * len(values))]
                )
        make = self.numbers()
        spanning = rng.random() < 0.5
        for _ in range(rng.choice((1, 2, 2, 3))):
            grouped = rng.random() < 0.7
            if grouped:
                build.group(runs(self._account()), spanning=spanning)
            for _ in range(rng.randint(2, 6)):
                marks = [str(rng.randint(1, 32)) if rng.random() < 0.7 else ""] if notes else []
                numbers = [make() for _ in range(columns - 1 - notes)]
                build.row(
                    [runs(t) for t in (self._account(), *marks, *numbers)], indent=int(grouped)
                )
            if rng.random() < 0.7:
                total = rng.choice(("Total", f"Total {self.word().lower()}", self._account()))
                numbers = [make() for _ in range(columns - 1 - notes)]
                marks = [""] if notes else []
                build.row(
                    [runs(t) for t in (total, *marks, *numbers)],
                    strong=rng.random() < 0.8,
                    rule_above=True,
                )
        return build.table(rng)

    def _account(self) -> str:
        if self.voice.language == "en" and self.rng.random() < 0.6:
            return self.rng.choice(_ACCOUNTS)
        return self.phrase(self.rng.choice((20, 40, 60)))

    def prose(self) -> Table:
        """Return a table whose cells are sentences, some of several lines."""
        rng = self.rng
        columns = rng.choice((2, 2, 3, 3, 4))
        build = Build(columns)
        if rng.random() < 0.85:
            build.head([runs(self.phrase(20)) for _ in range(columns)])
        bold_stub = rng.random() < 0.3
        for _ in range(rng.randint(2, 6)):
            first = runs(self.phrase(30), "bold" if bold_stub else "")
            others = [
                runs(self.sentences(2) if rng.random() < 0.75 else self.phrase(50))
                for _ in range(columns - 1)
            ]
            build.row([first, *others])
        return build.table(rng, [0.6, *[1.5] * (columns - 1)])

    def pairs(self) -> Table:
        """Return names with their values, mostly without a head."""
        rng = self.rng
        build = Build(2)
        if rng.random() < 0.3:
            build.head([runs(self.phrase(16)), runs(self.phrase(16))])
        number = self.numbers()
        kind = rng.random()
        bold = rng.random() < 0.4
        for _ in range(rng.randint(3, 12)):
            value = number() if kind < 0.4 else self.phrase(60) if kind < 0.8 else self.sentences(1)
            build.row([runs(self.phrase(30), "bold" if bold else ""), runs(value)])
        return build.table(rng)

    def row_groups(self) -> Table:
        """Return a table whose first cells span the rows of their group."""
        rng = self.rng
        columns = rng.choice((3, 4, 4, 5))
        build = Build(columns)
        build.head(
            [runs(text) for text in (self.phrase(14), self.phrase(18), *self.heads(columns - 2))]
        )
        make = [self.numbers() for _ in range(columns - 2)]
        spanned = rng.random() < 0.6
        for _ in range(rng.randint(2, 4)):
            name = runs(self.phrase(20), "bold" if rng.random() < 0.3 else "")
            size = rng.randint(1, 4)
            for k in range(size):
                numbers = [runs(one()) for one in make]
                stub = name if k == 0 else None if spanned else runs("")
                build.row([stub, runs(self.phrase(26)), *numbers], rowspan=size if spanned else 1)
        return build.table(rng)

    def marks(self) -> Table:
        """Return features against products: marks, words, and empty cells."""
        rng = self.rng
        columns = rng.choice((3, 4, 5, 6))
        build = Build(columns)
        build.head(
            [
                runs(rng.choice(("", self.phrase(14)))),
                *(runs(self.word()) for _ in range(columns - 1)),
            ]
        )
        words = rng.choice(
            (("Yes", "No"), ("✓", "–"), ("x", ""), ("•", ""), ("+", "-"), ("Y", "N", "n/a"))
        )
        for _ in range(rng.randint(3, 10)):
            build.row(
                [runs(self.phrase(40)), *(runs(rng.choice(words)) for _ in range(columns - 1))]
            )
        return build.table(rng, align=rng.choice(("center", "center", "left")))

    def counted(self) -> Table:
        """Return rows that begin with their number, which makes no list of them."""
        rng = self.rng
        columns = rng.choice((3, 3, 4, 5))
        build = Build(columns)
        if rng.random() < 0.9:
            name = rng.choice(("No.", "#", "Nr.", "", "Item", "Rank", "№"))
            build.head([runs(name), *(runs(text) for text in self.heads(columns - 1))])
        first = rng.choice((1, 1, 1, 4, 11))
        mark = rng.choice(("{}", "{}", "{}.", "({})", "{}.1"))
        make = [self.numbers() for _ in range(columns - 2)]
        for k in range(rng.randint(3, 15)):
            others = [
                runs(one() if rng.random() < 0.95 else "") if j else runs(self.phrase(36))
                for j, one in enumerate([lambda: "", *make])
            ]
            build.row([runs(mark.format(first + k)), *others])
        return build.table(rng)

    def estimates(self) -> Table:
        """Return estimates with stars, their errors in brackets on a row below."""
        rng = self.rng
        columns = rng.choice((3, 4, 5))
        build = Build(columns)
        build.head([runs(""), *(runs(f"({k})") for k in range(1, columns))])
        if rng.random() < 0.6:
            build.head([runs(""), *(runs(self.word()) for _ in range(columns - 1))])
        for _ in range(rng.randint(3, 8)):
            stars = [
                f"{rng.gauss(0, 1):.3f}" + "*" * rng.choice((0, 0, 1, 2, 3))
                for _ in range(columns - 1)
            ]
            build.row(
                [runs(self.word() if rng.random() < 0.6 else self.phrase(28)), *map(runs, stars)]
            )
            if rng.random() < 0.9:
                build.row(
                    [runs(""), *(runs(f"({rng.uniform(0, 1):.3f})") for _ in range(columns - 1))]
                )
        for name in rng.sample(("Observations", "R²", "N", "Adj. R²", "F statistic"), 2):
            values = [f"{rng.randint(40, 90_000):,}" for _ in range(columns - 1)]
            build.row([runs(name), *map(runs, values)], rule_above=name == "Observations")
        return build.table(rng, align="center")

    def shares(self) -> Table:
        """Return counts with their shares: "34 (12.5%)" or "12.3 ± 4.5"."""
        rng = self.rng
        columns = rng.choice((2, 3, 4))
        build = Build(columns)
        heads = [f"{self.phrase(14)} (n = {rng.randint(12, 900)})" for _ in range(columns - 1)]
        build.head([runs(self.phrase(18)), *map(runs, heads)])
        for _ in range(rng.randint(2, 4)):
            if rng.random() < 0.6:
                build.group(runs(f"{self.phrase(24)}, n (%)"), spanning=rng.random() < 0.3)
            deviation = rng.random() < 0.3
            for _ in range(rng.randint(1, 4)):
                values = [
                    f"{rng.uniform(1, 90):.1f} ± {rng.uniform(0, 9):.1f}"
                    if deviation
                    else f"{rng.randint(1, 400)} ({rng.uniform(0, 100):.1f}%)"
                    for _ in range(columns - 1)
                ]
                build.row([runs(self.phrase(26)), *map(runs, values)], indent=1)
        return build.table(rng)

    def square(self) -> Table:
        """Return a matrix: a triangle of numbers, or the same names on both sides."""
        rng = self.rng
        size = rng.randint(3, 6)
        names = [self.word() for _ in range(size)]
        build = Build(size + 1)
        numbered = rng.random() < 0.5
        heads = [str(k + 1) for k in range(size)] if numbered else names
        build.head([runs(""), *map(runs, heads)])
        triangle = rng.random() < 0.6
        for i, name in enumerate(names):
            values = [
                "" if triangle and j > i else "1" if i == j else f"{rng.uniform(-1, 1):.2f}"
                for j in range(size)
            ]
            build.row([runs(f"{i + 1}. {name}" if numbered else name), *map(runs, values)])
        return build.table(rng)

    def months(self) -> Table:
        rng = self.rng
        count = rng.choice((4, 6, 12))
        build = Build(count + 1)
        build.head(
            [runs(rng.choice(("", "Year", self.word()))), *(runs(m) for m in _MONTHS[:count])]
        )
        for k in range(rng.randint(2, 8)):
            name = str(2010 + k) if rng.random() < 0.5 else self.word()
            build.row([runs(name), *(runs(str(rng.randint(0, 99))) for _ in range(count))])
        return build.table(rng)

    def ledger(self) -> Table:
        """Return an account's days: what was taken and given, and which side the balance is on."""
        rng = self.rng
        marks = rng.choice((("Cr", "Dr"), ("Cr.", "Dr."), ("CR", "DR"), ("+", "-"), ("", "")))
        heads = rng.choice(
            (
                ("Date", "Particulars", "Debit", "Credit", "Balance"),
                ("Date", "Description", "Withdrawals", "Deposits", "Balance"),
                ("Date", "Ref.", "Details", "Amount", "Balance"),
            )
        )
        build = Build(5)
        build.head([runs(text) for text in heads])
        day, balance = rng.randint(1, 3), rng.uniform(-3e4, 3e4)
        pattern = rng.choice(("{:02}.{:02}.2023", "{:02}/{:02}/23", "{} {}", "2023-{1:02}-{0:02}"))
        month = rng.randint(1, 12)
        for k in range(rng.randint(4, 18)):
            amount = rng.lognormvariate(5, 1.5) * rng.choice((-1, 1))
            balance += amount
            date = pattern.format(day, _MONTHS[month - 1] if pattern == "{} {}" else month)
            side = f"{abs(balance):,.2f} {marks[balance < 0]}".strip()
            if "Ref." in heads:
                texts = [date, str(rng.randint(100, 9999)), self.phrase(36), f"{amount:,.2f}", side]
            else:
                columns = [f"{-amount:,.2f}", ""] if amount < 0 else ["", f"{amount:,.2f}"]
                texts = [date, self.phrase(36), *columns, side]
            if k == 0 and rng.random() < 0.4:
                texts[2:4] = ["", ""]
            build.row([runs(text) for text in texts])
            day = min(28, day + rng.randint(0, 3))
        return build.table(rng)

    def counts(self) -> Table:
        """Return many narrow columns of counts, as elections and censuses have."""
        rng = self.rng
        columns = rng.randint(6, 12)
        build = Build(columns)
        if rng.random() < 0.3:
            build.head([runs(""), *(runs(f"({k})") for k in range(1, columns))])
        else:
            longest = rng.choice((5, 8, 12))
            build.head(
                [runs(self.word()), *(runs(self.phrase(longest)) for _ in range(columns - 1))]
            )
        size = rng.choice((9, 99, 999, 9_999))
        coded = rng.random() < 0.4
        for k in range(rng.randint(5, 24)):
            if rng.random() < 0.06:
                build.group(runs(self.phrase(24)), spanning=rng.random() < 0.5)
            stub = f"{rng.randint(100, 9999)}{rng.choice('ABC')}" if coded else self.phrase(22)
            last = k > 4 and rng.random() < 0.06
            values = [
                "" if rng.random() < 0.04 else f"{int(rng.uniform(0, 1) ** 2 * size):,}"
                for _ in range(columns - 1)
            ]
            build.row([runs("Total" if last else stub), *map(runs, values)], strong=last)
        return build.table(rng)

    def halves(self) -> Table:
        """Return a table folded into two halves: its columns stand twice, side by side."""
        rng = self.rng
        each = rng.choice((2, 2, 3))
        build = Build(2 * each)
        heads = [self.phrase(14), *self.heads(each - 1)]
        if rng.random() < 0.75:
            build.head([runs(text) for text in heads * 2])
        make = [self.numbers() for _ in range(each - 1)]
        for _ in range(rng.randint(3, 14)):
            texts = [text for _ in range(2) for text in (self.phrase(22), *(one() for one in make))]
            build.row([runs(text) for text in texts])
        return build.table(rng)

    def timetable(self) -> Table:
        """Return times with what happens then, and where."""
        rng = self.rng
        columns = rng.choice((2, 3, 3, 4))
        build = Build(columns)
        if rng.random() < 0.6:
            build.head([runs(text) for text in ("Time", *self.heads(columns - 1))])
        hour = rng.randint(7, 10)
        for _ in range(rng.randint(3, 12)):
            start = f"{hour}:{rng.choice(('00', '15', '30', '45'))}"
            hour = min(23, hour + rng.randint(0, 2))
            time = start if rng.random() < 0.5 else f"{start}–{hour}:50"
            others = [self.phrase(rng.choice((24, 50))) for _ in range(columns - 1)]
            build.row([runs(text) for text in (time, *others)])
        return build.table(rng)

    def names(self, name: Callable[[], str]) -> Table:
        """Return columns of names, with marks for what they said in some."""
        rng = self.rng
        columns = rng.choice((2, 3, 4, 5))
        build = Build(columns)
        if rng.random() < 0.3:
            build.head([runs(self.word()) for _ in range(columns)])
        for _ in range(rng.randint(3, 14)):
            build.row([runs(name()) for _ in range(columns)])
        return build.table(rng)

    def public(self) -> Table:
        """Return a table out of a public text, as it was written there."""
        texts = self.voice.texts
        found = [b for t in texts for b in t if isinstance(b, Table) and _is_short(b)]
        if not found:
            return self.sheet()
        model = self.rng.choice(found)
        build = Build(model.columns)
        rows: list[list[Runs]] = [[()] * model.columns for _ in range(model.rows)]
        for cell in model.cells:
            rows[cell.leaf.row or 0][cell.leaf.column or 0] = cell.leaf.runs
        for i, row in enumerate(rows[:20]):
            build.head(row) if i < model.head_rows else build.row(row)
        return build.table(self.rng)


def _is_short(table: Table) -> bool:
    return all(
        len(cell.leaf.text) < 220 and max(map(len, cell.leaf.text.split()), default=0) < 28
        for cell in table.cells
    )


def _head(
    text: Runs, row: int, column: int, rowspan: int = 1, colspan: int = 1, align: Align = "left"
) -> Cell:
    leaf = Leaf(text, "cell", None, row, column, rowspan, colspan, head=True)
    return Cell(leaf, align)


class Build:
    """Puts a table together row by row."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.rows = self.head_rows = 0
        self.cells: list[Cell] = []

    def head(self, texts: Sequence[Runs]) -> None:
        self.cells += [_head(text, self.rows, j) for j, text in enumerate(texts)]
        self.rows += 1
        self.head_rows += 1

    def row(
        self,
        texts: Sequence[Runs | None],
        *,
        indent: int = 0,
        strong: bool = False,
        rule_above: bool = False,
        rowspan: int = 1,
    ) -> None:
        """Add a row; a first text of None lies under a cell that spans it."""
        for j, text in enumerate(texts):
            if text is None:
                continue
            leaf = Leaf(text, "cell", None, self.rows, j, rowspan if j == 0 else 1)
            self.cells.append(
                Cell(leaf, indent=indent if j == 0 else 0, strong=strong, rule_above=rule_above)
            )
        self.rows += 1

    def group(self, name: Runs, *, spanning: bool) -> None:
        leaf = Leaf(name, "cell", None, self.rows, 0, colspan=self.columns if spanning else 1)
        self.cells.append(Cell(leaf, strong=True))
        if not spanning:
            for j in range(1, self.columns):
                self.cells.append(Cell(Leaf((), "cell", None, self.rows, j)))
        self.rows += 1

    def texts(self, column: int) -> list[str]:
        return [
            c.leaf.text
            for c in self.cells
            if c.leaf.column == column and c.leaf.colspan == 1 and not c.leaf.head and c.leaf.text
        ]

    def is_numeric(self, column: int) -> bool:
        texts = self.texts(column)
        marks = sum(ch.isdigit() for text in texts for ch in text)
        letters = sum(ch.isalpha() for text in texts for ch in text)
        return bool(texts) and marks > 2 * letters

    def table(
        self,
        rng: random.Random,
        wide: Sequence[float] | None = None,
        align: Align | None = None,
    ) -> Table:
        """Return the table; numbers stand as one style of alignment has them."""
        numbers: Align = rng.choices(("right", "left", "center", "decimal"), (6, 1.5, 1.5, 0))[0]
        heads: Align | None = rng.choice((None, None, None, "left", "center"))
        numeric = [self.is_numeric(j) for j in range(self.columns)]
        for cell in self.cells:
            column = cell.leaf.column or 0
            if cell.leaf.colspan > 1:
                cell.align = cell.align if cell.leaf.head else "left"
            elif align and column > 0:
                cell.align = align
            else:
                cell.align = numbers if numeric[column] else "left"
                if cell.leaf.head and heads and (column or heads == "left"):
                    cell.align = heads
        longest = [max(map(len, self.texts(j)), default=3) for j in range(self.columns)]
        heads_longest = [
            max(
                (len(plain(c.leaf.runs)) for c in self.cells if c.leaf.column == j and c.leaf.head),
                default=0,
            )
            for j in range(self.columns)
        ]
        need = wide or [
            max(4, n, h * 0.6) ** 0.75 for n, h in zip(longest, heads_longest, strict=True)
        ]
        return Table(self.cells, self.rows, self.columns, self.head_rows, tuple(need))
