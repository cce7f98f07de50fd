"""A table of contents is a list of its entries, and a table of numbers is not."""

from carrel.server.reading.layout.contents import contents
from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.marks import LinkMark


def piece(text: str, left: float, row: int, right: float, marks: tuple[LinkMark, ...] = ()) -> Line:
    return Line(text, Box(left, 14 * row, right, 14 * row + 12), 10, marks=marks)


def entries(lines: list[Line]) -> list[tuple[int, str]]:
    return [(entry.level, entry.text) for entry in contents(lines)[0]]


def test_entries_are_items_with_a_level_by_their_indentation() -> None:
    lines = [
        piece("Contents", 50, 0, 120),
        piece("1 Rooms 1", 50, 1, 400),
        piece("1.1 Lamps … 1", 60, 2, 400),
        piece("1.2 Desks … 12", 60, 3, 400),
        piece("2 Shelves … 14", 50, 4, 400),
    ]
    assert entries(lines) == [
        (0, "1 Rooms … 1"),
        (1, "1.1 Lamps … 1"),
        (1, "1.2 Desks … 12"),
        (0, "2 Shelves … 14"),
    ]
    assert contents(lines)[1] == lines[:1]


def test_leaders_may_be_pieces_of_their_own_or_lost() -> None:
    dots = [piece(".", 200 + 10 * n, 1, 202 + 10 * n) for n in range(5)]
    lines = [
        *(piece("1.1", 50, 1, 65), piece("Lamps", 70, 1, 110), *dots, piece("1", 395, 1, 400)),
        *(piece("1.2 Desks 12", 50, 2, 400), piece(". . . .", 200, 2, 280)),
        piece("1.3 Chairs 13", 50, 3, 400),
    ]
    assert [text for _, text in entries(lines)] == [
        "1.1 Lamps … 1",
        "1.2 Desks … 12",
        "1.3 Chairs … 13",
    ]


def test_columns_of_entries_are_apart() -> None:
    lines = [piece(f"Left {n} … {n}", 50, n, 200) for n in range(1, 5)]
    lines += [piece(f"Right {n} … {n + 4}", 250, n, 400) for n in range(1, 5)]
    texts = [text for _, text in entries(lines)]
    assert texts == [f"Left {n} … {n}" for n in range(1, 5)] + [
        f"Right {n} … {n + 4}" for n in range(1, 5)
    ]


def test_a_title_of_two_lines_is_one_entry() -> None:
    lines = [
        piece("Part One", 50, 0, 100),
        piece("1.1 Lamps … 1", 50, 1, 400),
        piece("1.2 Desks by the windows of the north and", 50, 2, 370),
        piece("the south rooms … 12", 70, 3, 400),
        piece("A heading", 50, 4, 110),
        piece("1.3 Chairs … 13", 50, 5, 400),
    ]
    assert entries(lines) == [
        (0, "1.1 Lamps … 1"),
        (0, "1.2 Desks by the windows of the north and the south rooms … 12"),
        (0, "1.3 Chairs … 13"),
    ]
    assert contents(lines)[1] == [lines[0], lines[4]]


def test_links_of_a_title_stay() -> None:
    lines = [
        piece(f"1.{n} Lamps … {n}", 50, n, 400, (LinkMark(0, 13, "https://example.org"),))
        for n in range(1, 4)
    ]
    marks = [entry.lines[0].marks for entry in contents(lines)[0]]
    assert marks == [(LinkMark(0, 9, "https://example.org"),)] * 3


def test_numbers_that_fall_are_a_table() -> None:
    lines = [piece(f"Total … {9 - n}", 50, n, 400) for n in range(4)]
    assert entries(lines) == []
