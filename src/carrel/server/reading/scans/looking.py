"""Requests a page's regions from the OCR process, inside a parser."""

from collections.abc import Callable, Sequence
from typing import Any

from PIL import Image

from carrel.server.processes.pipes import Task
from carrel.server.reading.page.elements import Box, PageFrame
from carrel.server.reading.page.seen import ModelRegion

Look = Callable[[Task, Image.Image], dict[str, Any]]
"""Runs a task on an RGB picture in the OCR process, by way of the server."""

_UNTURN = {
    90: Image.Transpose.ROTATE_90,
    180: Image.Transpose.ROTATE_180,
    270: Image.Transpose.ROTATE_270,
}


def turned_back(picture: Image.Image, frame: PageFrame) -> Image.Image:
    """Undo the quarter turn of a page's picture."""
    return picture.transpose(_UNTURN[frame.turn]) if frame.turn else picture


def page_regions(picture: Image.Image, frame: PageFrame, look: Look) -> list[ModelRegion]:
    """Return the regions of a page that the model sees in its picture."""
    return placed_regions(look("regions", turned_back(picture, frame))["regions"], frame)


def placed_regions(found: Sequence[Sequence[Any]], frame: PageFrame) -> list[ModelRegion]:
    """Convert regions of a picture without quarter turn to points of the layout."""
    width, height = frame.upright_size
    regions = []
    for kind, confidence, (left, top, right, bottom) in found:
        across, down = (left + right) / 2 * width, (top + bottom) / 2 * height
        # Use the middles of the sides: the corners of a skewed box reach further.
        box = Box(
            frame.straightened(left * width, down)[0],
            frame.straightened(across, top * height)[1],
            frame.straightened(right * width, down)[0],
            frame.straightened(across, bottom * height)[1],
        )
        regions.append(ModelRegion(kind, box, confidence))
    return regions
