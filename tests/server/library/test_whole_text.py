"""Text and tables that go on over columns and pages are one; whatever ends stays apart."""

from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from carrel.server.library.whole_text import whole_text
from support.libraries import LibraryUnderTest

_START = "The reading room is open to every reader who brings the books back"
_TABLE = "| Hall | Loans |\n| --- | --- |\n| North | 12 |\n| South | 30 |"


def test_a_sentence_goes_on_on_the_next_page() -> None:
    assert whole_text([_START, "in time.\n\nIt closes late."]) == (
        f"{_START} in time.\n\nIt closes late."
    )


def test_a_sentence_goes_on_in_the_next_column() -> None:
    assert whole_text([f"{_START}\n\nin time."]) == f"{_START} in time."


def test_a_word_divided_by_the_page_is_whole() -> None:
    assert whole_text([f"{_START} and maga-", "zines."]) == f"{_START} and magazines."


def test_a_compound_divided_by_the_page_keeps_its_hyphen() -> None:
    known = "Mark-up stays as it is."
    assert whole_text([f"{known}\n\n{_START} and mark-", "up languages."]) == (
        f"{known}\n\n{_START} and mark-up languages."
    )
    assert (
        whole_text([f"{_START} and Anglo-", "Saxon ones."]) == f"{_START} and Anglo-\n\nSaxon ones."
    )


def test_a_paragraph_of_three_pages_is_one() -> None:
    assert (
        whole_text([_START, "and every shelf", "in time."]) == f"{_START} and every shelf in time."
    )


def test_a_long_text_goes_on_with_a_capital() -> None:
    long = f"{_START}, {_START.lower()}, {_START.lower()}"
    assert whole_text([long, f"Berlin {long}"]) == f"{long} Berlin {long}"
    assert whole_text([f"{long}\n\nBerlin {long}"]) == f"{long}\n\nBerlin {long}"


def test_running_heads_notes_and_pictures_follow_the_text_they_part() -> None:
    pages = [
        f"Carrel 2026\n\nChapter one begins.\n\n{_START}\n\n[^1]: A note.\n\n7",
        "Carrel 2026\n\n![img-1.jpeg](img-1.jpeg)\n\nin time.\n\nIt closes late.\n\n8",
    ]
    assert whole_text(pages).split("\n\n") == [
        "Carrel 2026",
        "Chapter one begins.",
        f"{_START} in time.",
        "[^1]: A note.",
        "7",
        "Carrel 2026",
        "![img-1.jpeg](img-1.jpeg)",
        "It closes late.",
        "8",
    ]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (f"{_START}.", "in time."),
        (f"{_START}:", "in time."),
        ("Loans by hall", "in time."),
        (f"# {_START}", "in time."),
        (_START, "# in time"),
        (_START, "- in time"),
        (_START, "In time."),
        (_START, _TABLE),
        (f"```\n{_START}\n\nin time\n```", "in time"),
    ],
)
def test_what_has_ended_stays_apart(one: str, two: str) -> None:
    assert whole_text([one, two]) == f"{one}\n\n{two}"


def test_an_item_goes_on_on_the_next_page() -> None:
    assert whole_text([f"- One.\n- {_START}", "in time."]) == f"- One.\n- {_START} in time."


def test_a_table_with_its_head_repeated_is_one() -> None:
    more = "| Hall | Loans |\n| --- | --- |\n| East | 7 |"
    assert whole_text([_TABLE, more]) == f"{_TABLE}\n| East | 7 |"


def test_a_table_that_goes_on_without_a_head_is_one() -> None:
    more = "| East | 7 |\n| --- | --- |\n| West | 9 |"
    assert whole_text([_TABLE, more]) == f"{_TABLE}\n| East | 7 |\n| West | 9 |"


@pytest.mark.parametrize(
    "more",
    [
        "| Hall | Returns |\n| --- | --- |\n| East | 7 |",
        "| Hall | Loans | Returns |\n| --- | --- | --- |\n| East | 7 | 3 |",
        f"Returns by hall.\n\n{_TABLE}",
    ],
)
def test_another_table_stays_apart(more: str) -> None:
    assert whole_text([_TABLE, more]) == f"{_TABLE}\n\n{more}"


def test_two_tables_of_one_page_stay_apart() -> None:
    assert whole_text([f"{_TABLE}\n\n{_TABLE}"]) == f"{_TABLE}\n\n{_TABLE}"


def test_the_text_of_a_paper_is_whole_and_that_of_others_their_authors(
    library: LibraryUnderTest, tmp_path: Path
) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    for text in (_START, "in time and in good order."):
        canvas.drawString(72, 700, text)
        canvas.showPage()
    canvas.save()
    paper = library.processed("a.pdf", (tmp_path / "a.pdf").read_bytes())
    assert library.text(paper) == f"{_START} in time and in good order."
    assert library.text(paper, page_start=1) == "in time and in good order."
    note = library.processed("a.md", f"{_START}\n\nin time.".encode())
    assert library.text(note) == f"{_START}\n\nin time."
