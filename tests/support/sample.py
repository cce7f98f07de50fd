"""Makes the sample document that is shipped: `python -m support.sample` writes it anew.

Its fonts are those that every PDF reader has, so that none is inside it.
"""

import io
from pathlib import Path

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Table, TableStyle

import carrel.samples

INK, ACCENT, LINE = (
    colors.HexColor("#1f2430"),
    colors.HexColor("#2f5d8a"),
    colors.HexColor("#c8ced8"),
)

BODY = ParagraphStyle(
    "body", fontName="Helvetica", fontSize=11, leading=17, textColor=INK, spaceAfter=4 * mm
)
TITLE = ParagraphStyle(
    "title", BODY, fontName="Helvetica-Bold", fontSize=24, leading=30, spaceAfter=8 * mm
)
HEADING = ParagraphStyle(
    "heading", BODY, fontName="Helvetica-Bold", fontSize=14, leading=20, textColor=ACCENT,
    spaceBefore=5 * mm, spaceAfter=2 * mm,
)  # fmt: skip

LIMITS = (
    ("What", "From", "To"),
    ("Size of a file", "1 byte", "512 MB"),
    ("Hours that a link to a file works", "1", "168"),
    ("Characters of a passage in a library", "256", "32,768"),
    ("Versions of an agent", "1", "as many as you make"),
)


def sample_pdf() -> bytes:
    """The document, the same bytes each time."""
    table = Table(
        [[Paragraph(cell, BODY) for cell in row] for row in LIMITS],
        colWidths=(85 * mm, 35 * mm, 40 * mm),
        style=TableStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.5, LINE),
                ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#eef2f7")),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("TOPPADDING", (0, 0), (-1, -1), 4),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 0),
            ]
        ),
    )
    story: list[Flowable] = [
        Paragraph("A guide to the workbench", TITLE),
        Paragraph(
            "This document is a sample. With it you can see how a page is read, how a library is "
            "searched, and how an agent answers a question and names its source.",
            BODY,
        ),
        Paragraph("Files", HEADING),
        Paragraph(
            "A file may have up to 512 megabytes. To let somebody else read it, copy a link: the "
            "link to a file works for 1 to 168 hours, and 24 hours is usual. Whoever has the link "
            "needs no key, so give it only to those who may read the file.",
            BODY,
        ),
        Paragraph("Reading a document", HEADING),
        Paragraph(
            "Scans and photographs are read by recognising the letters; a digital document is "
            "read from the text that is inside it. Each page becomes text with headings, lists "
            "and tables, and every block of the text knows its place on the page. A word that "
            "was hard to read is marked as doubtful.",
            BODY,
        ),
        Paragraph("Libraries", HEADING),
        Paragraph(
            "A library holds documents that an agent can search. A document is ready as soon as "
            "its pages are read and its passages are in the index. A folder can be kept in step "
            "with a library: what is new in the folder is uploaded, and what was renamed there is "
            "renamed in the library.",
            BODY,
        ),
        PageBreak(),
        Paragraph("Agents", HEADING),
        Paragraph(
            "An agent is a model with instructions of your own. Every change makes a new version, "
            "and the versions before it stay. Compare any two, and make an older one active again "
            "when it was better.",
            BODY,
        ),
        Paragraph("Answers with sources", HEADING),
        Paragraph(
            "An agent that has a library searches it before it answers. Below the answer stand "
            "the passages that were found. Choose one to see the page it comes from, with the "
            "passage marked.",
            BODY,
        ),
        Paragraph("Limits", HEADING),
        table,
    ]  # fmt: skip
    buffer = io.BytesIO()
    SimpleDocTemplate(
        buffer, pagesize=A4, title="A guide to the workbench", author="Carrel", invariant=1,
        leftMargin=25 * mm, rightMargin=25 * mm, topMargin=25 * mm, bottomMargin=25 * mm,
    ).build(story)  # fmt: skip
    return buffer.getvalue()


if __name__ == "__main__":
    Path(carrel.samples.__file__).with_name("guide.pdf").write_bytes(sample_pdf())
