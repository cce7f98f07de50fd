"""Pages to be scanned: digital documents in four fonts, and what a scanner makes of them."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
import reportlab
from PIL import Image, ImageFilter
from reportlab.lib import colors
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    Flowable,
    Frame,
    Paragraph,
    Table,
)

from benchmarks.ocr.prose import LANGUAGES, Prose

SIZES = (8, 9, 10, 11, 12)
COLUMNS = (1, 2)
RESOLUTIONS = (150, 200)

_DEBIAN = Path("/usr/share/fonts/truetype")
_OWN = Path(reportlab.__file__).parent / "fonts"
_FONTS = {
    "Vera": (_OWN / "Vera.ttf", _OWN / "VeraBd.ttf"),
    "DejaVu Serif": (
        _DEBIAN / "dejavu/DejaVuSerif.ttf",
        _DEBIAN / "dejavu/DejaVuSerif-Bold.ttf",
    ),
    "Liberation Sans": (
        _DEBIAN / "liberation/LiberationSans-Regular.ttf",
        _DEBIAN / "liberation/LiberationSans-Bold.ttf",
    ),
    "Liberation Serif": (
        _DEBIAN / "liberation/LiberationSerif-Regular.ttf",
        _DEBIAN / "liberation/LiberationSerif-Bold.ttf",
    ),
}
_MARGIN, _GUTTER = 56, 24


@dataclass(frozen=True)
class Sheet:
    """A digital page and its text layer, line by line in reading order."""

    name: str
    language: str
    path: Path
    lines: tuple[str, ...]

    def picture(self, dpi: int) -> Image.Image:
        """The page in greys."""
        with pypdfium2.PdfDocument(self.path) as document:
            picture: Image.Image = document[0].render(scale=dpi / 72).to_pil().convert("L")
            return picture


def missing_fonts() -> list[Path]:
    """Files of fonts that are not installed."""
    return [path for paths in _FONTS.values() for path in paths if not path.exists()]


def sheets(folder: Path) -> Iterator[Sheet]:
    """A page for every font, size and number of columns, in turn in every language."""
    kinds = itertools.product(_FONTS, SIZES, COLUMNS)
    for number, (font, size, columns) in enumerate(kinds):
        regular, bold = _FONTS[font]
        registerFont(TTFont(font, regular))
        registerFont(TTFont(f"{font} Bold", bold))
        # Every second page is English. Vera has no Czech letters.
        language = LANGUAGES[0 if number % 2 else 1 + number // 2 % 4]
        if (font, language) == ("Vera", "ces"):
            language = "fra"
        path = folder / f"{number:02}.pdf"
        _draw(path, font, size, columns, Prose(language, number), number)
        name = f"{font} {size} pt, {columns} columns, {language}"
        yield Sheet(name, language, path, _layer(path))


def newspapers(folder: Path) -> Iterator[Sheet]:
    """Pages of two narrow justified columns with a rule between them, below a headline."""
    for number, (font, size) in enumerate(itertools.product(_FONTS, (8, 9, 10))):
        regular, bold = _FONTS[font]
        registerFont(TTFont(font, regular))
        registerFont(TTFont(f"{font} Bold", bold))
        language = "eng" if number % 2 else "fra"
        path, prose = folder / f"newspaper-{number:02}.pdf", Prose(language, number)
        canvas = Canvas(str(path), pagesize=A4, invariant=1)
        canvas.setFont(f"{font} Bold", 24)
        canvas.drawString(_MARGIN, A4[1] - 80, prose.title())
        body = ParagraphStyle(
            "body", fontName=font, fontSize=size, leading=1.2 * size, alignment=TA_JUSTIFY
        )
        width, height = 170, A4[1] - 150
        for left in (_MARGIN, _MARGIN + width + 12):
            frame = Frame(left, _MARGIN, width, height, 0, 0, 0, 0)
            while frame.add(Paragraph(prose.paragraph(3), body), canvas):
                pass
        canvas.line(_MARGIN + width + 6, _MARGIN, _MARGIN + width + 6, _MARGIN + height)
        canvas.save()
        yield Sheet(f"{font} {size} pt, {language}", language, path, _layer(path))


def _draw(path: Path, font: str, size: int, columns: int, prose: Prose, number: int) -> None:
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    canvas.setFont(font, 8)
    canvas.drawString(_MARGIN, A4[1] - 36, prose.title())
    width = (A4[0] - 2 * _MARGIN - (columns - 1) * _GUTTER) / columns
    height = A4[1] - 2 * _MARGIN
    for column in range(columns):
        left = _MARGIN + column * (width + _GUTTER)
        frame = Frame(left, _MARGIN, width, height, 0, 0, 0, 0)
        for part in _parts(prose, font, size, width):
            if not frame.add(part, canvas):
                break
    canvas.setFont(font, 8)
    canvas.drawCentredString(A4[0] / 2, 28, str(number + 11))
    canvas.save()


def _parts(prose: Prose, font: str, size: int, width: float) -> Iterator[Flowable]:
    """What stands in a column: a heading, text, a list, a table, and text without end."""
    item = ParagraphStyle("item", fontName=font, fontSize=size, leading=1.25 * size)
    body = ParagraphStyle("body", parent=item, spaceAfter=0.7 * size)
    title = ParagraphStyle(
        "title",
        fontName=f"{font} Bold",
        fontSize=1.5 * size,
        leading=1.9 * size,
        spaceBefore=size,
        spaceAfter=0.5 * size,
    )
    yield Paragraph(prose.title(), title)
    yield Paragraph(prose.paragraph(3), body)
    yield Paragraph(prose.paragraph(2), body)
    for number in range(1, 4):
        yield Paragraph(f"{number}. {prose.sentence()}", item)
    yield Table(
        [[Paragraph(cell, item) for cell in prose.row()] for _ in range(4)],
        colWidths=[width * part for part in (0.38, 0.28, 0.34)],
        style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("VALIGN", (0, 0), (-1, -1), "TOP")],
        spaceBefore=size,
        spaceAfter=size,
    )
    yield Paragraph(prose.title(), title)
    while True:
        yield Paragraph(prose.paragraph(3), body)


def _layer(path: Path) -> tuple[str, ...]:
    with pypdfium2.PdfDocument(path) as document:
        text: str = document[0].get_textpage().get_text_range()
    return tuple(line for line in map(str.strip, text.splitlines()) if line)


def _skewed(picture: Image.Image, number: int) -> Image.Image:
    angle = 2 if number % 2 else -2
    return picture.rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=255)


def _noisy(picture: Image.Image, number: int) -> Image.Image:
    """Slightly out of focus, grainy, with specks."""
    random = np.random.default_rng(number)
    pixels = np.asarray(picture.filter(ImageFilter.GaussianBlur(0.6)), np.float64)
    pixels = pixels * 0.85 + 25 + random.normal(0, 20, pixels.shape)
    specks = random.random(pixels.shape) < 0.0005
    pixels[specks] = random.choice((0, 255), int(specks.sum()))
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def _turned(picture: Image.Image, number: int) -> Image.Image:
    turns: tuple[Any, ...] = (
        Image.Transpose.ROTATE_90,
        Image.Transpose.ROTATE_180,
        Image.Transpose.ROTATE_270,
    )
    return picture.transpose(turns[number % 3])


def _coarse(picture: Image.Image, number: int) -> Image.Image:
    """A hundred pixels an inch."""
    return picture.resize((827, 1169), Image.Resampling.BOX)


def _faxed(picture: Image.Image, number: int) -> Image.Image:
    """Black and white, in the fine resolution of fax machines, not quite straight, with specks."""
    picture = picture.rotate(0.6, Image.Resampling.BICUBIC, fillcolor=255)
    pixels = np.asarray(picture.resize((1728, 2156), Image.Resampling.BICUBIC)) < 150
    specks = np.random.default_rng(number).random(pixels.shape) < 0.0008
    return Image.fromarray(np.where(pixels | specks, 0, 255).astype(np.uint8))


def _photographed(picture: Image.Image, number: int) -> Image.Image:
    """By a telephone: from the side, in the shadow of the hand, out of focus, on a dark table."""
    width, height = picture.size
    random = np.random.default_rng(number)
    inner = random.uniform(0.02, 0.07, (4, 2)) * (width, height)
    corners = [(0, 0), (width, 0), (width, height), (0, height)]
    moved = [
        (x + (1 if x == 0 else -1) * dx, y + (1 if y == 0 else -1) * dy)
        for (x, y), (dx, dy) in zip(corners, inner, strict=True)
    ]
    rows, results = [], []
    for (u, v), (x, y) in zip(moved, corners, strict=True):
        rows += [[u, v, 1, 0, 0, 0, -x * u, -x * v], [0, 0, 0, u, v, 1, -y * u, -y * v]]
        results += [x, y]
    view = tuple(np.linalg.solve(np.array(rows), np.array(results)))
    seen = picture.transform(
        picture.size, Image.Transform.PERSPECTIVE, view, Image.Resampling.BICUBIC, fillcolor=70
    ).filter(ImageFilter.GaussianBlur(0.7))
    across, down = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, height))
    light = 0.95 - 0.45 / (1 + np.exp(-12 * (across * 0.6 + down * 0.8 - random.uniform(0.7, 1.0))))
    grain = random.normal(0, 4, light.shape)
    return Image.fromarray((np.asarray(seen) * light + grain).clip(0, 255).astype(np.uint8))


SCANNERS: dict[str, Callable[[Image.Image, int], Image.Image]] = {
    "clean": lambda picture, _: picture,
    "skewed": _skewed,
    "noisy": _noisy,
    "turned": _turned,
    "coarse": _coarse,
    "faxed": _faxed,
    "photographed": _photographed,
}
"""What happens to a page between paper and picture; the number varies it."""
