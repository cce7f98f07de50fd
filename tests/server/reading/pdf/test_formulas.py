"""Formulas of a text layer: what liteparse takes for one and is none."""

from pathlib import Path

import pypdfium2
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from carrel.server.reading.page.parsed import TextItem
from carrel.server.reading.pdf.formulas import with_display_formulas
from carrel.server.reading.pdf.page_space import PageSpace

SIZE, LEFT, TOP = 10, 40, 100
LINES = ["The groups are OCH and no more", "with an Ad group of the ring as"]


def _item(line: int, start: str, text: str, said: str = "") -> TextItem:
    """A piece of a drawn line, which `said` is taken for."""
    place = (LEFT + stringWidth(start, "Times-Roman", SIZE), TOP + 12 * line - 7)
    width = stringWidth(text, "Times-Roman", SIZE)
    return TextItem(said or text, *place, width, 9, 0, "Times-Roman", SIZE, ())


def test_underlined_letters_above_a_line_are_no_fraction(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(300, 200))
    canvas.setFont("Times-Roman", SIZE)
    for number, line in enumerate(LINES):
        canvas.drawString(LEFT, 200 - TOP - 12 * number, line)
    canvas.save()
    above, below = "The groups are OC", "with an Ad group o"
    items = [
        _item(0, "", above),
        _item(0, above, "H", "$\\frac{H}{f}$"),
        _item(0, f"{above}H", " and no more"),
        _item(1, "", below),
        _item(1, f"{below}f", " the ring as"),
    ]
    with pypdfium2.PdfDocument(tmp_path / "a.pdf") as document:
        page = document[0]
        text_page = page.get_textpage()
        found, _ = with_display_formulas(items, [], page, text_page, PageSpace(page, 0, 1.0))
    assert [item.text for item in found if len(item.text) < 3] == ["H", "f"]
    assert not any("$" in item.text for item in found)


def test_a_fraction_without_letters_in_the_text_layer_stays(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(300, 200))
    canvas.showPage()
    canvas.save()
    items = [_item(0, "", "H", "$\\frac{H}{f}$")]
    with pypdfium2.PdfDocument(tmp_path / "a.pdf") as document:
        page = document[0]
        text_page = page.get_textpage()
        found, _ = with_display_formulas(items, [], page, text_page, PageSpace(page, 0, 1.0))
    assert [item.text for item in found] == ["$\\frac{H}{f}$"]


def test_a_mark_before_a_formula_is_of_the_word_before_it(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(300, 200))
    canvas.showPage()
    canvas.save()
    item = _item(0, "", "x", "$.MLP_{reg}$")
    with pypdfium2.PdfDocument(tmp_path / "a.pdf") as document:
        page = document[0]
        text_page = page.get_textpage()
        found, _ = with_display_formulas([item], [], page, text_page, PageSpace(page, 0, 1.0))
    assert [item.text for item in found] == [". $MLP_{reg}$"]
