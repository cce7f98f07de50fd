"""Accents that typesetters draw over their letters."""

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from server.reading.conftest import Read

pytestmark = pytest.mark.asyncio(loop_scope="module")
SIZE = 12


async def test_accents_drawn_over_letters_are_of_them_and_apostrophes_are_not(
    tmp_path: Path, read: Read
) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.setFont("Times-Roman", SIZE)
    for y, text in (
        (700, "Our colleague M¨uller came with Jos´e, who lives pr`es de Besan¸con."),
        (686, "Then Etienne said that he had read it, and that it isn´t all that l´ong."),
    ):
        _draw(canvas, 72, y, text)
    # Over a capital letter it is drawn after the line, and higher.
    x = 72 + canvas.stringWidth("Then ", "Times-Roman", SIZE)
    canvas.drawString(x + 1.5, 688, "´")
    # It may follow its letter, too.
    for letter, shift in (("e", 0.0), ("ˆ", 0.5), ("n", 5.3)):
        canvas.drawString(72 + shift, 640, letter)
    canvas.save()
    [page] = (await read(tmp_path / "a.pdf")).pages
    said = " ".join(page.markdown.split())
    assert said == (
        "Our colleague Müller came with José, who lives près de Besançon. "
        "Then Étienne said that he had read it, and that it isn´t all that l´ong. ên"
    )


def _draw(canvas: Canvas, x: float, y: float, text: str) -> None:
    """Draw a line; an accent takes no room of its own, but before `ong` and `t`."""
    for number, letter in enumerate(text):
        canvas.drawString(x, y, letter)
        if letter not in "`¨´¸" or text[number + 1] in "ot":
            x += canvas.stringWidth(letter, "Times-Roman", SIZE)
