"""Lines of a column to blocks."""

from dataclasses import replace

import numpy as np
import pytest

from carrel.server.reading.layout.blocks import PageParts
from carrel.server.reading.layout.text_blocks import TextBlock, block_region, text_blocks
from carrel.server.reading.page.elements import Box, Line, PageFrame, Region, Word
from carrel.server.reading.page.hyphens import join_lines, words_of
from carrel.server.reading.page.lines import one_line
from carrel.server.reading.page_model.network import ROLES, Role
from carrel.server.reading.page_model.tags import UPRIGHT
from support.layouts import item_of, laid_out


def _line(
    text: str, top: float, left: float = 50, size: float = 10, width: float | None = None,
    *, bold: bool = False, mono: bool = False,
) -> Line:  # fmt: skip
    """A line whose letters are half as wide as they are high, unless its width is given."""
    right = left + (len(text) * size / 2 if width is None else width)
    return Line(text, Box(left, top, right, top + size), size, (), bold, mono)


def _full(text: str, top: float, left: float = 50) -> Line:
    """A line that reaches the right margin at 400."""
    return _line(text, top, left, width=400 - left)


def _regions(*lines: Line) -> list[Region]:
    return laid_out(lines)


def _texts(*lines: Line) -> list[tuple[str, str]]:
    return [(region.kind, region.text) for region in _regions(*lines)]


BODY = [
    _full(f"Body line {number} fills the width of its column and", 500 + 12 * number)
    for number in range(9)
]


def test_lines_set_closely_are_a_paragraph() -> None:
    ((kind, text),) = _texts(*BODY)
    assert kind == "paragraph"
    assert text.startswith("Body line 0 fills the width of its column and Body line 1")


@pytest.mark.parametrize(("mono", "role"), [(True, "code"), (False, "text")])
def test_code_is_what_a_text_layer_sets_in_type_of_one_width(mono: bool, role: str) -> None:
    lines = [_line(f"value = read({number})", 100 + 12 * number, mono=mono) for number in range(4)]
    found = PageParts(PageFrame(595, 842), list(map(item_of, lines))).reading
    assert found is not None
    roles = np.zeros_like(found.view.roles)
    roles[:, ROLES.index("code")] = 1
    page = replace(found, view=replace(found.view, roles=roles))
    blocks = text_blocks(page, range(len(page.pieces)))
    assert {block.role for block in blocks} == {role}


@pytest.mark.xfail(reason="the page model takes a lone first line of a page for a running head")
def test_space_or_an_indented_line_begins_the_next() -> None:
    first = _texts(_full("First paragraph, which ends here, full.", 100), *BODY)
    assert [kind for kind, _ in first] == ["paragraph", "paragraph"]
    indented = [_full("One line and", 476), _full("another.", 488), *BODY[:2]]
    indented[1] = _full("A new paragraph begins", 488, left=65)
    assert len(_texts(*indented)) == 2


@pytest.mark.xfail(reason="the page model misses a heading hardly larger than the text")
def test_size_and_weight_make_headings() -> None:
    found = _regions(
        _line("The Title", 40, size=20),
        _line("A Section", 100, size=14),
        _line("A Subsection", 140, size=11.5),
        _line("In Bold", 180, bold=True),
        *BODY,
    )
    assert [(region.kind, region.level) for region in found] == [
        ("heading", 1), ("heading", 2), ("heading", 3), ("heading", 4), ("paragraph", 0),
    ]  # fmt: skip


@pytest.mark.xfail(reason="the page model takes a larger first line for a heading")
def test_a_large_first_line_stays_with_its_sentence() -> None:
    large = _line("ONCE upon a time there was", 486, size=13)
    (region,) = _regions(large, _full("a reader who read,", 501), *[
        _full(f"line {number}", 513 + 12 * number) for number in range(9)
    ])  # fmt: skip
    assert region.kind == "paragraph"
    assert region.text.startswith("ONCE upon a time there was a reader")


def test_bullets_are_items_and_hold_their_further_lines() -> None:
    found = _regions(
        _full("• First item, long enough to need", 100),
        _line("a second line", 112, left=60),
        _line("• Second item", 124),
        _line("– inner", 136, left=70),
        _line("• Third", 148),
    )
    assert [(region.kind, region.level, region.text) for region in found] == [
        ("list_item", 0, "First item, long enough to need a second line"),
        ("list_item", 0, "Second item"),
        ("list_item", 1, "inner"),
        ("list_item", 0, "Third"),
    ]


@pytest.mark.xfail(reason="the page model takes numbered short lines for headings")
def test_numbers_are_items_only_when_they_count() -> None:
    counted = _regions(_line("3. Lamps", 100), _line("4. Chairs", 112), _line("5. Desks", 124))
    assert [(region.kind, region.marker) for region in counted] == [
        ("list_item", "3."), ("list_item", "4."), ("list_item", "5."),
    ]  # fmt: skip
    (year,) = _regions(
        _full("The house was built long ago, in", 100), _full("1984. It still stands and", 112)
    )
    assert year.kind == "paragraph"
    ounces, _ = _regions(
        _line("4 ounces of lentils", 100), _line("3 litres of water", 112), _full("Soak.", 150)
    )
    assert ounces.text == "4 ounces of lentils\n3 litres of water"


def test_a_word_broken_at_the_end_of_a_line_is_whole() -> None:
    ((_, text),) = _texts(
        _full("The read-", 100), _full("ing room of the Wester-", 112), _full("Ems line", 124)
    )
    assert text == "The reading room of the Wester-Ems line"


def test_code_keeps_indentation_and_blank_lines() -> None:
    (region,) = _regions(
        _line("def f():", 100, mono=True),
        _line("return 1", 112, left=70, mono=True),
        _line("f()", 136, mono=True),
    )
    assert (region.kind, region.text) == ("code", "def f():\n    return 1\n\nf()")


@pytest.mark.xfail(reason="the page model joins a title in the middle and a heading below it")
def test_headings_that_stand_differently_are_two() -> None:
    title = _line("A Title in the Middle", 40, left=150, size=18)
    assert [text for _, text in _texts(title, _line("Introduction", 62, size=18), *BODY)][:2] == [
        "A Title in the Middle", "Introduction",
    ]  # fmt: skip
    centred = _line("of two Lines, centred", 60, left=150, size=18)
    assert _texts(title, centred, *BODY)[0][1] == "A Title in the Middle of two Lines, centred"


@pytest.mark.xfail(reason="the page model takes a larger numbered line for a heading")
def test_a_large_marker_makes_no_heading_of_its_item() -> None:
    first = _line("1. An item that runs over its line and", 100, size=12, width=350)
    found = _regions(first, _line("goes on.", 114, left=65), _line("2. Next", 130, size=12), *BODY)
    assert [(region.kind, region.text) for region in found[:2]] == [
        ("list_item", "An item that runs over its line and goes on."), ("list_item", "Next"),
    ]  # fmt: skip


def test_a_line_that_begins_with_code_stays_in_its_sentence() -> None:
    code = _line("PRINT_ALL and so on, which is", 500, mono=True, width=350)
    ((kind, text),) = _texts(_full("It can be one of the names", 488), code, _full("told.", 512))
    assert (kind, text) == (
        "paragraph",
        "It can be one of the names PRINT_ALL and so on, which is told.",
    )


@pytest.mark.xfail(reason="the page model joins a line of code to the sentence above it")
def test_code_that_ends_an_indented_sentence_stays_in_it() -> None:
    above = _full("Suggestions may be sent to the author at origamist@", 476, left=65)
    code = _line("example.org.", 488, size=8, mono=True)
    ((kind, text),) = _texts(above, code)
    assert (kind, text) == ("paragraph", f"{above.text} {code.text}")
    apart = _full("The name of the package is pgf-", 476, left=65)
    assert [kind for kind, _ in _texts(apart, code)] == ["paragraph", "code"]


@pytest.mark.parametrize(
    ("texts", "seen", "expected"),
    [
        (
            ["Figure 1: A long caption goes", "on in plain type below."],
            ["caption", "text"],
            "caption",
        ),
        (
            ["1 A note on the text goes", "on in the same small type."],
            ["footnote", "text"],
            "footnote",
        ),
        (
            ["A paragraph which also goes", "on in the same type here."],
            ["text", "footnote"],
            "text",
        ),
        (["• 10-80% of the humidity"], ["heading"], "list_item"),
        (["Figure 3 – Cases by date"], ["heading"], "caption"),
        (["https://example.org/rooms"], ["heading"], "text"),
        (["Ann Reader, ann@reading-room.org"], ["heading"], "text"),
        (["6.2.1. Free services;"], ["heading"], "text"),
    ],
)
def test_what_a_text_says_of_its_role_goes_before_what_is_seen(
    texts: list[str], seen: list[Role], expected: Role
) -> None:
    lines = [_full(text, 100 + 12 * number) for number, text in enumerate(texts)]
    found = PageParts(PageFrame(595, 842), list(map(item_of, [*lines, *BODY]))).reading
    assert found is not None
    roles = found.view.roles.copy()
    roles[: len(seen)] = np.eye(len(ROLES))[[*map(ROLES.index, seen)]]
    page = replace(found, view=replace(found.view, roles=roles))
    (block,) = text_blocks(page, range(len(lines)))
    assert (block.role, len(block.lines)) == (expected, len(lines))


def test_a_caption_goes_on_beside_its_label() -> None:
    label, text = (
        _line("Figure 1", 100, width=40),
        _full("A flow chart that depicts", 100, left=110),
    )
    lines = [label, text, _full("the trial flow for selection of the trials.", 112)]
    found = PageParts(PageFrame(595, 842), list(map(item_of, [*lines, *BODY]))).reading
    assert found is not None
    roles = found.view.roles.copy()
    roles[:3] = np.eye(len(ROLES))[[*map(ROLES.index, ("caption", "footnote", "footnote"))]]
    # The model is sure that pieces nearby are one block.
    view = replace(found.view, roles=roles, shared=np.ones_like(found.view.shared))
    (block,) = text_blocks(replace(found, view=view), range(3))
    assert block.lines[0].text == "Figure 1 A flow chart that depicts"


def test_a_caption_is_no_part_of_the_paragraph_above() -> None:
    found = _texts(*BODY, _line("Figure 2: A carrel.", 608), _line("See Figure 2 for it.", 640))
    assert [kind for kind, _ in found] == ["paragraph", "caption", "paragraph"]


def test_hyphens_of_compounds_stay() -> None:
    ((_, text),) = _texts(
        _full("The years 1914-", 100), _full("1918 and the soft\u00ad", 112), _full("Ened", 124)
    )
    assert text == "The years 1914-1918 and the softEned"


def test_a_compound_keeps_its_hyphen_where_the_page_shows_that_it_has_one() -> None:
    parted = [
        _full("The windows are old and the seats well-", 100),
        _full("worn, but the read-", 112),
    ]
    rest = _full("ing is good.", 124)
    ((_, text),) = _texts(*parted, rest)
    assert "wellworn, but the reading" in text
    shown = _full("Every Well-worn seat of the house is", 136)
    assert "well-worn, but the reading" in _texts(*parted, rest, shown)[0][1]


@pytest.mark.parametrize(
    ("word", "kept"), [("third-party", True), ("x-ray", True), ("some-how", False)]
)
def test_words_that_stand_on_the_page_alone_keep_the_hyphen_between_them(
    word: str, kept: bool
) -> None:
    head, tail = word.split("-")
    lines = [
        _full(f"Of the third in line a party may be and some {head}-", 100),
        _full(f"{tail} of what they say", 112),
    ]
    words = words_of([line.text for line in lines])
    assert (word in join_lines(lines, words)) is kept


def test_lines_of_scripts_without_blanks_are_joined_without_one() -> None:
    assert join_lines([_full("文字的", 100), _full("な情報", 112)]) == "文字的な情報"
    assert join_lines([_full("문자", 100), _full("정보", 112)]) == "문자 정보"


def test_what_ocr_finds_apart_stays_apart() -> None:
    one, other = (
        _line(text, 100, left, width=80)._replace(read=(Word(text, 0.9),))
        for text, left in [("Chapter", 50), ("III", 126)]
    )
    assert one_line([one, other]).text == "Chapter III"


@pytest.mark.xfail(reason="the page model makes a block of each very short line")
def test_very_short_lines_are_entries_whatever_they_begin_with() -> None:
    texts = ["3 onions", "flour, butter", "2 cups of milk", "bay leaf, cloves, curry powder, salt"]
    entries = [_line(text, 100 + 12 * number) for number, text in enumerate(texts)]
    assert _texts(*entries, *BODY[:1])[0] == ("paragraph", "\n".join(texts))
    ragged = [_line("A sentence that ends a little early", 100), _full("and then goes on.", 112)]
    assert _texts(*ragged)[0][1] == "A sentence that ends a little early and then goes on."


def test_lines_of_columns_side_by_side_say_nothing_about_the_gap_between_lines() -> None:
    left = [_line(f"left {n}", 100 + 12 * n, width=200) for n in range(9)]
    right = [_line(f"right {n}", 106 + 12 * n, left=270, width=200) for n in range(9)]
    both = [line for pair in zip(left, right, strict=True) for line in pair]
    assert [region.kind for region in laid_out(both)] == ["paragraph"] * 2


@pytest.mark.xfail(reason="the page model takes a full first line in bold for a heading")
def test_a_full_line_with_bold_words_only_before_a_stop_begins_a_paragraph() -> None:
    """`font` is that of a line's first word."""
    first = _full("SUMMARY: This proposal would replace the", 100)._replace(bold=True)
    texts = _texts(first, _full("Earlier rule with one which fills the line", 112), *BODY)
    assert texts[0] == (
        "paragraph",
        "SUMMARY: This proposal would replace the Earlier rule with one which fills the line",
    )
    short = _line("SUMMARY: a heading", 100, bold=True)
    texts = _texts(short, _full("Text below it, which fills the line", 112), *BODY)
    assert texts[0] == ("heading", "SUMMARY: a heading")


@pytest.mark.xfail(reason="the page model makes a block of each short line in bold")
def test_labels_in_bold_with_their_values_are_text() -> None:
    labels = ["Report ID: A-12", "Warehouse: East", "Report Date: 2024-11-15"]
    lines = [_line(text, 100 + 12 * n, bold=True) for n, text in enumerate(labels)]
    assert _texts(*lines, *BODY)[0] == ("paragraph", "\n".join(labels))
    alone = _line("Step 1: Concepts", 100, bold=True)
    assert _texts(alone, *BODY)[0] == ("heading", "Step 1: Concepts")


def test_signs_of_symbol_fonts_are_bullets() -> None:
    """Word's bullets are letters of Wingdings, which come as private characters."""
    items = [_line(f"\uf0fc Point {number}", 100 + 12 * number) for number in range(3)]
    found = _regions(*items, *BODY)
    assert [region.kind for region in found][:3] == ["list_item"] * 3
    assert [region.text for region in found][:3] == ["Point 0", "Point 1", "Point 2"]


@pytest.mark.parametrize("bullet", ["▸", "▶", "➢", "✓"])
def test_signs_of_slides_are_bullets(bullet: str) -> None:
    line = f"{bullet} Three groups of readers"
    assert _seen_as("text", _line(line, 100)) == [("list_item", line)]


def test_entries_of_contents_in_two_columns_are_items_of_their_own() -> None:
    names = ("Rooms", "Lamps", "Desks", "Chairs", "Shelves", "Windows", "Stairs", "Doors")
    lines = [
        piece
        for row, name in enumerate(names)
        for left, page in ((50, 4 + row), (320, 40 + row))
        for piece in (
            _line(f"{name} of {left} ..................", 100 + 14 * row, left, width=200),
            _line(str(page), 100 + 14 * row, left + 210),
        )
    ]
    found = PageParts(PageFrame(595, 842), list(map(item_of, lines))).reading
    assert found is not None
    roles = np.zeros_like(found.view.roles)
    roles[:, ROLES.index("contents_entry")] = 1
    beside = np.zeros_like(found.view.shared)
    beside[:UPRIGHT] = 1
    page = replace(found, view=replace(found.view, roles=roles, shared=beside))
    blocks = text_blocks(page, range(len(page.pieces)))
    assert [block_region(block, (), 842).text for block in blocks] == [
        f"{name} of {left} … {number}"
        for row, name in enumerate(names)
        for left, number in ((50, 4 + row), (320, 40 + row))
    ]


def _seen_as(
    role: Role, *lines: Line, beside: float = 0, below: float = 0
) -> list[tuple[str, str]]:
    """The blocks of lines that the page model takes for one role, and how likely for one block."""
    found = PageParts(PageFrame(595, 842), list(map(item_of, lines))).reading
    assert found is not None
    roles = np.zeros_like(found.view.roles)
    roles[:, ROLES.index(role)] = 1
    shared = np.full_like(found.view.shared, beside)
    shared[UPRIGHT:] = below
    page = replace(found, view=replace(found.view, roles=roles, shared=shared))
    blocks = text_blocks(page, range(len(page.pieces)))
    return [(block.role, " ".join(line.text for line in block.lines)) for block in blocks]


@pytest.mark.parametrize("number", ["1", "1.", "2.3", "(a)"])
def test_the_number_of_a_heading_may_stand_apart(number: str) -> None:
    title = _line("Rooms", 100, 50 + 5 * len(number) + 25)
    assert _seen_as("heading", _line(number, 100), title) == [("heading", f"{number} Rooms")]


@pytest.mark.parametrize("bullet", ["•", "▪", "\uf0b7", "-", "–", "―"])
def test_a_bullet_may_stand_apart_from_its_item(bullet: str) -> None:
    text = _line("they are open", 100, 80)
    assert _seen_as("list_item", _line(bullet, 100), text, beside=0.3) == [
        ("list_item", f"{bullet} they are open")
    ]


def test_a_dash_beside_the_middle_of_a_paragraph_is_no_bullet() -> None:
    found = _seen_as("text", _line("–", 548, 20), *BODY, below=1)
    assert ("text", " ".join(line.text for line in BODY)) in found


@pytest.mark.parametrize(
    ("texts", "seen", "expected"),
    [(["☞", "Rooms"], ["text", "heading"], "heading"),
     (["Gifts.", "The board may accept on behalf of"], ["heading", "text"], "text")],
)  # fmt: skip
def test_the_role_of_a_line_is_that_of_most_of_its_letters(
    texts: list[str], seen: list[Role], expected: Role
) -> None:
    lines = [_line(texts[0], 100), _line(texts[1], 100, 50 + 5 * len(texts[0]) + 8)]
    found = PageParts(PageFrame(595, 842), list(map(item_of, [*lines, *BODY]))).reading
    assert found is not None
    roles = found.view.roles.copy()
    roles[:2] = np.eye(len(ROLES))[[*map(ROLES.index, seen)]]
    view = replace(found.view, roles=roles, shared=np.full_like(found.view.shared, 0.3))
    (block,) = text_blocks(replace(found, view=view), range(2))
    assert (block.role, block.lines[0].text) == (expected, " ".join(texts))


def test_a_number_far_from_a_text_or_of_an_item_without_a_mark_is_none_of_its() -> None:
    assert len(_seen_as("heading", _line("1.", 100), _line("Rooms", 100, 150))) == 2
    assert len(_seen_as("list_item", _line("1", 100), _line("Rooms", 100, 80))) == 2


def test_what_stands_beside_a_label_begins_an_item() -> None:
    marks = [_line(mark, 100 + 12 * n) for n, mark in enumerate(["g.", "h.", "i."])]
    texts = [_full("may be debated, and is", 100 + 12 * n, 80) for n in range(3)]
    found = _seen_as("list_item", *marks, *texts, below=1)
    assert [text[:2] for _, text in found] == ["g.", "h.", "i."]


def test_numbers_that_count_the_items_of_a_list_stand_with_them() -> None:
    numbers = [_line(str(8 + n), 100 + 24 * n) for n in range(3)]
    texts = [_full(f"Line {n} reaches the margin", 100 + 12 * n, 80) for n in range(6)]
    found = _seen_as("reference", *numbers, *texts, below=0.3)
    assert [text for _, text in found] == [
        f"{8 + n} {texts[2 * n].text} {texts[2 * n + 1].text}" for n in range(3)
    ]


@pytest.mark.parametrize("further", ["a. An item of its own", "Far below"])
def test_a_further_line_of_an_item_has_no_mark_and_no_room_in_the_line_above(further: str) -> None:
    short = _line("Short", 100, 80)
    lines = [_line("1.", 100), short, _full(further, 112, 80)]
    assert len(_seen_as("list_item", *lines, below=0.3)) == 2


def test_columns_with_a_narrow_gutter_are_two_blocks() -> None:
    left = [_line(f"Left line {n}", 100 + 12 * n, width=200) for n in range(4)]
    right = [_line(f"Right line {n}", 100 + 12 * n, 259, width=200) for n in range(4)]
    found = _seen_as("text", *left, *right, beside=0.6, below=0.95)
    assert [text for _, text in found] == [
        " ".join(line.text for line in column) for column in (left, right)
    ]


def test_a_heading_within_a_line_is_a_part_of_the_text() -> None:
    lines = (_line("Rooms:", 100, bold=True), _line("they are open", 100, 82))
    assert _seen_as("heading", *lines) == [("text", "Rooms: they are open")]
    assert _seen_as("heading", lines[0]) == [("heading", "Rooms:")]


def _roles_seen(roles: list[Role], *lines: Line) -> list[tuple[str, int]]:
    """The blocks of lines that the page model gives these roles: each role and number of lines."""
    found = PageParts(PageFrame(595, 842), list(map(item_of, lines))).reading
    assert found is not None
    chances = np.zeros_like(found.view.roles)
    for number, role in enumerate(roles):
        chances[number, ROLES.index(role)] = 1
    page = replace(found, view=replace(found.view, roles=chances))
    blocks = text_blocks(page, range(len(page.pieces)))
    return [(block.role, len(block.lines)) for block in blocks]


@pytest.mark.parametrize("role", ["list_item", "quote", "reference"])
def test_a_paragraph_is_whole_where_the_model_doubts_a_lines_role(role: Role) -> None:
    roles: list[Role] = ["text", "text", "text", role, role, "text", "text", role, "text"]
    assert _roles_seen(roles, *BODY) == [("text", 9)]


def test_a_paragraph_is_whole_where_the_model_takes_its_last_line_for_a_heading() -> None:
    assert _roles_seen(["text", "text", "heading"], *BODY[:3]) == [("text", 3)]
    assert _roles_seen(["heading", "heading"], *BODY[:2]) == [("heading", 2)]


@pytest.mark.parametrize(("size", "role"), [(14, "heading"), (10, "text")])
def test_a_title_goes_on_in_larger_type_where_the_model_doubts_its_last_line(
    size: float, role: str
) -> None:
    title = [
        _line("Statutes of the Society of Early Readers", 40, size=size, bold=True, width=340),
        _line("with its seat in the North", 42 + size, size=size, bold=True, width=240),
    ]
    found = PageParts(PageFrame(595, 842), list(map(item_of, [*title, *BODY]))).reading
    assert found is not None
    roles = np.zeros_like(found.view.roles)
    roles[:, ROLES.index("text")] = 1
    roles[:2] = 0
    roles[[0, 1], ROLES.index("heading")] = 1, 0.4
    roles[1, ROLES.index("text")] = 0.6
    page = replace(
        found, view=replace(found.view, roles=roles, shared=np.ones_like(found.view.shared))
    )
    assert text_blocks(page, [0, 1])[0].role == role


def test_a_line_that_ocr_read_is_no_heading_where_a_paragraph_goes_on_below_it() -> None:
    read = [line._replace(read=(Word(line.text, 1.0),)) for line in BODY]
    found = PageParts(PageFrame(595, 842), lines=read).reading
    assert found is not None
    roles = np.zeros_like(found.view.roles)
    roles[0, ROLES.index("heading")] = roles[1:, ROLES.index("text")] = 1
    shared = np.full_like(found.view.shared, 0.6)
    page = replace(found, view=replace(found.view, roles=roles, shared=shared))
    assert [block.role for block in text_blocks(page, range(len(read)))] == ["text"]


def test_a_line_in_pieces_stays_in_its_paragraph_where_the_model_doubts_one() -> None:
    pieces = [_line("following orders, in", 536, width=120), _full("supersession of", 536, 190)]
    lines = [*BODY[:3], *pieces, *BODY[4:7]]
    roles: list[Role] = ["list_item", "list_item", "list_item", "text", "list_item"]
    assert _roles_seen([*roles, "text", "text", "text"], *lines) == [("text", 7)]


def test_an_item_is_whole_where_the_model_takes_a_further_line_for_text() -> None:
    lines = [_line("(a) The first line fills the width of its", 100, width=350), *BODY[:4]]
    lines[1:] = [
        _full(f"further line {n} fills the width, too, and", 112 + 12 * n) for n in range(4)
    ]
    roles: list[Role] = ["list_item", "list_item", "text", "list_item", "text"]
    assert _roles_seen(roles, *lines) == [("list_item", 5)]


def test_a_name_and_the_value_at_its_right_are_one() -> None:
    names = ["Invoice number:", "Date:", "Due at:"]
    values = ["42183017", "August 3", "12:30"]
    lines = [_line(name, 100 + 15 * n, 300) for n, name in enumerate(names)]
    lines += [_line(value, 100 + 15 * n, 450) for n, value in enumerate(values)]
    found = _texts(*lines, *BODY)
    assert found[:3] == [("paragraph", " ".join(pair)) for pair in zip(names, values, strict=True)]


@pytest.mark.parametrize("other", ["Phone:", "Post Office Box: none"])
def test_a_name_beside_another_or_above_its_value_stays_alone(other: str) -> None:
    lines = [_line("Address:", 100), _line(other, 100, 300), _line("1 High Street", 112)]
    texts = [text for _, text in _texts(*lines, *BODY)]
    assert not any("Address:" in text and other in text for text in texts)
    lines = [_line("Address:", 100), _line("Wanted", 100, 300), _line("1 High Street", 112)]
    assert not any("Address: Wanted" in text for _, text in _texts(*lines, *BODY))


@pytest.mark.parametrize(
    "amount", ["1,49 B", "EUR 0,82", "-2,00 A", "$775.00", "12.345,60 €", "0,25-"]
)
@pytest.mark.parametrize("role", ["text", "heading", "list_item"])
def test_what_costs_something_and_its_amount_are_one(amount: str, role: Role) -> None:
    lines = (_line("Orange juice", 100), _line(amount, 100, 300))
    assert _seen_as(role, *lines) == [("text", f"Orange juice {amount}")]


@pytest.mark.parametrize("other", ["Fig. 1.25", "1234", "Lemons"])
def test_only_an_amount_stands_with_any_text(other: str) -> None:
    assert len(_seen_as("text", _line("Orange juice", 100), _line(other, 100, 300))) == 2


def test_items_without_marks_begin_at_one_edge() -> None:
    centred = [_line(text, 100 + 30 * n, left) for n, (text, left) in enumerate(
        [("Board of Trustees", 200), ("Ann Archer", 214), ("Benjamin Baker", 206)]
    )]  # fmt: skip
    assert {role for role, _ in _seen_as("list_item", *centred)} == {"text"}
    names = [line._replace(box=line.box._replace(left=200)) for line in centred]
    assert {role for role, _ in _seen_as("list_item", *names)} == {"list_item"}


def test_a_numbered_line_that_a_sentence_goes_on_from_is_no_heading() -> None:
    lines = [_full("1. This charter says how it is", 100), _full("made and of whom", 112)]
    assert _roles_seen(["heading", "text"], *lines, *BODY[:2])[0][0] == "text"
    assert _roles_seen(["list_item", "text"], *lines, *BODY[:2])[0][0] == "list_item"


def test_a_salutation_is_no_heading() -> None:
    assert _seen_as("heading", _line("Dear Mr. Gans,", 100)) == [("text", "Dear Mr. Gans,")]
    assert _seen_as("heading", _line("Rooms, lamps", 100)) == [("heading", "Rooms, lamps")]


@pytest.mark.parametrize(
    ("above", "width", "below", "text"),
    [
        ("Duration: day", 60, "Project: Q4 and its", "Duration: day\nProject: Q4 and its"),
        ("出席委員は", 80, "委員長は平山たかお", "出席委員は\n委員長は平山たかお"),
        ("出席委員は", 150, "委員長は平山たかお", "出席委員は委員長は平山たかお"),
    ],
)
def test_a_line_of_an_item_begins_anew_where_the_next_word_had_room(
    above: str, width: float, below: str, text: str
) -> None:
    lines = (_line(above, 0, width=width), _line(below, 12, width=160))
    assert block_region(TextBlock("list_item", lines), frozenset(), 800).text == text


def test_a_sign_of_a_speaker_begins_an_item_as_a_bullet_does() -> None:
    said = "委員長の平山たかおです。本日はお忙しい中お集まりいただきありがとうございます"
    turns = [_full(f"{sign}{said}", 100 + 12 * n) for n, sign in enumerate("◆◎")]
    assert [kind for kind, _ in _texts(*turns, *BODY)][:2] == ["list_item", "list_item"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("IV. EXPERIMENTAL RESULTS", "heading"),
        ("2. RESULTS AND DISCUSSION", "heading"),
        ("2. Results and discussion", "list_item"),
        ("2. ALL RIGHTS RESERVED.", "list_item"),
    ],
)
def test_a_line_of_capitals_with_a_number_is_a_heading(text: str, kind: str) -> None:
    assert [found for found, _ in _seen_as("list_item", _line(text, 100))] == [kind]


def test_a_heading_above_the_first_word_of_a_stretched_line_stays_one() -> None:
    words = [_line(text, 112, 50 + 34 * n) for n, text in enumerate(("Phyto", "tests", "were"))]
    found = PageParts(PageFrame(595, 842), list(map(item_of, [_line("Results", 100), *words])))
    assert found.reading is not None
    roles = np.zeros_like(found.reading.view.roles)
    roles[0, ROLES.index("heading")] = roles[1:, ROLES.index("text")] = 1
    page = replace(found.reading, view=replace(found.reading.view, roles=roles))
    assert next(block.role for block in text_blocks(page, range(4))) == "heading"
