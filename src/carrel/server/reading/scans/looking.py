"""Requests a page's regions and table cells from the OCR process, inside a parser."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from PIL import Image

from carrel.server.reading.page.elements import Box, PageFrame
from carrel.server.reading.page.seen import CellBox, ModelRegion, Structure
from carrel.server.reading.processes.pipes import Task

Look = Callable[[Task, Image.Image], dict[str, Any]]
"""Runs a task on an RGB picture in the OCR process, by way of the server."""

_AROUND_TABLE = 4.0
"""Points. Margin around a table in its picture."""
_UNTURN = {
    90: Image.Transpose.ROTATE_90,
    180: Image.Transpose.ROTATE_180,
    270: Image.Transpose.ROTATE_270,
}


def turned_back(picture: Image.Image, frame: PageFrame) -> Image.Image:
    """Undoes the quarter turn of a page's picture."""
    return picture.transpose(_UNTURN[frame.turn]) if frame.turn else picture


def page_regions(picture: Image.Image, frame: PageFrame, look: Look) -> list[ModelRegion]:
    """The regions of a page, as seen in its picture."""
    return placed_regions(look("regions", turned_back(picture, frame))["regions"], frame)


def placed_regions(found: Sequence[Sequence[Any]], frame: PageFrame) -> list[ModelRegion]:
    """Converts regions of a picture without quarter turn to points of the layout."""
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


def table_structure(shown: Callable[[], Image.Image], frame: PageFrame, look: Look) -> Structure:
    """Asks for table cells in a page's picture, which is rendered on first use."""

    @cache
    def level() -> Image.Image:
        picture = turned_back(shown(), frame).convert("RGB")
        if not frame.skew:
            return picture
        return picture.rotate(frame.skew, Image.Resampling.BILINEAR, fillcolor=(255, 255, 255))

    def cells(table: Box) -> list[CellBox]:
        width, height = frame.upright_size
        left, top = max(0.0, table.left - _AROUND_TABLE), max(0.0, table.top - _AROUND_TABLE)
        right = min(width, table.right + _AROUND_TABLE)
        bottom = min(height, table.bottom + _AROUND_TABLE)
        picture = level()
        scale = picture.width / width
        edges = (round(left * scale), round(top * scale), round(right * scale))
        crop = picture.crop((*edges, round(bottom * scale)))
        if not crop.width or not crop.height:
            return []
        return [
            CellBox(
                row,
                column,
                rows,
                columns,
                Box(
                    left + box[0] * (right - left),
                    top + box[1] * (bottom - top),
                    left + box[2] * (right - left),
                    top + box[3] * (bottom - top),
                ),
            )
            for row, column, rows, columns, box in look("cells", crop)["cells"]
        ]

    return cells
