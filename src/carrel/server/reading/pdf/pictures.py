"""Pictures embedded in a PDF page."""

import ctypes
from collections.abc import Iterator
from functools import partial
from typing import Any

from pypdfium2 import raw

from carrel.server.reading.page.elements import Box, join_boxes
from carrel.server.reading.pdf.page_space import Bounds, PageSpace

_WITH_PICTURES = {raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM}
_DEPTH = 3
"""Levels of nested forms searched for pictures."""
_SAME = 1.0
"""Points. Edges of the strips of one picture are no further apart."""
_BACKGROUND = 0.9
"""A picture covering more than this fraction of the page is the page itself."""


def embedded_pictures(page: Any, space: PageSpace) -> list[Box]:
    """Return the boxes of a PDFium page's pictures in its upright layout."""
    width, height = space.layout_size
    boxes = []
    for bounds, _ in _pictures(page):
        left, top, right, bottom = space.to_layout(bounds)
        box = Box(max(0.0, left), max(0.0, top), min(width, right), min(height, bottom))
        if box.width > 0 and box.height > 0:
            boxes.append(box)
    # Some programs cut a picture into strips.
    return join_boxes(boxes, _continues)


def _continues(one: Box, other: Box) -> bool:
    """Return whether two boxes of one width or height touch along a whole side."""
    first, second = sorted((one, other))
    stacked = _is_same(one.left, other.left) and _is_same(one.right, other.right)
    beside = _is_same(one.top, other.top) and _is_same(one.bottom, other.bottom)
    return (stacked and (_is_same(one.bottom, other.top) or _is_same(other.bottom, one.top))) or (
        beside and _is_same(first.right, second.left)
    )


def _is_same(one: float, other: float) -> bool:
    return abs(one - other) <= _SAME


def is_background(picture: Box, size: tuple[float, float]) -> bool:
    """Return whether a picture covers a whole page of this size."""
    width, height = size
    return picture.width * picture.height > _BACKGROUND * width * height


def finest_picture(page: Any) -> float:
    """Return the pixels per point of the finest picture on a page, 0 if there is none."""
    return max(
        (pixels / (right - left) for (left, _, right, _), pixels in _pictures(page)), default=0.0
    )


def _pictures(page: Any) -> Iterator[tuple[Bounds, int]]:
    """Yield each picture's bounds on the page and its width in pixels."""
    if not _has_pictures(page):
        return
    for picture in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=_DEPTH):
        bounds, form = _clipped(picture), picture.container
        while form is not None:
            # Bounds inside a form are in its own coordinates.
            bounds, form = form.get_matrix().on_rect(*bounds), form.container
        if bounds[2] > bounds[0]:
            yield bounds, picture.get_px_size()[0]


def _clipped(picture: Any) -> Bounds:
    """Return the bounds of what is shown of a picture: programs cut pictures with a clip path."""
    left, bottom, right, top = picture.get_bounds()
    clip, x, y = raw.FPDFPageObj_GetClipPath(picture), ctypes.c_float(), ctypes.c_float()
    for path in range(max(0, raw.FPDFClipPath_CountPaths(clip))):
        points = []
        for number in range(raw.FPDFClipPath_CountPathSegments(clip, path)):
            raw.FPDFPathSegment_GetPoint(raw.FPDFClipPath_GetPathSegment(clip, path, number), x, y)
            points.append((x.value, y.value))
        if points:
            (x0, x1), (y0, y1) = ((min(at), max(at)) for at in zip(*points, strict=True))
            left, bottom, right, top = max(left, x0), max(bottom, y0), min(right, x1), min(top, y1)
    return left, bottom, right, top


def _has_pictures(page: Any) -> bool:
    """Return whether a page has pictures or forms, without examining its hundreds of objects."""
    numbers = range(raw.FPDFPage_CountObjects(page.raw))
    objects = map(partial(raw.FPDFPage_GetObject, page.raw), numbers)
    return not _WITH_PICTURES.isdisjoint(map(raw.FPDFPageObj_GetType, objects))
