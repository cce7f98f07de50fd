"""Parts to a page for the wire: all of it certain, none of it with a position."""

import io
import warnings
from collections.abc import Sequence

from PIL import Image

from carrel.server.reading.markdown.page_builder import NOWHERE, PageBuilder
from carrel.server.reading.office.parts import Part, text_part
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.scans.picture import on_white
from carrel.wire.ocr import Dimensions, Page

PAPERLESS = Dimensions(dpi=200, height=2339, width=1654)
"""Dimensions reported for a page without paper: A4."""
_MAX_PIXELS = 50_000_000
"""Most pixels of an embedded picture; a larger one is left out."""


def compose_parts(index: int, parts: Sequence[Part], options: ReadOptions) -> Page:
    """Compose the page for the wire."""
    builder = PageBuilder(index, options, lambda _: NOWHERE)
    for part in parts:
        if part.table is not None:
            builder.add_table(part.table, markdown=part.text if part.text.length else None)
        elif part.picture is not None:
            _add_picture(builder, part.picture)
        else:
            builder.add(part.kind, part.text)
    return builder.page(PAPERLESS, (link for part in parts for link in part.links))


def _add_picture(builder: PageBuilder, data: bytes) -> None:
    if picture := _decode(data):
        builder.add_image(picture.size, lambda: picture)
    elif not data:
        builder.add("image", text_part("image", "", "*[damaged picture]*").text)


def _decode(data: bytes) -> Image.Image | None:
    """Decode a picture; None for a drawing, a broken one, or one of too many pixels."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture: Image.Image = Image.open(io.BytesIO(data))
        if picture.width * picture.height > _MAX_PIXELS:
            return None
        return on_white(picture)
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError):
        return None
