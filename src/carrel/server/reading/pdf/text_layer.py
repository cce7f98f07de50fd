"""A PDF's text layer as PDFium reads it, to correct liteparse's omissions and changes.

liteparse writes dashes and quotes as ASCII, drops lone numbers and what is beyond the Basic
Multilingual Plane (letters of Word's formulas), and gives right-to-left text in any order.
"""

import ctypes
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, compress
from typing import Any

import numpy as np
from pypdfium2 import raw

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.lines import font_style
from carrel.server.reading.page.parsed import PlacedWord, TextItem
from carrel.server.reading.pdf.garbage import is_unmapped
from carrel.server.reading.pdf.page_space import PageSpace
from carrel.server.reading.pdf.right_to_left import RIGHT_TO_LEFT, with_logical_order

_QUOTES, _DASHES = "‘’‚‛“”„‟", "‐‑‒–—―"
_WIDE, _PAD = re.compile("[\U00010000-\U0010ffff]"), "\ufdd0"
"""Letters of Word's formulas, and emoji. PDFium counts each as two: a pad is the second."""
_SIGNS = re.compile(f"[{_QUOTES}{_DASHES}{_PAD}]")
_PLAIN_SIGNS, _DASH = re.compile("['\"-]"), re.compile(f"[-{_DASHES}]")
_LOOSE = str.maketrans(
    _QUOTES,
    "'" * 4 + '"' * 4,
    f"{_PAD} \t\r\n\xa0\u2002\u2003\u2009\u200a\u202f-{_DASHES}\u00ad\ufffe",
)
"""Also drops hyphens: one reader keeps and the other drops those at line ends."""
_LETTER = re.compile(r"\s(?![a-z]{2})([(\[]?)(?:[^\W\d]|`)(?![^\W\d])(\S*)")
"""A letter alone or before digits: a font that holds only ₹ may give it the code of any letter."""
_PI_FONT = re.compile("wingdings|webdings|europeanpi", re.IGNORECASE)
_PI_BULLET = re.compile(r"^[\0-\x1f!-\xff](?= |$)")
_BULLET = re.compile(r"^[\0-\x1f\x7f-\x9f](?= )")
_TICKS = {"þ": "☒", "ý": "☒", "¨": "☐", "o": "☐", "ü": "✓", "û": "✗"}
"""Signs of Wingdings that answer a question."""
_3B2 = re.compile("Adv(?!TT|OT)")
"""Fonts of a typesetter of journals, which give signs the codes of other characters."""
_SIGNS_3B2, _PI_3B2 = str.maketrans("=¼þðÞ", "/=+()"), str.maketrans("12356", "+−×=±")
_PRIVATE = re.compile(r"[\uf021-\uf07e\uf0a0-\uf0e5](?<!^.(?= ))")
"""Codes of the signs in a symbol font, but for a bullet before a text."""
_SYMBOL = (
    "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖω"
    "ξψζ{|}∼" + 33 * " " + "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑"
)
"""The signs of the font Symbol, from the first of these codes on."""
_CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f]")
_PARTS = re.compile(r"(\r\n|\.(?: ?\.){4,})")
"""What parts the text of a page: the ends of lines, and leaders."""
_ALONE = 6
"""Most letters of a line that may occur in another line by chance."""
_TIMES, _RAISED = "[×·∙x]", 0.2
"""What stands before a power of ten, and how high its exponent, as a part of the digits' height."""
_POWER = re.compile(rf"{_TIMES} ?(?P<power>10(?P<digits>[-−–]?\d{{1,2}}))(?![\d.,])")
_SCRIPTS = 0.4
"""Reach of the scripts of formulas in a line, as a part of its height."""
_NEAR = 3.0
"""Points around the middle of a word in which one of its letters stands."""
_MARGIN = 1.0
"""Points around a line in which to search for its letters."""


def correct_items(
    items: Sequence[TextItem], text_page: Any, space: PageSpace
) -> tuple[list[TextItem], list[Line]]:
    """Return liteparse's items with PDFium's characters and order, and the lines missing there."""
    layer = TextLayer(text_page, space)
    if not layer.text.isascii() and RIGHT_TO_LEFT.search(layer.text):
        items = with_logical_order(items, text_page, space)
    known = _fold_all([item.text for item in items])
    known = layer.restore_characters(items, known)
    layer.raise_powers(items)
    letters = _LETTER.finditer(f" {layer.text}")
    odd = (at for at in letters if "Rupee" in font_name(text_page, at.end(1) - 1))
    rupees = {at[0][1:]: f"{at[1]}₹{at[2]}" for at in odd}
    codes = _PRIVATE.finditer(layer.text)
    codes = (at for at in codes if "Symbol" in font_name(text_page, at.start()))
    signs = {at[0]: _SYMBOL[ord(at[0]) - 0xF021] for at in codes}
    for item in items:
        # liteparse tells the font of the first word.
        if len(item.words) > 1 and font_style(item.font)[0]:
            item.run_in = not layer.is_bold(item.words[-1])
        text = " ".join(rupees.get(w, w) for w in item.text.split(" ")) if rupees else item.text
        bullet = _PI_BULLET if text[1:2] in " " and _PI_FONT.search(item.font) else _BULLET
        if bullet is _PI_BULLET or not text.isprintable():
            text = bullet.sub(lambda sign: _TICKS.get(sign[0], "•"), text)
            text = _CONTROL.sub("\ufffd", text)
            text = _PRIVATE.sub(lambda code: signs.get(code[0], code[0]), text)
        if _3B2.match(item.font):
            # Mathematical Pi holds no digits.
            first = text[:1].translate(_PI_3B2) if "7DA6" in item.font else text[:1]
            text = (first + text[1:]).translate(_SIGNS_3B2)
        item.text = text
    return list(items), layer.missing_lines(items, known)


class TextLayer:
    """The text of one page, by position in the upright layout."""

    def __init__(self, text_page: Any, space: PageSpace) -> None:
        """`text_page` is PDFium's."""
        self._page = text_page
        self._space = space
        self.text = _padded(text_page.get_text_range())
        # liteparse leaves out leaders, and not what they stand between.
        texts = _PARTS.split(self.text)
        starts = accumulate(map(len, texts), initial=0)
        self._rows = [row for row in zip(starts, texts, strict=False) if row[1] != "\r\n"]
        self._folded = _fold_all(text for _, text in self._rows)

    def restore_characters(self, items: Sequence[TextItem], known: list[str]) -> list[str]:
        """Restore characters that liteparse replaces or leaves out; return the texts folded."""
        if self.text.isascii() or not _SIGNS.search(self.text):
            return known
        lettered = _PAD in self.text
        exact = defaultdict[str, set[str]](set)
        for (_, text), folded in zip(self._rows, self._folded, strict=True):
            exact[_without_letters(text) if lettered else folded].add(text)
        whole = " ".join(self.text.split())
        for item, folded in zip(items, known, strict=False):
            if RIGHT_TO_LEFT.search(item.text):
                continue
            # Rows may differ in letters of formulas alone, and hold dashes in further cells.
            text = min(exact[folded]) if len(exact[folded]) == 1 else ""
            dashes = len(_DASH.findall(item.text))
            if not text or len(_DASH.findall(text)) > dashes:
                if item.text in whole and not _PLAIN_SIGNS.search(item.text):
                    continue
                # Lines that are set close reach into the next one's box, as do lone letters.
                near = self._text_within(item.box, 0.0 if lettered else _MARGIN)
                rows = (row for row in near.splitlines() if len(_DASH.findall(row)) == dashes)
                text = next((row for row in rows if _without_letters(row) == folded), near)
            if _without_letters(text) == folded:
                item.text = " ".join(text.replace(_PAD, "").split())
        return _fold_all([item.text for item in items]) if lettered else known

    def raise_powers(self, items: Iterable[TextItem]) -> None:
        """Write the raised digits of powers of ten as such: 5 × 10⁵ is not 5 × 105."""
        for power in _POWER.finditer(self.text):
            ends = (power.start("power"), power.end() - 1)
            ten, last = map(self._space.to_layout, map(self._page.get_charbox, ends))
            if last.bottom > ten.bottom - _RAISED * ten.height:
                continue
            flat = re.compile(rf"((?:^|{_TIMES}) ?){power['power']}(?!\d)")
            for item in items:
                if item.box.holds_centre(last):
                    item.text = flat.sub(rf"\1$10^{{{power['digits']}}}$", item.text, count=1)

    def is_bold(self, word: PlacedWord) -> bool:
        """Return whether a word is in bold type."""
        left, bottom, right, top = self._space.to_pdf(Box.of(word))
        place = ((left + right) / 2, (bottom + top) / 2)
        number = raw.FPDFText_GetCharIndexAtPos(self._page, *place, _NEAR, _NEAR)
        return number < 0 or font_style(font_name(self._page, number))[0]

    def _text_within(self, box: Box, margin: float = 0.0) -> str:
        """Return the text within `margin` points of a box."""
        left, bottom, right, top = self._space.to_pdf(box)
        bounds = (left - margin, bottom - margin, right + margin, top + margin)
        return _padded(self._page.get_text_bounded(*bounds))

    def missing_lines(self, items: Sequence[TextItem], known: Sequence[str]) -> list[Line]:
        """Return the lines of the page that are missing from liteparse's items of `known` texts."""
        counts, whole, found = Counter(known), "".join(known), Counter(self._folded)
        # liteparse splits a longer row into several items.
        unknown = [
            (start, text)
            for (start, text), folded in zip(self._rows, self._folded, strict=True)
            if found[folded] > counts.get(folded, 0)
            and not (len(folded.strip(".")) > _ALONE and folded in whole)
            and not (len(text) > _ALONE and is_unmapped(text))
            and not is_invisible(self._page, start)
        ]
        page, missing = Box(0, 0, *self._space.layout_size), list[Line]()
        tops, heights = np.array([(item.y, item.height) for item in items]).reshape(-1, 2).T
        for start, row in unknown:
            rects = range(self._page.count_rects(start, len(row)))
            pieces = [self._space.to_layout(self._page.get_rect(number)) for number in rects]
            if pieces and _PARTS.fullmatch(row):
                row, pieces = "…", [Box.around(pieces)]
            for box in pieces:
                near = np.abs(tops - box.top) < box.height + 2 * heights
                places = map(_box_with_scripts, compress(items, near))
                there = any(place.holds_centre(box) or box.holds_centre(place) for place in places)
                if there or not page.holds_centre(box):
                    continue
                text = row if len(pieces) == 1 else self._text_within(box)
                if text := _CONTROL.sub("\ufffd", " ".join(text.replace(_PAD, "").split())):
                    missing.append(Line(text, box, box.height))
        return missing


def font_name(text_page: Any, number: int) -> str:
    """Return the name of the font of a character."""
    name, flags = ctypes.create_string_buffer(200), ctypes.c_int()
    raw.FPDFText_GetFontInfo(text_page, number, name, len(name), flags)
    return name.value.decode(errors="replace")


def is_invisible(text_page: Any, number: int) -> bool:
    """Return whether a character is never drawn."""
    mode = raw.FPDFTextObj_GetTextRenderMode(raw.FPDFText_GetTextObject(text_page, number))
    return bool(mode == raw.FPDF_TEXTRENDERMODE_INVISIBLE)


def _box_with_scripts(item: TextItem) -> Box:
    """Return the box of an item, of one with formulas with the scripts above and below it."""
    reach = _SCRIPTS * item.height if "$" in item.text else 0.0
    return item.box._replace(top=item.y - reach, bottom=item.y + item.height + reach)


def _fold_all(texts: Iterable[str]) -> list[str]:
    """Fold texts so that their spellings by both readers compare equal: one call is faster."""
    whole = "\0".join(text.replace("\0", "") for text in texts)
    return unicodedata.normalize("NFKC", whole.translate(_LOOSE)).split("\0")


def _padded(text: str) -> str:
    """Return a text with plain letters in formulas: terminals' fonts have no 𝑥, searches find x."""
    return _WIDE.sub(lambda found: unicodedata.normalize("NFKC", found[0]) + _PAD, text)


def _without_letters(text: str) -> str:
    """Fold a text, without the letters of formulas."""
    return _fold_all([re.sub(f".{_PAD}", "", text)])[0]
