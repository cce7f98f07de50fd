"""Places on a page are those of its own box, wherever the file says it."""

from contextlib import closing

import pypdfium2

from carrel.server.reading.page.elements import Box
from carrel.server.reading.pdf.page_space import PageSpace
from support.documents import raw_pdf

TEXT = b"BT /F1 10 Tf 20 390 Td (Total) Tj ET"


def _places(file: bytes) -> tuple[tuple[float, float], Box]:
    """The size of the layout of a file's page, and the place of its first letter in it."""
    with (
        closing(pypdfium2.PdfDocument(file)) as document,
        closing(document[0]) as page,
        closing(page.get_textpage()) as text_page,
    ):
        space = PageSpace(page)
        letter = text_page.get_charbox(0)
        box = space.to_layout(letter)
        # Up to the precision of PDFium's numbers.
        assert [round(edge, 2) for edge in space.to_pdf(box)] == [round(at, 2) for at in letter]
        return space.layout_size, box


def test_a_page_whose_size_all_pages_share_has_its_text_in_place() -> None:
    inherited = raw_pdf(TEXT, kids=b"3 0 R]/MediaBox[0 0 200 400")
    size, box = _places(inherited.replace(b"/MediaBox[0 0 300", b"/OtherBox[0 0 300"))
    assert size == (200, 400)
    assert 0 < box.top < box.bottom <= 10 and 20 <= box.left < 30


def test_places_on_a_turned_page_are_those_of_its_crop_box() -> None:
    size, box = _places(raw_pdf(TEXT, size=400, page=b"/CropBox[10 100 210 400]/Rotate 90"))
    assert size == (300, 200)
    assert 290 <= box.left < box.right < 300 and 10 <= box.top < 20
