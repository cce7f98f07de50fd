"""Documents for the tests, made when needed: digital and scanned PDFs, pictures, office files.

Everything is drawn with the fonts inside reportlab's wheel, so no system font matters.
"""

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pypdfium2
import reportlab
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    Flowable,
    ListFlowable,
    PageBreak,
    Paragraph,
    SimpleDocTemplate,
    Table,
    TableStyle,
)

TEXT = (
    "The reading room opens at nine. Every carrel has a lamp, a chair and a window. "
    "Readers may keep books at their desk for a week."
)
"""The paragraph on every page unless a test asks for its own."""

HEADER = "Library Quarterly"
HEADING = "Rules of the Reading Room"
LIST = ("Pens stay outside.", "Bags go into a locker.", "Whisper near the stairs.")
TABLE = (("Room", "Seats", "Floor"), ("North", "24", "1"), ("South", "36", "2"))

_FONTS = Path(reportlab.__file__).parent / "fonts"


def font(size: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Bitstream Vera in `size` pixels."""
    return ImageFont.truetype(_FONTS / ("VeraBd.ttf" if bold else "Vera.ttf"), size)


def filled_form(path: Path) -> Path:
    """Write a form with a filled, an empty and a hidden field, two check boxes and a link."""
    canvas = Canvas(str(path), pagesize=A4)
    form = canvas.acroForm
    for y, text in (
        (700, "Please fill in every field of this form in clear letters, and sign it on the"),
        (686, "next page."),
        (620, "We write to the address that you give us, and to no other."),
        (580, "By letter"),
        (560, "By telephone"),
        (500, "The office is open from nine to twelve on every working day of the week but"),
        (486, "Wednesday."),
    ):
        canvas.drawString(92 if text.startswith("By") else 72, y, text)
    for y, value, flags in (
        (650, "Ada Lovelace of London", "print"),
        (540, "", "print"),
        (520, "AN EARLIER NAME", "hidden"),
    ):
        place = {"x": 72, "y": y, "width": 400, "height": 18, "borderWidth": 0}
        form.textfield(name=f"f{y}", value=value, fontSize=12, annotationFlags=flags, **place)
    for y, checked in ((578, True), (558, False)):
        form.checkbox(name=f"f{y}", checked=checked, x=72, y=y, size=14)
    canvas.linkURL("https://example.org/", (139, 616, 207, 634))
    canvas.save()
    return path


def digital_pdf(path: Path, pages: int = 2, text: str = TEXT) -> Path:
    """An A4 PDF with a text layer: a heading, `text`, a list and a table on every page.

    The heading of page n ends in n (from 1); a header and a footer with the page's number
    run through the document.
    """
    styles = getSampleStyleSheet()
    story: list[Flowable] = []
    for number in range(1, pages + 1):
        story += [
            Paragraph(f"{HEADING} {number}", styles["Heading1"]),
            Paragraph(escape(text), styles["BodyText"]),
            ListFlowable([Paragraph(item, styles["BodyText"]) for item in LIST], bulletType="1"),
            Table(
                [list(row) for row in TABLE],
                style=TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)]),
                colWidths=100,
                spaceBefore=12,
            ),
            PageBreak(),
        ]

    def decorate(canvas: Canvas, document: SimpleDocTemplate) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(72, A4[1] - 40, HEADER)
        canvas.drawCentredString(A4[0] / 2, 30, f"Page {document.page} of {pages}")

    template = SimpleDocTemplate(str(path), pagesize=A4, title=HEADING, invariant=1)
    template.build(story, onFirstPage=decorate, onLaterPages=decorate)
    return path


def pdf_of_pictures(path: Path, pages: int) -> Path:
    """An A4 PDF with a heading and another picture on every page."""
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    for number in range(1, pages + 1):
        plate = Image.effect_noise((240, 180), 20 + number).convert("RGB")
        canvas.setFont("Helvetica", 18)
        canvas.drawString(72, A4[1] - 90, f"Plate {number}")
        canvas.drawInlineImage(plate, 120, 400, 340, 255)
        canvas.showPage()
    canvas.save()
    return path


def page_pictures(pdf: Path, dpi: int = 150) -> list[Image.Image]:
    """The pages of a PDF as RGB pictures."""
    with pypdfium2.PdfDocument(pdf) as document:
        return [page.render(scale=dpi / 72).to_pil().convert("RGB") for page in document]


def scanned_pdf(
    path: Path, pages: int = 1, text: str = TEXT, *, dpi: int = 150, turn: int = 0
) -> Path:
    """The pages of `digital_pdf` as pictures without a text layer.

    `turn` is how far each picture is turned clockwise: 0, 90, 180 or 270 degrees.
    """
    pictures = page_pictures(digital_pdf(path, pages, text), dpi)
    turned = [picture.rotate(-turn, expand=True) for picture in pictures]
    turned[0].save(path, "PDF", resolution=dpi, save_all=True, append_images=turned[1:])
    return path


def picture(path: Path, text: str = TEXT, *, size: int = 28, mode: str = "RGB") -> Path:
    """Black `text` on white, wrapped at 60 letters; the suffix of `path` chooses the format."""
    words, lines = text.split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 60:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    image = Image.new("RGB", (60 * size * 2 // 3, (len(lines) + 2) * size * 2), "white")
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines, 1):
        draw.text((size * 2, number * size * 2), line, fill="black", font=font(size))
    image.convert(mode).save(path)
    return path


def docx(path: Path, text: str = TEXT, *, heading: str = HEADING) -> Path:
    """A Word document of a heading and one paragraph."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1"'
        f' Type="{office}/relationships/officeDocument" Target="word/document.xml"/>'
        "</Relationships>",
        "word/document.xml": f'<w:document xmlns:w="{word}"><w:body>'
        f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
        f"<w:r><w:t>{escape(heading)}</w:t></w:r></w:p>"
        f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p></w:body></w:document>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{content}')
    return path


def raw_pdf(
    content: bytes,
    *,
    size: int = 300,
    extra: bytes = b"",
    page: bytes = b"",
    kids: bytes = b"3 0 R",
) -> bytes:
    """The smallest PDF: one square page of `size` points with this content stream.

    `extra` goes into the stream's dictionary, for filters, `page` into the page's; `kids` are
    the pages, of which number 3 is there. Its font is F1.
    """
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, kids.count(b"R")),
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/MediaBox[0 0 %d %d]%s"
        b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>"
        % (size, size, page),
        b"<</Length %d %s>>stream\n%s\nendstream" % (len(content), extra, content),
    ]
    pdf, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(pdf))
        pdf += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    end = b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(pdf)
    return pdf + b"xref\n0 5\n0000000000 65535 f \n" + table + end
