"""Notes and the raised marks in the text that refer to them."""

from carrel.server.reading.layout.notes import with_notes
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
