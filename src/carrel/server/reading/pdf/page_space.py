"""Where PDFium's places on a page lie in the page's upright layout."""

from typing import Any

from carrel.server.reading.page.elements import Box, PageFrame

Bounds = tuple[float, float, float, float]
"""Left, bottom, right and top in points, as a PDF counts them: upwards."""


class PageSpace:
    """The place of a page's crop box, and how far its content is turned."""

    def __init__(self, page: Any, turn: int = 0, unit: float = 1) -> None:
        """`page` is PDFium's; `turn` is how far its content is turned, as it is shown.

        `unit` is how many points of the layout are one of PDFium's, which knows nothing of pages
        that count in other units.
        """
        self._unit = unit
        left, bottom, right, top = page.get_cropbox()
        self._left, self._top = left, top
        # PDFium's places know nothing of how the page is shown.
        turn = (turn - page.get_rotation()) % 360
        self._frame = PageFrame(unit * (right - left), unit * (top - bottom), turn)
        self.layout_size = self._frame.upright_size
        self._upright = PageFrame(*self.layout_size, -turn % 360)

    def in_layout(self, bounds: Bounds) -> Box:
        """The rectangle of the layout at a place of PDFium's."""
        left, bottom, right, top = bounds
        edges = (left - self._left, self._top - top, right - self._left, self._top - bottom)
        return self._upright.on_page(Box(*(self._unit * edge for edge in edges)))

    def in_pdf(self, box: Box) -> Bounds:
        """PDFium's place of a rectangle of the layout."""
        left, top, right, bottom = (edge / self._unit for edge in self._frame.on_page(box))
        return self._left + left, self._top - bottom, self._left + right, self._top - top
