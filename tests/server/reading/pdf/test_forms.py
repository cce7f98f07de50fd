"""PDFs with a form that was filled in."""

from pathlib import Path

import pypdfium2
import pytest
from reportlab.pdfbase.pdfdoc import PDFString
from reportlab.pdfgen.canvas import Canvas

from server.reading.conftest import Read
from support.documents import filled_form

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("rotation", [0, 90])
async def test_values_of_fields_are_read_where_they_stand(
    tmp_path: Path, read: Read, rotation: int
) -> None:
    filled_form(tmp_path / "a.pdf")
    with pypdfium2.PdfDocument(tmp_path / "a.pdf") as document:
        document[0].set_rotation(rotation)
        document.save(tmp_path / "b.pdf")
    [page] = (await read(tmp_path / "b.pdf")).pages
    assert page.markdown.split("\n\n") == [
        "Please fill in every field of this form in clear letters, and sign it on the next page.",
        "Ada Lovelace of London",
        "We write to [the address](https://example.org/) that you give us, and to no other.",
        "- ☒ By letter\n- ☐ By telephone",
        "The office is open from nine to twelve on every working day of the week but Wednesday.",
    ]
    assert page.hyperlinks == ["https://example.org/"]


async def test_a_value_in_capitals_is_no_heading(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.drawString(
        72, 700, "Please fill in every field of this form, and sign it on the next page."
    )
    place = {"x": 72, "y": 645, "width": 400, "height": 18, "borderWidth": 0}
    canvas.acroForm.textfield(name="name", value="ADA LOVELACE OF LONDON", fontSize=12, **place)
    canvas.drawString(72, 600, "We write to the address that you give us, and to no other.")
    canvas.save()
    [page] = (await read(tmp_path / "a.pdf")).pages
    assert page.markdown.split("\n\n")[1:] == [
        "ADA LOVELACE OF LONDON",
        "We write to the address that you give us, and to no other.",
    ]


@pytest.mark.xfail(
    strict=True, reason="the page model takes a line in capitals between texts for a heading"
)
async def test_a_value_in_capitals_without_its_field_is_no_heading(
    tmp_path: Path, read: Read
) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.drawString(
        72, 700, "Please fill in every field of this form, and sign it on the next page."
    )
    canvas.drawString(72, 650, "ADA LOVELACE OF LONDON")
    canvas.drawString(72, 600, "We write to the address that you give us, and to no other.")
    canvas.save()
    [page] = (await read(tmp_path / "a.pdf")).pages
    assert "#" not in page.markdown


async def test_comments_on_a_form_are_read_with_their_authors(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.drawString(72, 700, "Name and address of the one who asks:")
    canvas.acroForm.textfield(name="name", x=72, y=660, width=400, height=20, borderWidth=0)
    canvas.textAnnotation("Née Müller?", (300, 690, 320, 710), T=PDFString("Ada"))
    canvas.highlightAnnotation("By hand", (72, 698, 110, 712), T=PDFString("Bo"))
    canvas.save()
    [page] = (await read(tmp_path / "a.pdf")).pages
    assert page.markdown.split("\n\n") == [
        "Name and address of the one who asks:", "Ada: Née Müller?", "Bo: By hand",
    ]  # fmt: skip


async def test_an_empty_form_is_read_as_its_page(tmp_path: Path, read: Read) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.drawString(72, 700, "Name and address of the one who asks:")
    canvas.acroForm.textfield(name="name", x=72, y=660, width=400, height=20, borderWidth=0)
    canvas.save()
    [page] = (await read(tmp_path / "a.pdf")).pages
    assert page.markdown == "Name and address of the one who asks:"
