"""Pictures of pages in a cell: with boxes, and as data URLs."""

import base64
import io
from collections.abc import Iterable
from html import escape

from PIL import Image, ImageDraw, ImageOps

from carrel.store.documents.blocks import Rect

SURE = (37, 99, 235)
DOUBTFUL = (217, 119, 6)
"""RGB colours of boxes: readable on white paper beside black ink."""


EDGE = (200, 200, 200)
"""RGB colour of the edge of a small page, which is white on white otherwise."""


def open_picture(png: bytes) -> Image.Image:
    """Decode a page's PNG."""
    with Image.open(io.BytesIO(png)) as picture:
        return picture.convert("RGB")


def draw_frame(
    page: Image.Image, boxes: Iterable[tuple[Rect, tuple[int, int, int]]]
) -> Image.Image:
    """Return the page with a coloured frame around each box."""
    picture = page.copy()
    draw = ImageDraw.Draw(picture)
    line = max(1, page.width // 300)
    for rect, colour in boxes:
        left, top = rect.left * page.width, rect.top * page.height
        right, bottom = left + rect.width * page.width, top + rect.height * page.height
        draw.rectangle((left - line, top - line, right + line, bottom + line), None, colour, line)
    return picture


def as_tag(picture: Image.Image, words: str) -> str:
    """Return the picture as a small HTML image with `words` as its text."""
    words, style = escape(words), "display: inline-block; margin: 4px"
    address = as_address(ImageOps.expand(picture, 1, EDGE), 60)
    return f'<img src="{address}" alt="{words}" title="{words}" style="{style}">'


def as_address(picture: Image.Image, quality: int = 75) -> str:
    """Return the picture as the data URL of a JPEG."""
    jpeg = io.BytesIO()
    picture.convert("RGB").save(jpeg, "JPEG", quality=quality)
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg.getvalue()).decode()}"
