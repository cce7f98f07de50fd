"""Asks the OCR process for the text in a picture, inside a parser."""

from collections.abc import Callable
from typing import Any

from PIL import Image

from carrel.server.reading.page.elements import PageFrame

Look = Callable[[Image.Image], dict[str, Any]]
"""Reads an RGB picture in the OCR process, by way of the server."""

_UNTURN = {
    90: Image.Transpose.ROTATE_90,
    180: Image.Transpose.ROTATE_180,
    270: Image.Transpose.ROTATE_270,
}


def turned_back(picture: Image.Image, frame: PageFrame) -> Image.Image:
    """Undo the quarter turn of a page's picture."""
    return picture.transpose(_UNTURN[frame.turn]) if frame.turn else picture
