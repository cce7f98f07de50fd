"""Pieces of a text layer."""

from collections.abc import Sequence

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.parsed import PlacedWord, TextItem
from carrel.server.reading.page.rules import Rule
from carrel.server.reading.page_model.pieces import page_pieces, piece_rows


def item(text: str, x: float, width: float, words: Sequence[PlacedWord]) -> TextItem:
    return TextItem(text, x, 0, width, 10, 0, "CMR10", 10, words)


def test_a_formula_without_words_keeps_its_text_and_its_place() -> None:
    said = item("Sei $(X,\\mathfrak{T})$", 110, 47, [PlacedWord("Sei", 110, 0, 14, 10)])
    alone = item("$x_{1}$", 165, 10, [])
    priced = item(
        "for $5", 190, 30, [PlacedWord("for", 190, 0, 12, 10), PlacedWord("$5", 206, 0, 14, 10)]
    )
    (row,) = page_pieces([said, alone, priced], [], ())
    found = [(piece.text, piece.box[0], piece.box[2]) for piece in row]
    assert found == [
        ("Sei $(X,\\mathfrak{T})$", 110, 157),
        ("$x_{1}$", 165, 175),
        ("for $5", 190, 220),
    ]


def test_a_stop_behind_a_formula_without_words_is_not_its_place() -> None:
    words = [PlacedWord("and", 50, 0, 16, 10), PlacedWord(".", 82, 0, 3, 10)]
    (row,) = page_pieces([item("and $k_{y}$.", 50, 35, words)], [], ())
    assert [(piece.text, piece.box[0], piece.box[2]) for piece in row] == [("and $k_{y}$.", 50, 85)]


def line(said: Sequence[tuple[str, float]], y: float) -> TextItem:
    """A line of words, each six points wide a letter and beginning where it says."""
    words = [PlacedWord(text, x, y, 6 * len(text), 10) for text, x in said]
    left, right = said[0][1], words[-1].x + words[-1].width
    text = " ".join(text for text, _ in said)
    return TextItem(text, left, y, right - left, 10, 0, "Helvetica", 10, words)


def cut(*items: TextItem) -> list[list[str]]:
    return [[piece.text for piece in row] for row in page_pieces(items, [], ())]


def test_a_narrow_gap_parts_words_where_a_wide_one_stands_above_it() -> None:
    head = line([("Vr.No", 70), ("Type", 140)], 0)
    assert cut(head, line([("38", 124), ("BP", 140)], 20)) == [["Vr.No", "Type"], ["38", "BP"]]
    # It begins elsewhere, or is a blank.
    assert cut(head, line([("38", 122), ("BP", 138)], 20)) == [["Vr.No", "Type"], ["38 BP"]]
    assert cut(head, line([("38", 125), ("BP", 140)], 20)) == [["Vr.No", "Type"], ["38 BP"]]
    # Both are too far apart on the page.
    assert cut(head, line([("38", 124), ("BP", 140)], 90)) == [["Vr.No", "Type"], ["38 BP"]]
    # The dash of a range stands in no cell of its own, and prose is not cut.
    assert cut(head, line([("9", 120), ("-", 130), ("12", 140)], 20))[1] == ["9 - 12"]
    prose = [("all", 80), ("is", 102), ("now", 118), ("so", 140), ("far", 156)]
    assert cut(head, line(prose, 20))[1] == ["all is now so far"]


def test_dots_join_a_title_to_its_page_and_a_name_to_no_row_of_numbers() -> None:
    title, dots = line([("1.1", 70), ("Open", 110), ("rooms", 138)], 0), item("…", 200, 150, [])
    page, other = line([("12", 380)], 0), line([("14", 420)], 0)
    assert cut(title, dots, page) == [["1.1", "Open rooms … 12"]]
    assert cut(title, dots, page, other) == [["1.1", "Open rooms", "…", "12", "14"]]
    assert cut(title, dots, line([("12.50", 380)], 0)) == [["1.1", "Open rooms", "…", "12.50"]]
    # A form has its numbers in frames, and needs no dots.
    low = Line("…", Box(200, 8, 350, 9), 1)
    (framed,) = page_pieces([title, page], [low], [Rule(False, 370, 0, 20)])
    assert [piece.text for piece in framed] == ["1.1", "Open rooms", "12"]
    (entry,) = page_pieces([title, page], [low], ())
    assert [piece.text for piece in entry] == ["1.1", "Open rooms … 12"]


def test_pieces_of_a_heading_in_narrow_type_keep_the_blanks_between_them() -> None:
    places = [("Table", 217.3, 53.0), ("des", 273.9, 36.1), ("matières", 313.6, 81.9)]
    found = [
        TextItem(
            text, x, 80, width, 34, 0, "ArialNarrow-Bold", 1, [PlacedWord(text, x, 80, width, 34)]
        )
        for text, x, width in places
    ]
    assert cut(*found) == [["Table des matières"]]


def test_pieces_of_one_line_go_from_left_to_right() -> None:
    pieces = [
        Line("plain", Box(50, 100, 120, 110), 10),
        Line("bold", Box(122, 99, 160, 111), 10),
        Line("rest", Box(163, 100, 400, 110), 10),
        Line("next", Box(50, 112, 400, 122), 10),
    ]
    assert [[piece.text for piece in row] for row in piece_rows(pieces[::-1])] == [
        ["plain", "bold", "rest"],
        ["next"],
    ]


def test_what_is_as_tall_as_several_lines_is_of_the_first_beside_it() -> None:
    def at(text: str, x: float, y: float, height: float, width: float = 100) -> Line:
        return Line(text, Box(x, y, x + width, y + height), height)

    lines = [at(f"line {n}", 60, 100 + 10 * n, 8) for n in range(6)]
    cap, title = at("T", 40, 96, 32, 15), at("A Title", 200, 112, 20)
    above = at("above", 40, 86, 8)
    rows = piece_rows([*lines, cap, title, above])
    assert [[piece.text for piece in row] for row in rows] == [
        ["above"], ["T", "line 0"], ["line 1", "A Title"], *([line.text] for line in lines[2:]),
    ]  # fmt: skip


def test_a_typed_box_is_one_with_its_label() -> None:
    # The labels stand where a column above them begins, and up to two lines' height from the boxes.
    head = line([("Kind", 70), ("Sent", 150)], 0)
    boxes = line([("[", 126), ("]", 138), ("Mail", 150), ("[", 200), ("]", 212), ("Fax", 224)], 20)
    assert cut(head, boxes)[1] == ["[ ] Mail", "[ ] Fax"]
    assert cut(head, line([("(", 100), (")", 112), ("Yes", 136)], 20))[1] == ["( ) Yes"]
    far = line([("[", 100), ("x", 112), ("]", 124), ("Yes", 170)], 20)
    assert cut(head, far)[1] == ["[ x ]", "Yes"]


def test_the_end_of_a_number_that_is_set_apart_is_no_cell() -> None:
    head = line([("Cash", 0), ("(5,347", 100), (")", 138), ("12", 180), ("%", 195)], 0)
    # A narrow field with a ground of its own looks like a rule.
    (row,) = page_pieces([head], [], [Rule(False, 137, 0, 20)])
    assert [piece.text for piece in row] == ["Cash", "(5,347 )", "12 %"]
    assert cut(line([("a)", 0), (")", 60)], 0)) == [["a)", ")"]]


def test_groups_of_digits_are_one_number_where_a_shorter_one_stands_above() -> None:
    above = line([("Base", 40), ("500,00", 140)], 0)
    assert cut(above, line([("Net", 40), ("1", 130), ("300,00", 140)], 20))[1] == [
        "Net",
        "1 300,00",
    ]
    assert cut(above, line([("Net", 40), ("1.5", 118), ("300", 140)], 20))[1] == [
        "Net",
        "1.5",
        "300",
    ]
