"""Pictures embedded in a PDF page."""

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from pypdfium2 import raw

from carrel.server.reading.page.elements import Box, group_connected, join_boxes
from carrel.server.reading.pdf.page_space import Bounds, PageSpace

_WITH_PICTURES = {raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM}
_DEPTH = 3
"""Levels of nested forms searched for pictures."""
_SAME = 1.0
"""Points. Edges of the strips of one picture are no further apart."""
_SCRAP, _REACH = 60.0, 6.0
"""Points. Smaller pictures, so near each other, are parts of one that was put together."""
_TALL = 25.0
"""Height of a rule between columns, as a multiple of its width."""
_BACKGROUND = 0.9
"""A picture covering more than this fraction of the page is the page itself."""


def embedded_pictures(page: Any, space: PageSpace) -> list[Box]:
    """Return the boxes of a PDFium page's pictures in its upright layout."""
    width, height = space.layout_size
    found = (space.to_layout(bounds) for bounds, _ in _pictures(page))
    shown = (Box(max(0.0, x), max(0.0, y), min(width, r), min(height, b)) for x, y, r, b in found)
    # Some programs cut a picture into strips.
    return join_boxes((box for box in shown if box.width > 0 and box.height > 0), _continues)


def _continues(one: Box, other: Box) -> bool:
    """Return whether two boxes of one width or height touch along a whole side, or are the same."""
    stacked = abs(one.left - other.left) <= _SAME and abs(one.right - other.right) <= _SAME
    beside = abs(one.top - other.top) <= _SAME and abs(one.bottom - other.bottom) <= _SAME
    if stacked == beside:
        return stacked
    return abs(one.shared_height(other) if stacked else one.shared_width(other)) <= _SAME


def figures_of(
    pictures: Iterable[Box], drawings: Sequence[Box], size: tuple[float, float]
) -> tuple[list[Box], list[Box]]:
    """Return the pictures and drawings on a page of this size, without backgrounds and rules.

    Small ones side by side are one, a drawing if any is.
    """
    most = _BACKGROUND * size[0] * size[1]
    shown = (p for p in pictures if p.width * p.height <= most and p.height < _TALL * p.width)
    whole = list(map(Box.around, group_connected([*drawings, *shown], _are_scraps)))
    drawn = [box for box in whole if any(box.contains(part, 0) for part in drawings)]
    return [box for box in whole if box not in drawn], drawn


def _are_scraps(one: Box, other: Box) -> bool:
    """Return whether both are small and near each other."""
    near = one.is_near(other, _REACH)
    return near and all(min(box.width, box.height) < _SCRAP for box in (one, other))


def finest_picture(page: Any) -> float:
    """Return the pixels per point of the finest picture on a page, 0 if there is none."""
    found = (pixels / (right - left) for (left, _, right, _), pixels in _pictures(page))
    return max(found, default=0.0)


def _pictures(page: Any) -> Iterator[tuple[Bounds, int]]:
    """Yield each picture's bounds on the page and its width in pixels."""
    # Most pages have none: their hundreds of objects need not be examined.
    objects = map(partial(raw.FPDFPage_GetObject, page.raw), range(raw.FPDFPage_CountObjects(page)))
    if _WITH_PICTURES.isdisjoint(map(raw.FPDFPageObj_GetType, objects)):
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
