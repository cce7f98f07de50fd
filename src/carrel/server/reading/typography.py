"""The dashes and quotes of a PDF's text layer, which liteparse writes as ASCII."""

import unicodedata
from collections.abc import Iterable
from typing import Any

_PLAIN = str.maketrans({
    **dict.fromkeys("‘’‚‛", "'"),
    **dict.fromkeys("“”„‟", '"'),
    **dict.fromkeys("‐‑‒–—―", "-"),
})  # fmt: skip
_MARGIN = 1.0
"""Points around a line within which its letters are looked for."""


def restore(text_page: Any, height: float, pieces: Iterable[tuple[Any, Any]]) -> None:
    """Gives text its own characters back, where they only differ by what ASCII lacks.

    `text_page` is PDFium's; each piece is an object with a `text` and its place (`x`, `y`,
    `width`, `height`, from the top left) on a page `height` points high.
    """
    text = text_page.get_text_range()
    if text == text.translate(_PLAIN):
        return
    for piece, place in pieces:
        top = height - place.y
        exact = text_page.get_text_bounded(
            place.x - _MARGIN,
            top - place.height - _MARGIN,
            place.x + place.width + _MARGIN,
            top + _MARGIN,
        )
        if _folded(exact) == _folded(piece.text):
            piece.text = " ".join(exact.split())


def _folded(text: str) -> str:
    """What two spellings of one text have in common."""
    plain = unicodedata.normalize("NFKC", text.translate(_PLAIN))
    return "".join(
        letter for letter in plain if not letter.isspace() and letter not in "-\u00ad\ufffe"
    )
