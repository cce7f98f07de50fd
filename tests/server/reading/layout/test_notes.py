"""Notes and the raised marks in the text that refer to them."""

from dataclasses import replace

from carrel.server.reading.layout.notes import with_notes, without_authors
from carrel.server.reading.page.elements import Box, Line, Region
from carrel.server.reading.page.table import LinkMark


def _region(text: str, top: float, size: float, *marks: LinkMark) -> Region:
    box = Box(0, top, 200, top + size)
    return Region("paragraph", box, text, lines=(Line(text, box, size, marks=marks),))


def test_only_marks_of_notes_on_the_page_refer_in_the_text_and_in_notes() -> None:
    said = _region("Rooms1 and seats7", 0, 10, LinkMark(5, 6), LinkMark(16, 17))
    note = _region("1 All of them8", 20, 8, LinkMark(13, 14))
    said, note = with_notes([said, note])
    assert (said.kind, note.kind, note.marker, note.text) == (
        "paragraph", "note", "1", "All of them8",
    )  # fmt: skip
    assert [mark.start for mark in said.lines[0].marks] == [5]
    assert note.lines[0].marks == ()


def _heading(text: str, top: float, size: float, *marks: LinkMark) -> Region:
    return replace(_region(text, top, size, *marks), kind="heading", level=1)


def test_authors_between_a_title_and_the_text_are_no_headings() -> None:
    title = _heading("A title in large type that is longer than a name", 40, 18)
    marks = (LinkMark(7, 8), LinkMark(18, 19))
    authors = _heading("A. Lamp1 and B. Dam2", 80, 11, *marks)
    place = _region("1 School of Reading", 100, 9)
    lines = tuple(
        _region("A text that goes on and on", 140 + 12 * n, 10).lines[0] for n in range(5)
    )
    box = Box.around(line.box for line in lines)
    prose = Region("paragraph", box, "A text that goes on and on", lines=lines)
    abstract, end = _heading("Abstract", 120, 11), _region("mail@example.org", 400, 9)
    page = [title, authors, place, abstract, prose, end]
    assert [r.kind for r in without_authors(page)] == [
        "heading", "paragraph", "paragraph", "heading", "paragraph", "paragraph"
    ]  # fmt: skip
    # A name alone above its address, too.
    alone = [title, _heading("Ann Lamp", 80, 11), _region("lamp@example.org", 100, 9)]
    assert without_authors([*alone, abstract, prose])[1].kind == "paragraph"
    # A sentence of two lines is a text of its own.
    told = replace(prose, text="It goes on.", lines=lines[:2])
    later = [_region("x@example.org", 300, 9), replace(prose, box=Box(0, 320, 200, 380))]
    assert without_authors([title, abstract, told, *later])[1].kind == "heading"
    # Without a text below, or without any mark, headings stay.
    assert without_authors(alone) == alone
    assert without_authors([title, abstract, place, prose])[1].kind == "heading"
