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


def plain(number: int, title: str, page: int, left: float = 50) -> list[Line]:
    """A row of contents without leader: the title, and the page's number at the right margin."""
    width = 5 * len(title)
    return [
        piece(title, left, number, left + width),
        piece(str(page), 400 - 6 * len(str(page)), number, 400),
    ]


ROOMS = ("Rooms", "Lamps", "Desks", "Chairs", "Shelves", "Windows")


def test_entries_below_a_title_of_contents_need_no_leaders() -> None:
    title = piece("Inhaltsverzeichnis", 50, 0, 150)
    rows = [plain(n, room, 4 * n) for n, room in enumerate(ROOMS, 1)]
    lines = [title, *(line for row in rows for line in row)]
    assert entries(lines) == [(0, f"{room} … {4 * n}") for n, room in enumerate(ROOMS, 1)]
    assert contents(lines)[1] == [title]


def test_numbers_of_sections_need_neither_leaders_nor_indentation() -> None:
    titles = ("1 Rooms", "1.1 Lamps", "1.1.1 Desks", "2 Chairs", "2.1 Shelves")
    lines = [line for n, title in enumerate(titles) for line in plain(n, title, 7 + n)]
    assert [level for level, _ in entries(lines)] == [0, 1, 2, 0, 1]


def test_sections_alone_begin_at_the_first_level() -> None:
    lines = [line for n in range(1, 6) for line in plain(n, f"3.{n} Lamps", 20 + n)]
    assert entries(lines) == [(0, f"3.{n} Lamps … {20 + n}") for n in range(1, 6)]


def test_the_number_of_a_section_may_stand_apart() -> None:
    lines = [
        line
        for n in range(1, 6)
        for line in (piece(f"3.{n}", 50, n, 65), *plain(n, "Lamps", 20 + n, left=90))
    ]
    assert entries(lines) == [(0, f"3.{n} Lamps … {20 + n}") for n in range(1, 6)]


def test_indentation_shows_contents_without_title_and_leaders() -> None:
    lines = [
        line
        for n, room in enumerate(ROOMS)
        for line in plain(n, room, 10 + n, left=50 if n % 3 == 0 else 66)
    ]
    assert [level for level, _ in entries(lines)] == [0, 1, 1, 0, 1, 1]


def test_rows_of_a_table_whose_numbers_rise_are_no_contents() -> None:
    lines = [line for n, room in enumerate(ROOMS) for line in plain(n, room, 10 + n)]
    assert entries(lines) == []
    assert contents(lines)[1] == lines


def test_a_table_of_several_columns_below_a_title_is_no_contents() -> None:
    title = piece("Contents", 50, 0, 120)
    lines = [title]
    for n, room in enumerate(ROOMS, 1):
        lines += [*plain(n, room, 10 + n), piece("litres", 300, n, 330)]
    for n, room in enumerate(ROOMS, 10):
        lines += [*plain(n, room, 10 + n), piece(str(n), 300, n, 312)]
    assert entries(lines) == []


def test_the_running_head_of_contents_is_no_entry() -> None:
    head = plain(0, "CONTENTS", 5)
    lines = [*head, *(line for n in range(1, 7) for line in plain(n, f"2.{n} Lamps", 10 + n))]
    found, rest = contents(lines)
    assert [entry.text for entry in found] == [f"2.{n} Lamps … {10 + n}" for n in range(1, 7)]
    assert rest == head
