"""Conversion between PDFium's coordinates and a page's upright layout."""

from typing import Any

from carrel.server.reading.page.elements import Box, PageFrame

Bounds = tuple[float, float, float, float]
"""Left, bottom, right and top in points, with the y axis of a PDF: upwards."""


class PageSpace:
    """Conversion by a page's crop box and the rotation of its content."""

    def __init__(self, page: Any, turn: int = 0, unit: float = 1) -> None:
        """`page` is PDFium's; `turn` is the rotation of its content as displayed.

        `unit` is layout points per PDFium point, since PDFium ignores a page's UserUnit.
        """
        self._unit = unit
        left, bottom, right, top = page.get_bbox()
        self._left, self._top = left, top
        # PDFium's coordinates ignore the page's display rotation.
        turn = (turn - page.get_rotation()) % 360
        self._frame = PageFrame(unit * (right - left), unit * (top - bottom), turn)
        self.layout_size = self._frame.upright_size
        self._upright = PageFrame(*self.layout_size, -turn % 360)

    def to_layout(self, bounds: Bounds) -> Box:
        """Convert PDFium's bounds to a box in the layout."""
        left, bottom, right, top = bounds
        unit, x, y = self._unit, self._left, self._top
        box = Box(unit * (left - x), unit * (y - top), unit * (right - x), unit * (y - bottom))
        return self._upright.on_page(box)

    def to_pdf(self, box: Box) -> Bounds:
        """Convert a box in the layout to PDFium's bounds."""
        left, top, right, bottom = (edge / self._unit for edge in self._frame.on_page(box))
        return self._left + left, self._top - bottom, self._left + right, self._top - top
