"""Pages whose text layer says everything, and pages on which text is only drawn."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import reportlab
from PIL import Image, ImageDraw, ImageFilter
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from support.documents import TEXT, font

SENTENCES = [f"{sentence.strip('.')}." for sentence in TEXT.split(". ")]
_VERA = Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"
_WIDTH, _HEIGHT = A4


def prose(canvas: Canvas, top: float, lines: int) -> None:
    """Lines of text, 16 points apart."""
    for number in range(lines):
        canvas.drawString(72, top - 16 * number, SENTENCES[number % len(SENTENCES)])


def text_picture(width: int = 900, lines: int = 6, *, paper: str = "white") -> Image.Image:
    """A picture of lines of text and nothing else."""
    picture = Image.new("RGB", (width, 60 * lines), paper)
    draw = ImageDraw.Draw(picture)
    ink = "black" if paper == "white" else "white"
    for number in range(lines):
        text = SENTENCES[number % len(SENTENCES)]
        draw.text((20, 20 + 56 * number), text, fill=ink, font=font(26))
    return picture


def photograph(width: int = 900, height: int = 600) -> Image.Image:
    """A picture with soft and hard edges and no words."""
    chance = random.Random(5)
    picture = Image.new("RGB", (width, height), (120, 150, 190))
    draw = ImageDraw.Draw(picture)
    for _ in range(300):
        x, y, size = chance.randrange(width), chance.randrange(height), chance.randrange(6, 90)
        colour = tuple(chance.randrange(256) for _ in range(3))
        draw.ellipse((x, y, x + size, y + size // 2), fill=colour)
    return picture.filter(ImageFilter.GaussianBlur(1))


def chart(width: int = 900, height: int = 600) -> Image.Image:
    """A picture of bars with a title, a legend and labels."""
    picture = Image.new("RGB", (width, height), (225, 250, 250))
    draw = ImageDraw.Draw(picture)
    draw.text((250, 10), "Books that were lent in each year", fill="black", font=font(22))
    for number in range(12):
        left, top = 90 + 55 * number, 480 - 30 * (number % 7 + 3)
        draw.rectangle((left, top, left + 40, 500), fill=(80, 90, 140), outline="black")
        for stripe in range(top, 500, 6):
            draw.line((left, stripe, left + 40, stripe), fill="white")
        draw.text((left, 510), str(2001 + number), fill="black", font=font(15))
    for number, name in enumerate(("Printed books", "Journals and maps", "Letters")):
        draw.text((760, 80 + 24 * number), name, fill="black", font=font(15))
    for number in range(8):
        draw.text((50, 90 + 50 * number), str(100 * (8 - number)), fill="black", font=font(15))
    return picture


def flow_chart(width: int = 700) -> Image.Image:
    """A picture of steps one below the other, as many as fill it."""
    steps = ["Gather the catalogue cards", "Sort them by shelf and room", "Count what is lent"]
    picture = Image.new("RGB", (width, 900), "white")
    draw = ImageDraw.Draw(picture)
    for number in range(9):
        top = 20 + 96 * number
        draw.text((150, top), f"Step {number + 1} of the yearly count", fill="black", font=font(30))
        draw.text((150, top + 40), steps[number % 3], fill="black", font=font(26))
    return picture


def placed(canvas: Canvas, picture: Image.Image, left: float, bottom: float, width: float) -> None:
    """Draws a picture so many points wide."""
    canvas.drawInlineImage(picture, left, bottom, width, width * picture.height / picture.width)


def outlines(canvas: Canvas, left: float, bottom: float, width: float) -> None:
    """Lines of text as filled outlines, as drawing programs write them."""
    picture = np.asarray(text_picture().convert("L"))
    shapes, _ = cv2.findContours(
        np.asarray(picture < 128, np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE
    )
    scale = width / picture.shape[1]
    path = canvas.beginPath()
    for shape in shapes:
        (x, y), *rest = shape[:, 0, :].tolist()
        path.moveTo(left + x * scale, bottom + (picture.shape[0] - y) * scale)
        for x, y in rest:
            path.lineTo(left + x * scale, bottom + (picture.shape[0] - y) * scale)
        path.close()
    canvas.drawPath(path, stroke=0, fill=1, fillMode=0)


def _utf_16(code: int) -> bytes:
    return chr(code).encode("utf-16-be").hex().upper().encode()


def mapped_pdf(
    path: Path, letter: Callable[[int], int], stamp: str = "", *, lines: int = 12
) -> Path:
    """A page of text, or only its stamp, in a font that says that a glyph is another letter."""
    pdfmetrics.registerFont(TTFont("Vera", _VERA))
    canvas = Canvas(str(path), pagesize=A4, pageCompression=0)
    canvas.setFont("Vera", 11)
    if stamp:
        for number, line in enumerate(stamp.split("\n")):
            canvas.drawString(72, 810 - 12 * number, line)
        canvas.setFont("Helvetica", 11)
    prose(canvas, 760, 6 if stamp else lines)
    canvas.save()
    path.write_bytes(
        re.sub(
            rb"<([2-7][0-9A-F])> <00[0-9A-F]{2}>",
            lambda found: b"<%s> <%s>" % (found[1], _utf_16(letter(int(found[1], 16)))),
            path.read_bytes(),
        )
    )
    return path
