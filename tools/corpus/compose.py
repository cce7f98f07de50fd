"""Puts documents together: articles, reports, papers, forms, invoices, letters, contents …"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from carrel.server.reading.page_model.network import Role
from corpus.document import (
    Beside,
    Block,
    Box,
    Code,
    Contents,
    Document,
    Figure,
    Formula,
    Heading,
    Item,
    Items,
    Kind,
    Leaf,
    Margins,
    PageBreak,
    Paragraph,
    References,
    Run,
    Style,
    Table,
    runs,
)
from corpus.figures import random_figure
from corpus.formulas import random_formula
from corpus.paperwork import Paperwork
from corpus.sources import UNSPACED, Library, Voice
from corpus.tables import Maker

_LANGUAGES = {
    "en": 24.0,
    "de": 3,
    "fr": 2,
    "es": 2,
    "ru": 2,
    "zh": 1.5,
    "ja": 1,
    "el": 1,
    "ar": 0.8,
}
_LANGUAGES |= {"he": 0.5, "fa": 0.3, "ko": 1}
_LABELS = {
    "en": ("Table", "Figure"),
    "de": ("Tabelle", "Abbildung"),
    "fr": ("Tableau", "Figure"),
    "es": ("Tabla", "Figura"),
    "it": ("Tabella", "Figura"),
    "pt": ("Tabela", "Figura"),
    "ru": ("Таблица", "Рисунок"),
    "zh": ("表", "图"),
    "ja": ("表", "図"),
    "el": ("Πίνακας", "Σχήμα"),
    "ar": ("جدول", "شكل"),
    "ko": ("표", "그림"),
}


def draw_language(library: Library, rng: random.Random, among: set[str] | None = None) -> str:
    names = [name for name in library.languages if among is None or name in among]
    return rng.choices(names, [_LANGUAGES.get(name, 0.4) for name in names])[0]


@dataclass
class Composer:
    """Composes documents in one language; `columns` tells how narrow a table has to be."""

    library: Library
    language: str
    columns: int
    rng: random.Random
    numbered: bool = False

    def __post_init__(self) -> None:
        self.voice: Voice = self.library.voice(self.language)
        self.maker = Maker(self.library, self.voice, self.rng)
        self.tables = self.figures = self.equations = self.notes = 0
        self.section = [0] * 6

    def document(self) -> Document:
        paper = Paperwork(self)
        kinds: list[tuple[Callable[[], Document], float]] = [
            (self.article, 5),
            (self.tabular, 5),
            (self.paper, 2.5),
            (paper.invoice, 0.9),
            (paper.form, 1.8),
            (paper.letter, 1),
            (paper.contract, 0.8),
            (paper.directory, 0.7),
            (paper.minutes, 0.6),
            (self.listing, 0.7),
            (self.leaflet, 1.2),
            (self.front_matter, 1.2),
        ]
        make = self.rng.choices([kind for kind, _ in kinds], [odds for _, odds in kinds])[0]
        return make()

    # pieces

    def paragraph(self, most: int = 6, role: Role = "text", kind: Kind = "body") -> Paragraph:
        rng = self.rng
        if rng.random() < 0.5:
            whole = [
                b
                for b in rng.choice(self.voice.texts)
                if isinstance(b, Paragraph) and 40 < len(b.leaf.text) < 900
            ]
            if whole:
                found = rng.choice(whole)
                return Paragraph(Leaf(found.leaf.runs, role), kind)
        pieces: list[Run] = []
        blank = "" if self.language in UNSPACED else " "
        for k in range(rng.randint(1, most)):
            style = rng.choices(("", "italic", "bold"), (20, 1, 1))[0]
            pieces.append(Run((blank if k else "") + rng.choice(self.voice.sentences), style))  # type: ignore[arg-type]
            if blank and rng.random() < 0.08:
                pieces += self.aside_in_line()
        return Paragraph(Leaf(tuple(pieces), role), kind)

    def aside_in_line(self) -> list[Run]:
        """Return a number or a small formula amid a text: lines may begin with it."""
        rng = self.rng
        number, letter = rng.randint(1, 400), rng.choice("abcknpqrtxyzαβλμσ")
        if rng.random() < 0.5:
            signs = ("({})", "{}", "§ {}", "No. {}", "{}.", "{} ({})", "{},{}", "[{}]", "{}–{}")
            return [Run(" " + rng.choice(signs).format(number, rng.randint(1, 999)))]
        where: Style = rng.choice(("sub", "sup"))
        found = [Run(" "), Run(letter, "italic"), Run(str(rng.randint(0, 9)), where)]
        if rng.random() < 0.5:
            sign = rng.choice((" = ", " + ", " ≤ ", " ∈ ", " ∑ ", " √"))
            found += [Run(sign), Run(rng.choice("abcxyz"), "italic")]
        return found

    def noted(self) -> Paragraph:
        """Return a paragraph with a footnote."""
        found = self.paragraph(4)
        self.notes += 1
        mark = Run(str(self.notes), "sup")
        words = self.rng.choice(self.voice.sentences)
        found.leaf.runs = (*found.leaf.runs, mark)
        found.footnotes.append(Leaf((mark, Run(" " + words)), "footnote", 1))
        return found

    def heading(self, level: int, text: str | None = None, run_in: bool = False) -> Heading:
        title = text or self.rng.choice(self.voice.titles)
        self.section[level - 1] += 1
        self.section[level:] = [0] * (6 - level)
        if self.numbered and level > 1:
            numbers = ".".join(str(max(1, n)) for n in self.section[1:level])
            title = f"{numbers}{self.rng.choice(('', '.'))} {title}"
        return Heading(Leaf(runs(title), "heading", level), run_in)

    def items(self) -> Items:
        rng = self.rng
        kind = rng.choices(
            ("bullets", "numbers", "letters", "definitions", "public"), (4, 3, 1, 1, 3)
        )[0]
        if kind == "public":
            found = [b for b in rng.choice(self.voice.texts) if isinstance(b, Items)]
            if found:
                chosen = rng.choice(found).items[: rng.randint(3, 9)]
                return Items(
                    [
                        Item(Leaf(i.leaf.runs, "list_item", i.depth + 1), i.marker, i.depth)
                        for i in chosen
                        if len(i.leaf.text) < 400 and len(max(i.leaf.text.split(), key=len)) < 40
                    ]
                    or [self._item("•", 0)]
                )
            kind = "bullets"
        if kind == "definitions":
            return Items([self._definition() for _ in range(rng.randint(2, 6))])
        pattern = rng.choice(("{}.", "{})", "({})", "{}."))
        bullet = rng.choice("•••–◦▪*")
        result: list[Item] = []
        for k in range(rng.randint(2, 8)):
            letter = chr(97 + k) if kind == "letters" else str(k + 1)
            result.append(self._item(bullet if kind == "bullets" else pattern.format(letter), 0))
            if rng.random() < 0.15:
                inner = rng.choice(("–", "◦", "a"))
                for n in range(rng.randint(1, 3)):
                    marker = f"{chr(97 + n)}." if inner == "a" else inner
                    result.append(self._item(marker, 1))
        return Items(result)

    def _item(self, marker: str, depth: int) -> Item:
        rng = self.rng
        text = self.maker.phrase(60) if rng.random() < 0.5 else self.maker.sentences(2)
        words = runs(text)
        if rng.random() < 0.15:
            words = (Run(self.maker.phrase(20) + ":", "bold"), Run(" " + text))
        return Item(Leaf(words, "list_item", depth + 1), marker, depth)

    def _definition(self) -> Item:
        words = (Run(self.maker.phrase(20), "bold"), Run(" " + self.maker.sentences(2)))
        return Item(Leaf(words, "list_item", 1), "", 0)

    def code(self) -> Block:
        found = [b for b in self.rng.choice(self.voice.texts) if isinstance(b, Code)]
        if not found:
            english = self.library.voice("en")
            found = [b for t in self.rng.sample(english.texts, 8) for b in t if isinstance(b, Code)]
        if not found:
            return self.paragraph()
        width = 78 // self.columns
        lines = [line[:width] for line in self.rng.choice(found).leaf.text.splitlines()]
        return Code(Leaf(runs("\n".join(lines[: self.rng.randint(3, 16)]), "code"), "code"))

    def table(self, *, spanning: bool = False) -> Table:
        rng = self.rng
        table = self.maker.table(narrow=self.columns > 1 and not spanning)
        table.full_width = rng.random() < 0.6
        table.spanning = spanning
        if rng.random() < 0.65:
            self.tables += 1
            table.caption = self._caption(0, self.tables)
            table.caption_above = rng.random() < 0.75
        if rng.random() < 0.25:
            for mark in "*†‡"[: rng.choice((1, 1, 2))]:
                start = rng.choice((f"{mark} ", f"{mark} ", "Note: ", "Source: "))
                table.notes.append(
                    Leaf(runs(start + rng.choice(self.voice.sentences)[:160]), "footnote")
                )
        return table

    def _caption(self, which: int, count: int) -> Leaf:
        rng = self.rng
        label = _LABELS.get(self.language, _LABELS["en"])[which]
        number = rng.choice((f"{count}", f"{count}", f"{self.section[1] or 1}.{count}"))
        text = (
            self.maker.phrase(60) if rng.random() < 0.6 else rng.choice(self.voice.sentences)[:150]
        )
        kind = rng.random()
        if kind < 0.5:
            return Leaf(
                (Run(f"{label} {number}{rng.choice('.:')}", "bold"), Run(f" {text}")), "caption"
            )
        if kind < 0.85:
            return Leaf(runs(f"{label} {number}{rng.choice(('.', ':', ' –'))} {text}"), "caption")
        return Leaf(runs(text), "caption")

    def figure(self) -> Figure:
        self.figures += 1
        figure = random_figure(self.rng, self.maker.word)
        if self.rng.random() < 0.85:
            figure.caption = self._caption(1, self.figures)
            figure.caption_above = self.rng.random() < 0.2
        return figure

    def formula(self) -> Formula:
        self.equations += 1
        label = f"({self.equations})" if self.rng.random() < 0.5 else ""
        tree = random_formula(self.rng)
        return Formula(Leaf(runs(tree.text()), "formula"), tree, label)

    def references(self) -> References:
        rng = self.rng
        pattern = rng.choice(("[{}] ", "{}. ", "", "({}) "))
        count = rng.randint(4, 14)
        entries: list[tuple[str, Leaf]] = []
        for k in range(count):
            mark = pattern.format(k + 1)
            names = ", ".join(
                f"{self.maker.word()}, {chr(65 + rng.randrange(26))}."
                for _ in range(rng.randint(1, 3))
            )
            title = rng.choice(self.voice.titles)
            where = Run(self.maker.phrase(30), "italic")
            year = rng.randint(1975, 2026)
            pages = f"{rng.randint(1, 400)}–{rng.randint(401, 900)}"
            words = (
                Run(f"{mark}{names} ({year}). {title}. "),
                where,
                Run(f", {rng.randint(1, 60)}({rng.randint(1, 12)}), {pages}."),
            )
            entries.append((mark, Leaf(words, "reference")))
        return References(entries)

    def contents(self) -> Contents:
        rng = self.rng
        entries: list[tuple[Leaf, str]] = []
        page = 1
        numbers = [0, 0, 0]
        numbered = rng.random() < 0.6
        deep = rng.choice((1, 2, 2, 3))
        level = 1
        for _ in range(rng.randint(10, 32)):
            numbers[level - 1] += 1
            numbers[level:] = [0] * (3 - level)
            mark = ".".join(map(str, numbers[:level])) + " " if numbered else ""
            page += rng.randint(0, 9)
            title = rng.choice(self.voice.titles)[:60]
            entries.append(
                (Leaf(runs(f"{mark}{title} {page}"), "contents_entry", level), str(page))
            )
            level = min(deep, max(1, level + rng.choice((-1, 0, 0, 1))))
        return Contents(entries)

    def box(self) -> Box:
        blocks: list[Block] = []
        if self.rng.random() < 0.6:
            title = self.maker.phrase(40)
            blocks.append(Paragraph(Leaf(runs(title, "bold"), "aside")))
        for _ in range(self.rng.randint(1, 2)):
            blocks.append(self.paragraph(3, "aside"))
        if self.rng.random() < 0.3:
            blocks.append(self.items())
        return Box(blocks, floating=self.rng.random() < 0.3)

    def margins(self) -> Margins:
        rng = self.rng
        margins = Margins(mirrored=rng.random() < 0.3, first_page=rng.random() < 0.75)
        if rng.random() < 0.6:
            for place in rng.sample(("left", "center", "right"), rng.choice((1, 1, 2))):
                text = rng.choice((rng.choice(self.voice.titles)[:50], self.maker.phrase(30)))
                margins.head[place] = Leaf(runs(text), "running_head")
        if rng.random() < 0.75:
            pattern = rng.choice(
                ("{page}", "{page}", "{page}", "– {page} –", "Page {page}", "{page} / 64")
            )
            place = rng.choice(("left", "center", "center", "right"))
            where = margins.foot if rng.random() < 0.8 or margins.head else margins.head
            if place not in where:
                where[place] = Leaf(runs(pattern), "folio")
        if rng.random() < 0.3:
            free = [place for place in ("left", "center", "right") if place not in margins.foot]
            text = rng.choice(
                (self.maker.phrase(40), f"© {rng.randint(1990, 2026)} {self.maker.word()}")
            )
            margins.foot[rng.choice(free)] = Leaf(runs(text), "running_head")
        return margins

    def middle(self, count: int, tables: float = 0.2) -> list[Block]:
        """Return sections of text with what stands in it."""
        rng = self.rng
        blocks: list[Block] = []
        deep = rng.choice((2, 3, 3, 4))
        level = 2
        for _ in range(count):
            kind = rng.random()
            if kind < 0.2 or not blocks:
                level = min(deep, max(2, level + rng.choice((-2, -1, 0, 0, 1))))
                run_in = rng.random() < (0.2 if level >= 3 else 0.03)
                blocks.append(self.heading(level, run_in=run_in))
                blocks.append(self.paragraph())
            elif kind < 0.2 + tables:
                spanning = self.columns > 1 and rng.random() < 0.3
                blocks.append(self.table(spanning=spanning))
                if rng.random() < 0.12:
                    blocks.append(self.table(spanning=spanning))
            else:
                blocks.append(self._other(rng.random()))
        return blocks

    def _other(self, kind: float) -> Block:
        if kind < 0.5:
            return self.paragraph()
        if kind < 0.66:
            return self.items()
        if kind < 0.71:
            return self.code()
        if kind < 0.76:
            return self.paragraph(3, "quote")
        if kind < 0.82:
            return self.formula()
        if kind < 0.89:
            return self.figure()
        if kind < 0.93:
            return self.box()
        return self.noted()

    # documents

    def article(self) -> Document:
        front: list[Block] = []
        if self.rng.random() < 0.6:
            front.append(self.heading(1))
            if self.rng.random() < 0.3:
                front.append(self.paragraph(2, kind="lead"))
        body = self._public() if self.rng.random() < 0.4 else self.middle(self.rng.randint(8, 30))
        return Document(self.language, front, body, self.margins())

    def _public(self) -> list[Block]:
        """Return a stretch of a public text as it was written, with tables put in between."""
        text = self.rng.choice(self.voice.texts)
        start = self.rng.randrange(max(1, len(text) - 25))
        blocks: list[Block] = []
        for block in text[start : start + 30]:
            if isinstance(block, Heading):
                level = min(4, max(2, block.leaf.level or 2))
                blocks.append(self.heading(level, block.leaf.text))
            elif isinstance(block, Paragraph) and len(block.leaf.text) < 1500:
                blocks.append(Paragraph(Leaf(block.leaf.runs, block.leaf.role)))
            elif isinstance(block, Items):
                kept = [
                    Item(Leaf(i.leaf.runs, "list_item", i.depth + 1), i.marker, i.depth)
                    for i in block.items[:12]
                    if len(i.leaf.text) < 500
                ]
                blocks.append(Items(kept or [self._item("•", 0)]))
            elif isinstance(block, Code):
                blocks.append(self.code())
            if self.rng.random() < 0.12:
                blocks.append(self.table())
        return blocks or self.middle(10)

    def tabular(self) -> Document:
        """Statistical pages: tables, with little in between."""
        rng = self.rng
        front: list[Block] = [self.heading(1)] if rng.random() < 0.5 else []
        body: list[Block] = []
        for _ in range(rng.randint(2, 7)):
            if rng.random() < 0.45:
                body.append(self.heading(rng.choice((2, 2, 3))))
            for _ in range(rng.choice((0, 1, 1, 2))):
                body.append(self.paragraph(4))
            kind = rng.random()
            if kind < 0.1 and self.columns == 1:
                body.append(Beside([[self._small_table()], [self._small_table()]]))
            elif kind < 0.25 and self.columns == 1:
                text: Block = self.items() if rng.random() < 0.6 else self.paragraph(4)
                sides: list[list[Block]] = [[self._small_table()], [text]]
                rng.shuffle(sides)
                body.append(Beside(sides, (rng.uniform(0.7, 1.4), 1)))
            else:
                body.append(self.table(spanning=self.columns > 1 and rng.random() < 0.4))
            if rng.random() < 0.15:
                body.append(self.items())
        return Document(self.language, front, body, self.margins())

    def _small_table(self) -> Table:
        maker = self.maker
        table = self.rng.choice((maker.pairs, maker.statement, maker.counted, maker.figures))()
        if self.rng.random() < 0.5:
            self.tables += 1
            table.caption = self._caption(0, self.tables)
        return table

    def paper(self) -> Document:
        """Title, authors, abstract, then text in columns, and references."""
        rng = self.rng
        front: list[Block] = [self.heading(1)]
        names = [f"{self.maker.word()} {self.maker.word()}" for _ in range(rng.randint(1, 5))]
        if rng.random() < 0.5:
            front.append(Paragraph(Leaf(runs(", ".join(names)), "text"), "author"))
            front.append(Paragraph(Leaf(runs(self.maker.phrase(60)), "text"), "affiliation"))
        else:
            front.append(
                Beside(
                    [
                        [
                            Paragraph(Leaf(runs(name), "text"), "author"),
                            Paragraph(Leaf(runs(self.maker.phrase(40)), "text"), "affiliation"),
                        ]
                        for name in names[:3]
                    ],
                    (1,) * min(3, len(names)),
                )
            )
        abstract = [self.paragraph(5, kind="abstract")]
        if rng.random() < 0.7:
            word = rng.choice(("Abstract", "ABSTRACT", "Summary"))
            if rng.random() < 0.5:
                leaf = abstract[0].leaf
                leaf.runs = (Run(f"{word}{rng.choice('.:—')} ", "bold"), *leaf.runs)
            else:
                front.append(self.heading(2, word))
        front += abstract
        body = self.middle(rng.randint(12, 26), tables=0.25)
        body += [self.heading(2, rng.choice(("References", "Bibliography", "Literature")))]
        body.append(self.references())
        return Document(self.language, front, body, self.margins())

    def listing(self) -> Document:
        body: list[Block] = []
        for _ in range(self.rng.randint(3, 6)):
            body.append(self.heading(2))
            if self.rng.random() < 0.4:
                body.append(self.paragraph(3))
            body.append(self.items())
        return Document(self.language, [self.heading(1)], body, self.margins())

    def leaflet(self) -> Document:
        """Boxes beside each other, figures and short texts."""
        rng = self.rng
        body: list[Block] = []
        for _ in range(rng.randint(2, 5)):
            kind = rng.random()
            if kind < 0.5 and self.columns == 1:
                sides = rng.choice((2, 2, 3))
                body.append(Beside([[self.box()] for _ in range(sides)], (1,) * sides))
            elif kind < 0.6 and self.columns == 1:
                beside: Block = self.figure() if rng.random() < 0.5 else self.paragraph(4)
                body.append(Beside([[self.figure()], [beside]], (1, rng.uniform(0.7, 1.3))))
            elif kind < 0.75:
                body.append(self.figure())
            else:
                body.append(self.box())
            body.append(self.heading(2))
            body.append(self.paragraph(4))
            if rng.random() < 0.4:
                body.append(self.table())
        return Document(self.language, [self.heading(1)], body, self.margins())

    def front_matter(self) -> Document:
        """Title page, contents, and a bibliography."""
        front: list[Block] = [self.heading(1), self.paragraph(1, kind="lead")]
        body: list[Block] = [PageBreak()] if self.rng.random() < 0.4 else []
        if self.rng.random() < 0.7:
            body.append(self.heading(2, self.rng.choice(("Contents", "Table of contents"))))
        if self.columns == 1 and self.rng.random() < 0.25:
            body.append(Beside([[self.contents()], [self.contents()]]))
        else:
            body.append(self.contents())
        body += [self.heading(2), self.references()]
        return Document(self.language, front, body, self.margins())
