"""A PDF's text layer as PDFium has it, to make good what liteparse leaves out or changes.

It writes dashes and quotes as ASCII, and drops numbers that stand alone.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

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


class _Row(NamedTuple):
    """A line of the text layer, and where in the layer's text it starts."""

    start: int
    text: str
    folded: str


class TextLayer:
    """The text of one page that is not turned."""

    def __init__(self, text_page: Any, crop_box: tuple[float, float, float, float]) -> None:
        """`text_page` is PDFium's; `crop_box` the page's left, bottom, right and top edges."""
        self._page = text_page
        self._left, _, _, self._top = crop_box
        self._text: str = text_page.get_text_range()
        self._rows: list[_Row] = []
        start = 0
        for text in self._text.splitlines(keepends=True):
            self._rows.append(_Row(start, text, _folded(text)))
            start += len(text)

    def restore_characters(self, pieces: Iterable[tuple[Any, Any]]) -> None:
        """Gives pieces of text their own characters back, where only ASCII was the difference.

        Each piece is an object with a `text`, and one with its `x`, `y`, `width` and `height`.
        """
        if self._text == self._text.translate(_PLAIN):
            return
        exact = {row.folded: row.text for row in self._rows}
        for piece, place in pieces:
            folded = _folded(piece.text)
            text = exact.get(folded)
            if text is None:
                box = Box(place.x, place.y, place.x + place.width, place.y + place.height)
                text = self.text_in(box, _MARGIN)
            if _folded(text) == folded:
                piece.text = " ".join(text.split())

    def text_in(self, box: Box, margin: float = 0.0) -> str:
        """The text inside a box of the page and so many points around it."""
        text: str = self._page.get_text_bounded(
            self._left + box.left - margin,
            self._top - box.bottom - margin,
            self._left + box.right + margin,
            self._top - box.top + margin,
        )
        return text

    def missing_lines(self, items: Iterable[Any]) -> list[Line]:
        """The lines of the page that are not among liteparse's items."""
        items = list(items)
        known = Counter(_folded(item.text) for item in items)
        found = Counter(row.folded for row in self._rows)
        boxes = [Box(i.x, i.y, i.x + i.width, i.y + i.height) for i in items]
        missing = []
        for row in self._rows:
            if row.folded and found[row.folded] > known[row.folded]:
                missing += [
                    Line(text, box, box.height)
                    for text, box in self._pieces(row)
                    if not any(item.holds(*box.centre) for item in boxes)
                ]
        return missing

    def _pieces(self, row: _Row) -> Iterator[tuple[str, Box]]:
        """The runs of letters of a row that stand together."""
        for number in range(self._page.count_rects(row.start, len(row.text))):
            left, bottom, right, top = self._page.get_rect(number)
            box = Box(left - self._left, self._top - top, right - self._left, self._top - bottom)
            text = " ".join(self.text_in(box).split())
            if text:
                yield text, box


def _folded(text: str) -> str:
    """What two spellings of one text have in common."""
    plain = unicodedata.normalize("NFKC", text.translate(_LOOSE))
    return "".join(plain.split())
