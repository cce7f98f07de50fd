"""Boxes of mathematical symbols, cut to the height of letters."""

from collections.abc import Sequence

from carrel.server.reading.page.parsed import TextItem

_TALL = 1.6
"""Least height of a box that only symbols have, as a multiple of the type size."""
_TALLEST = 4.0
"""Greatest height of such a box: that of the tallest symbol."""


def cut_symbols(items: Sequence[TextItem]) -> None:
    """Cut the boxes of lines with symbols, in place.

    The symbols of TeX's fonts hang below their line, so the box of a line with one reaches into
    the next. Where most boxes are as tall, sizes are stated otherwise, and the boxes stay.
    """
    tall = [item for item in items if item.height > _TALL * item.size]
    if 2 * len(tall) >= len(items):
        return
    for item in tall:
        if not item.rotation and item.height <= _TALLEST * item.size:
            item.height = item.size
