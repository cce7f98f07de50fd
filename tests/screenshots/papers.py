"""The documents that are seen in the pictures, beside the shipped sample: the same at each run."""

import json
from pathlib import Path

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Table, TableStyle

from support.documents import docx, page_pictures

BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=10, leading=14, spaceAfter=3 * mm)
TITLE = ParagraphStyle("title", BODY, fontName="Times-Bold", fontSize=20, leading=26)
HEADING = ParagraphStyle(
    "heading", BODY, fontName="Times-Bold", fontSize=13, leading=18, spaceBefore=3 * mm
)

CLAUSES = (
    (
        "§ 1 The rooms",
        "Let are the reading room on the ground floor, the gallery above it and two store rooms, "
        "together 214 square metres, as the plan in annex A shows them.",
        "The tenant uses the rooms as a library that is open to the public. Another use needs the "
        "landlord's consent in writing.",
    ),
    (
        "§ 2 Rent",
        "The rent is due on the third working day of each month. It changes once a year, as the "
        "table says, and includes heating and water.",
    ),
    (
        "§ 3 Repairs",
        "The landlord keeps roof, windows and lift in order. The tenant reports a fault within "
        "ten days; small repairs up to 150 euros are the tenant's own.",
    ),
    (
        "§ 4 Term and notice",
        "The lease begins on 1 April 2024 and runs for five years. The notice period is three "
        "months to the end of a quarter. Notice must be given in writing.",
        "When the lease ends, shelves that are screwed to the walls stay where they are, and the "
        "landlord pays what they are worth then.",
    ),
    (
        "§ 5 Keys",
        "The tenant receives twelve keys. A lost key is reported on the same day; the lock is "
        "changed at the expense of whoever lost it.",
    ),
)
RENT = (
    ("Year", "Rent a month", "Heating and water"),
    ("2024", "1,200.00", "180.00"),
    ("2025", "1,240.00", "185.00"),
    ("2026", "1,280.00", "190.00"),
)
PLAN = (
    "Annex A: the plan of the ground floor. The reading room has 36 seats and six carrels "
    "along the north wall. The gallery is reached by the stairs beside the desk."
)


def write(folder: Path) -> Path:
    """Writes the documents into a folder, and gives it."""
    folder.mkdir()
    lease(folder / "lease-2024.pdf")
    scan = page_pictures(lease(folder / "scan.pdf"), dpi=110)
    # Small grey print: some of its words are hard to read.
    grey = [page.convert("L").resize((page.width * 3 // 5, page.height * 3 // 5)) for page in scan]
    grey[0].save(folder / "scan.pdf", "PDF", resolution=66, save_all=True, append_images=grey[1:])
    docx(folder / "annex-a.docx", PLAN, heading="Annex A")
    questions = ("Who pays for a lost key?", "How long is the notice period?", "When is rent due?")
    lines = [
        json.dumps({"custom_id": f"q-{number}", "body": {"question": question}})
        for number, question in enumerate(questions * 40, 1)
    ]
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def lease(path: Path) -> Path:
    """A lease of two pages with numbered clauses and a table."""
    table = Table(
        [list(row) for row in RENT],
        colWidths=(30 * mm, 45 * mm, 50 * mm),
        style=TableStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.5, colors.grey),
                ("FONT", (0, 0), (-1, 0), "Times-Bold", 10),
                ("FONT", (0, 1), (-1, -1), "Times-Roman", 10),
            ]
        ),
        spaceAfter=4 * mm,
        hAlign="LEFT",
    )
    story: list[Flowable] = [Paragraph("Lease of the reading room", TITLE)]
    for number, (heading, *paragraphs) in enumerate(CLAUSES, 1):
        if number == 4:
            story.append(PageBreak())
        story.append(Paragraph(heading, HEADING))
        story += [Paragraph(text, BODY) for text in paragraphs]
        if number == 2:
            story.append(table)
    SimpleDocTemplate(
        str(path), pagesize=A4, title="Lease of the reading room", invariant=1,
        leftMargin=25 * mm, rightMargin=25 * mm, topMargin=25 * mm, bottomMargin=25 * mm,
    ).build(story)  # fmt: skip
    return path
