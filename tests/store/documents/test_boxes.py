"""Boxes, passages and marks of a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.store.documents.blocks import Rect
from carrel.store.documents.boxes import TextPassage, block_at, boxes, missing_note, passages
from carrel.store.documents.marks import TextMark, doubtful_marks, hits, mark_text, runs
from carrel.wire.ocr import Block, Page, PageTable
from support.pages import CLAUSE, TABLE, lease_page


def page(markdown: str, *blocks: Block, **fields: object) -> Page:
    return Page.model_validate(
        {"index": 0, "markdown": markdown, "dimensions": None, "blocks": [*blocks], **fields}
    )


def block(content: str, kind: str = "text", **fields: str) -> Block:
    edges = dict.fromkeys(("top_left_x", "top_left_y", "bottom_right_x", "bottom_right_y"))
    return Block.model_validate({"type": kind, "content": content, **edges, **fields})


def test_every_block_has_its_box_and_its_passage() -> None:
    lease = lease_page()
    assert [box.name for box in boxes(lease)] == [
        "title 1 of 4", "text 2 of 4", "table 3 of 4", "image 4 of 4",
    ]  # fmt: skip
    assert boxes(lease)[1].words == "text 2 of 4 · Check: 1 word · 86 % sure"
    assert [passage.block for passage in passages(lease)] == [0, 1, 2, 3]
    assert [passage.text for passage in passages(lease)][1:3] == [CLAUSE, TABLE]
    assert missing_note(lease) == ""


def test_the_note_on_lines_that_ocr_cannot_read_fits_half_a_screen() -> None:
    assert 0 < len(missing_note(page("�"))) <= 160 // 2 - len("╭─  ─╮")


def test_what_no_block_has_is_still_text() -> None:
    found = passages(page("one\n\ntwo\n\nthree", block("two")))
    assert [(passage.text, passage.block) for passage in found] == [
        ("one", None), ("two", 0), ("three", None),
    ]  # fmt: skip


def test_a_block_is_found_whatever_blanks_it_has() -> None:
    found = passages(page("a  longer\nline", block("a longer line")))
    assert [(passage.text, passage.block) for passage in found] == [("a  longer\nline", 0)]


def test_a_header_that_was_taken_out_and_a_table_stand_at_their_places() -> None:
    table = PageTable(id="tbl-0.html", content="<table><tr><td>a</td></tr></table>", format="html")
    shown = page(
        "text\n\n[tbl-0.html](tbl-0.html)",
        block("Header", "header"),
        block("text"),
        block("", "table", table_id="tbl-0.html"),
        tables=[table],
    )
    assert [passage.text.strip() for passage in passages(shown)] == [
        "Header", "text", "| a |\n| --- |",
    ]  # fmt: skip


def test_pictures_are_the_boxes_where_there_are_no_blocks() -> None:
    lease = lease_page().model_copy(update={"blocks": None})
    assert [box.name for box in boxes(lease)] == ["image 1 of 1"]
    assert [passage.block for passage in passages(lease)] == [None, 0]


def test_the_block_at_a_place_is_that_which_shares_most() -> None:
    lease = lease_page()
    assert block_at(lease, Rect(0.1, 0.09, 0.5, 0.05)) == 1
    assert block_at(lease, Rect(0.0, 0.9, 0.1, 0.1)) is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"blocks": None, "images": []}, "The service gives no boxes."),
        ({"confidence_scores": None}, "The service gives no scores."),
        (
            {"dimensions": None, "confidence_scores": None},
            "The service gives no boxes and no scores.",
        ),
    ],
)
def test_what_is_lacking_is_said(fields: dict[str, object], words: str) -> None:
    assert missing_note(lease_page().model_copy(update=fields)) == words


def test_doubtful_words_and_hits_stand_where_they_are_in_the_text() -> None:
    lease = lease_page()
    (word,) = doubtful_marks(lease)
    assert lease.markdown[word.start : word.end] == word.text == "writlng"
    found = hits(lease, " NOTICE  period ")
    assert [mark.text for mark in found] == ["notice period"]
    assert hits(lease, "  ") == ()


@given(st.text("ab \u2061\u2062\u2063\u2064", max_size=30), st.data())
def test_a_marked_text_is_the_same_text_with_its_marks(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    found = [
        TextMark(0, a, b, "hit", "") for a, b in zip(cuts[::2], cuts[1::2], strict=False) if a < b
    ]
    drawn = [*runs(mark_text(TextPassage(text, 0, None), found, found[0] if found else None))]
    plain = "".join(piece for piece, _ in drawn)
    assert len(plain) == len(text)
    roles = [role for piece, role in drawn for _ in piece]
    expected: list[str | None] = [None] * len(text)
    for number, mark in enumerate(found):
        expected[mark.start : mark.end] = ["hit" if number else "chosen"] * (mark.end - mark.start)
    assert roles == expected
