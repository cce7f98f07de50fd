"""A PDF's text layer as PDFium has it, to make good what liteparse leaves out or changes.

It writes dashes and quotes as ASCII, and drops numbers that stand alone.
"""

import unicodedata
from collections.abc import Iterable
from itertools import chain
from typing import Any

from carrel.server.reading.layout import Box, Line

_PLAIN = str.maketrans({
    **dict.fromkeys("‘’‚‛", "'"),
    **dict.fromkeys("“”„‟", '"'),
    **dict.fromkeys("‐‑‒–—―", "-"),
})  # fmt: skip
_LOOSE = str.maketrans({**_PLAIN, **dict.fromkeys(map(ord, "-‐‑‒–—―\u00ad\ufffe"))})
"""Leaves out hyphens too: one reader keeps and another drops those at line ends."""
_MARGIN = 1.0
"""Points around a line within which its letters are looked for."""


class TextLayer:
    """The text of one page that is not turned."""

    def __init__(self, text_page: Any, crop_box: tuple[float, float, float, float]) -> None:
        """`text_page` is PDFium's; `crop_box` the page's left, bottom, right and top edges."""
        self._page = text_page
        self._left, _, _, self._top = crop_box
        self._text: str = text_page.get_text_range()

    def restore_characters(self, pieces: Iterable[tuple[Any, Any]]) -> None:
        """Gives pieces of text their own characters back, where only ASCII was the difference.

        Each piece is an object with a `text`, and one with its `x`, `y`, `width` and `height`.
        """
        if self._text == self._text.translate(_PLAIN):
            return
        for piece, place in pieces:
            left, top = self._left + place.x, self._top - place.y
            exact = self._page.get_text_bounded(
                left - _MARGIN,
                top - place.height - _MARGIN,
                left + place.width + _MARGIN,
                top + _MARGIN,
            )
            if _folded(exact) == _folded(piece.text):
                piece.text = " ".join(exact.split())

    def missing_lines(self, items: Iterable[Any]) -> list[Line]:
        """The lines of the page that are not among liteparse's items."""
        items = list(items)
        if len(_folded(self._text)) <= len(_folded("".join(item.text for item in items))):
            return []
        boxes = [Box(i.x, i.y, i.x + i.width, i.y + i.height) for i in items]
        missing = []
        place = 0
        for number in range(self._page.count_rects()):
            left, bottom, right, top = self._page.get_rect(number)
            box = Box(left - self._left, self._top - top, right - self._left, self._top - bottom)
            centre = box.centre
            # Both go by the order in the file: the item of this line is the next one or near.
            for near in chain(range(place, len(boxes)), range(place)):
                if boxes[near].holds(*centre):
                    place = near
                    break
            else:
                text = " ".join(self._page.get_text_bounded(left, bottom, right, top).split())
                if text:
                    missing.append(Line(text, box, box.height))
        return missing


def _folded(text: str) -> str:
    """What two spellings of one text have in common."""
    plain = unicodedata.normalize("NFKC", text.translate(_LOOSE))
    return "".join(plain.split())
