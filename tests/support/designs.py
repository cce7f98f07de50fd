"""Documents of several designs, drawn with their reading order and headings known."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.utils import simpleSplit
from reportlab.pdfgen.canvas import Canvas

_VOCABULARY = """
    reading room carrel lamp window shelf reader book page paper catalogue
    archive letter volume margin index quiet early late narrow northern public
    printed bound borrowed returned copied described ordered kept opened closed arrived
    remained before after every many under manuscript
"""
_MARGIN = 64.0
_SIZE = 10.0
_LEADING = 1.22


@dataclass
class Truth:
    """What a document says, in the order in which a person reads it.

    `headings` are its headings with their levels, which stand among the `texts` too; `heads` are
    its running heads, and `asides` what may be read before or after the texts beside it.
    """

    texts: list[str] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)


class _Sheet:
    """A canvas on which text flows down columns, and the truth about it."""

    def __init__(self, path: Path, seed: int, size: tuple[float, float] = A4) -> None:
        self.chance = random.Random(seed)
        self.width, self.height = size
        self.canvas = Canvas(str(path), pagesize=size, invariant=1)
        self.truth = Truth()
        self.left, self.column = _MARGIN, self.width - 2 * _MARGIN
        self.y = self.height - _MARGIN
        self.justified = False

    def words(self, count: int) -> str:
        return " ".join(self.chance.choices(_VOCABULARY.split(), k=count))

    def prose(self, words: int) -> str:
        """Sentences, no two alike."""
        found: list[str] = []
        while len(found) < words:
            sentence = self.words(self.chance.randint(7, 16)).split()
            found += [sentence[0].capitalize(), *sentence[1:-1], f"{sentence[-1]}."]
        return " ".join(found)

    def flow(self, columns: list[tuple[float, float]], texts: list[Callable[[], None]]) -> None:
        """Texts down the first of some columns (left edge and width), then down the next."""
        top, rest = self.y, columns[1:]
        self.left, self.column = columns[0]
        lowest = top
        for text in texts:
            if self.y < _MARGIN + 90 and rest:
                (self.left, self.column), rest = rest[0], rest[1:]
                self.y = top
            text()
            lowest = min(lowest, self.y)
        self.y = lowest

    def put(self, text: str, size: float = _SIZE, *, bold: bool = False, gap: float = 7.0) -> None:
        """A paragraph below the last one."""
        name = "Helvetica-Bold" if bold else "Helvetica"
        self.canvas.setFont(name, size)
        lines = simpleSplit(text, name, size, self.column)
        for number, line in enumerate(lines, 1):
            self.y -= size * _LEADING
            rest = self.column - self.canvas.stringWidth(line, name, size)
            full = self.justified and number < len(lines)
            space = rest / max(1, line.count(" ")) if full else 0
            self.canvas.drawString(self.left, self.y, line, wordSpace=space)
        self.y -= gap
        self.truth.texts.append(text)

    def heading(self, level: int, text: str, size: float, *, bold: bool = True) -> None:
        self.y -= 0.6 * size
        self.truth.headings.append((level, text))
        self.put(text, size, bold=bold, gap=4)

    def paragraph(self, words: int = 60) -> None:
        self.put(self.prose(words))

    def label(self, text: str, x: float, y: float) -> None:
        """A label of a figure, in the font that is set."""
        self.canvas.drawString(x, y, text)
        self.truth.asides.append(text)

    def head(self, text: str, x: float, y: float) -> None:
        """A running head."""
        self.canvas.setFont("Helvetica", 8)
        self.canvas.drawString(x, y, text)
        self.truth.heads.append(text)

    def page(self) -> None:
        self.canvas.showPage()
        self.y = self.height - _MARGIN

    def save(self) -> Truth:
        self.canvas.save()
        return self.truth

    def columns(self, count: int, gutter: float = 18) -> list[tuple[float, float]]:
        width = (self.width - 2 * _MARGIN - (count - 1) * gutter) / count
        return [(_MARGIN + number * (width + gutter), width) for number in range(count)]


def report(path: Path, seed: int) -> Truth:
    """Numbered sections of three levels, running heads that change, a note at the foot."""
    sheet = _Sheet(path, seed)
    for chapter in range(1, 5):
        sheet.head(f"{chapter} | {sheet.words(3).title()}", _MARGIN, sheet.height - 36)
        sheet.left, sheet.column = _MARGIN, sheet.width - 2 * _MARGIN
        sheet.heading(1, f"{chapter} {sheet.words(3).capitalize()}", 18)
        sheet.paragraph()
        for section in (1, 2):
            sheet.heading(2, f"{chapter}.{section} {sheet.words(4).capitalize()}", 13)
            sheet.paragraph(90)
            sheet.heading(3, f"{chapter}.{section}.1 {sheet.words(3).capitalize()}", _SIZE)
            sheet.paragraph(50)
        sheet.head(str(chapter + 6), sheet.width / 2, 30)
        sheet.page()
    return sheet.save()


def paper(path: Path, seed: int) -> Truth:
    """A title over two columns, with captions of figures and tables in bold type."""
    sheet = _Sheet(path, seed)
    sheet.heading(1, sheet.words(7).capitalize(), 20)
    sheet.put(f"{sheet.words(2).title()} and {sheet.words(2).title()}", 11)
    sheet.paragraph(50)
    sheet.y -= 12

    def figure() -> None:
        sheet.canvas.rect(sheet.left, sheet.y - 80, sheet.column, 76, fill=1)
        sheet.y -= 84
        sheet.put(f"Figure {sheet.chance.randint(1, 9)}: {sheet.words(5)}", 9, bold=True)

    texts: list[Callable[[], None]] = []
    for number in range(1, 4):
        title = f"{number}. {sheet.words(2).capitalize()}"
        texts.append(lambda title=title: sheet.heading(2, title, 12))  # type: ignore[misc]
        texts += [lambda: sheet.paragraph(42)] * 3
        if number == 2:
            texts.append(figure)
    sheet.flow(sheet.columns(2), texts)
    return sheet.save()


def charts(path: Path, seed: int) -> Truth:
    """Two columns with charts of bars, lines and slices between their paragraphs."""
    sheet = _Sheet(path, seed)
    sheet.heading(1, sheet.words(5).capitalize(), 20)

    def chart(draw: Callable[[_Sheet], None]) -> None:
        sheet.y -= 130
        sheet.canvas.setFont("Helvetica", 7)
        draw(sheet)
        sheet.y -= 12
        sheet.put(f"Figure {sheet.chance.randint(1, 9)}: {sheet.words(5)}", 9, bold=True)

    drawn = [bar_chart, line_chart, pie_chart]
    texts: list[Callable[[], None]] = []
    for number in range(3):
        title = sheet.words(3).capitalize()
        texts.append(lambda title=title: sheet.heading(2, title, 12))  # type: ignore[misc]
        texts.append(lambda: sheet.paragraph(42))
        texts.append(lambda draw=drawn[number]: chart(draw))  # type: ignore[misc]
        texts.append(lambda: sheet.paragraph(42))
    sheet.flow(sheet.columns(2), texts)
    return sheet.save()


def bar_chart(sheet: _Sheet) -> None:
    """Bars with their names at the left, in a frame."""
    canvas, left, bottom = sheet.canvas, sheet.left, sheet.y
    canvas.rect(left, bottom, sheet.column, 120)
    for number in range(6):
        y = bottom + 16 + 16 * number
        sheet.label(sheet.words(2), left + 4, y + 3)
        canvas.rect(left + 90, y, sheet.chance.randint(20, 110), 10, stroke=0, fill=1)


def line_chart(sheet: _Sheet) -> None:
    """A line over two axes with their numbers, without a frame."""
    canvas, left, bottom = sheet.canvas, sheet.left + 30, sheet.y + 16
    width, height = sheet.column - 36, 96
    canvas.line(left, bottom, left + width, bottom)
    canvas.line(left, bottom, left, bottom + height)
    for number in range(5):
        sheet.label(f"{number * 250}", left - 20, bottom + number * height / 5)
        sheet.label(f"{2001 + number}", left + number * width / 5, bottom - 10)
    path = canvas.beginPath()
    path.moveTo(left, bottom + sheet.chance.randint(10, 90))
    for number in range(1, 7):
        path.lineTo(left + number * width / 6, bottom + sheet.chance.randint(10, 90))
    canvas.drawPath(path)


def pie_chart(sheet: _Sheet) -> None:
    """Slices with their names around them."""
    canvas = sheet.canvas
    x, y = sheet.left + sheet.column / 2, sheet.y + 60
    for start in (0, 120, 240):
        canvas.wedge(x - 40, y - 40, x + 40, y + 40, start, 120, fill=start == 120)
    sheet.label(sheet.words(1), x + 46, y + 20)
    sheet.label(sheet.words(1), x - 84, y + 10)
    sheet.label(sheet.words(1), x - 12, y - 52)


def newsletter(path: Path, seed: int) -> Truth:
    """Three columns below a large title, with headings in bold type of the text's size."""
    sheet = _Sheet(path, seed)
    sheet.heading(1, sheet.words(3).title(), 28)
    texts: list[Callable[[], None]] = []
    for _ in range(5):
        title = sheet.words(3).capitalize()
        texts.append(lambda title=title: sheet.heading(2, title, _SIZE))  # type: ignore[misc]
        texts += [lambda: sheet.paragraph(40)] * 2
    sheet.flow(sheet.columns(3), texts)
    return sheet.save()


def newspaper(path: Path, seed: int) -> Truth:
    """Stories in narrow justified columns, side by side below headlines of their own."""
    sheet = _Sheet(path, seed)
    sheet.justified = True
    sheet.heading(1, sheet.words(3).title(), 30)
    gutter = sheet.chance.uniform(8, 16)
    for count in sheet.chance.sample([2, 3, 4], 2):
        sheet.left, sheet.column = _MARGIN, sheet.width - 2 * _MARGIN
        sheet.heading(2, sheet.words(5).capitalize(), 15)
        columns, top = sheet.columns(count, gutter), sheet.y
        lowest = top
        for sheet.left, sheet.column in columns:
            sheet.y = top
            while sheet.y > top - 230:
                sheet.put(sheet.prose(150 // count), 8.5, gap=2)
            lowest = min(lowest, sheet.y)
        sheet.y = lowest - 10
    return sheet.save()


def side_notes(path: Path, seed: int) -> Truth:
    """A column of text with small notes in the margin beside it."""
    sheet = _Sheet(path, seed)
    sheet.heading(1, sheet.words(4).capitalize(), 16)
    top = sheet.y
    sheet.left, sheet.column = 200, sheet.width - 200 - _MARGIN
    for _ in range(5):
        sheet.paragraph(70)
    for number in range(2):
        sheet.left, sheet.column, sheet.y = _MARGIN, 110, top - 30 - 160 * number
        sheet.put(sheet.prose(14), 7.5)
        sheet.truth.asides.append(sheet.truth.texts.pop())
    return sheet.save()


def form(path: Path, seed: int) -> Truth:
    """Labels with their values, in two blocks."""
    sheet = _Sheet(path, seed)
    sheet.heading(1, sheet.words(3).capitalize(), 16)
    for _ in range(2):
        sheet.heading(2, sheet.words(2).capitalize(), 12)
        for _ in range(4):
            label, value = sheet.words(2).capitalize(), sheet.words(3)
            sheet.y -= 18
            sheet.canvas.setFont("Helvetica", _SIZE)
            sheet.canvas.drawString(_MARGIN, sheet.y, f"{label}:")
            sheet.canvas.drawString(_MARGIN + 150, sheet.y, value)
            sheet.truth.texts += [f"{label}:", value]
        sheet.y -= 10
    return sheet.save()


def slides(path: Path, seed: int) -> Truth:
    """Wide pages with a title, some points and a foot that says whose they are."""
    sheet = _Sheet(path, seed, landscape(A4))
    owner = sheet.words(2).title()
    for _ in range(4):
        sheet.heading(1, sheet.words(4).capitalize(), 28)
        sheet.y -= 20
        for _ in range(4):
            sheet.put(sheet.words(8).capitalize(), 18, gap=16)
        sheet.head(owner, _MARGIN, 24)
        sheet.page()
    return sheet.save()


def card(path: Path, seed: int) -> Truth:
    """A reference card: two columns of small tables below headings, set independently."""
    sheet = _Sheet(path, seed, landscape(A4))
    sheet.heading(1, sheet.words(3).title(), 20)
    top = sheet.y
    for (left, _), pitch in zip(sheet.columns(2, 60), (15, 16.5), strict=True):
        sheet.left, sheet.column, sheet.y = left, 320, top
        for _ in range(3):
            sheet.heading(2, sheet.words(3).capitalize(), 13)
            for _ in range(5):
                sheet.y -= pitch
                sheet.canvas.setFont("Helvetica", _SIZE)
                cells = (sheet.words(1), sheet.words(2), str(sheet.chance.randint(10, 999)))
                for cell, x in zip(cells, (0, 100, 240), strict=True):
                    sheet.canvas.drawString(left + x, sheet.y, cell)
                sheet.truth.texts += cells
            sheet.y -= 14
    return sheet.save()


def letter(path: Path, seed: int) -> Truth:
    """A sender at the right, an address at the left, a subject in bold, and the text."""
    sheet = _Sheet(path, seed)
    sheet.left = 380
    for _ in range(3):
        sheet.put(sheet.words(3).title(), gap=0)
    sheet.left, sheet.y = _MARGIN, sheet.y - 30
    for _ in range(3):
        sheet.put(sheet.words(3).title(), gap=0)
    sheet.y -= 30
    sheet.heading(1, sheet.words(5).capitalize(), 11)
    for _ in range(3):
        sheet.paragraph()
    sheet.put(sheet.words(2).title())
    return sheet.save()


DESIGNS: dict[str, Callable[[Path, int], Truth]] = {
    "report": report,
    "paper": paper,
    "charts": charts,
    "newsletter": newsletter,
    "newspaper": newspaper,
    "side notes": side_notes,
    "form": form,
    "slides": slides,
    "card": card,
    "letter": letter,
}
