"""Corrections of words: kept by the document's bytes, beside what was read."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.store.cache.copies import DocumentSource
from carrel.store.documents.blocks import Rect
from carrel.store.documents.boxes import boxes, passages
from carrel.store.documents.corrections import (
    SavedCorrections,
    apply_corrections,
    corrected_page,
    doubtful_words,
    key_of,
    page_words,
    place_of,
)
from carrel.store.documents.export.formats import ReadDocument, files
from carrel.store.documents.formatting import page_hits
from carrel.store.documents.marks import TextMark, doubtful_marks, mark_text, runs, unmark
from carrel.store.documents.service import NOTHING_OPEN
from carrel.store.documents.state import DocumentState
from carrel.store.documents.tables import tables
from carrel.store.store import Store
from support.pages import lease_page
from support.slices import until


def test_a_correction_is_in_the_corrected_text_alone() -> None:
    page = lease_page()
    [mark] = doubtful_marks(page)
    corrections = {key_of(mark): "writing"}
    [word] = doubtful_words((page, None), corrections)
    assert (word.mark.text, word.corrected) == ("writlng", "writing")
    assert apply_corrections(page, corrections) == page.markdown.replace("writlng", "writing")
    assert "writlng" in page.markdown


def test_a_correction_is_in_its_block_and_in_its_table() -> None:
    page = lease_page()
    rent = next(word.mark for word in page_words(page, {}) if word.mark.text == "1,240.00")
    [clause] = doubtful_marks(page)
    corrections = {key_of(rent): "1,250.00", key_of(clause): "writing"}
    fixed = corrected_page(page, corrections)
    assert fixed.markdown == apply_corrections(page, corrections)
    before, after = tables(page)[0], tables(fixed)[0]
    assert before.rows[-1] == ("2025", "1,240.00")
    assert after.rows[-1] == ("2025", "1,250.00") and after.rows[:-1] == before.rows[:-1]
    assert [block.content.replace("writing", "writlng") for block in fixed.blocks or ()][:2] == [
        block.content for block in page.blocks or ()
    ][:2]
    assert "writing" in [*(fixed.blocks or [])][1].content
    assert corrected_page(page, {}) is page
    document = ReadDocument("lease.pdf", [page], corrections=corrections)
    [(_, csv)] = asyncio.run(files(document, "csv", no_picture))
    assert b'"1,250.00"' in csv and b"1,240.00" not in csv


async def no_picture(page: int, width: int, part: Rect) -> bytes:
    raise AssertionError("no picture was asked for")


def test_a_correction_of_another_reading_changes_nothing() -> None:
    page = lease_page()
    assert apply_corrections(page, {(0, 3, "other"): "x", (1, 0, "#"): "x"}) == page.markdown


@given(st.lists(st.text("abcdef", min_size=1, max_size=5), min_size=1, max_size=12), st.data())
def test_every_corrected_word_stands_where_it_was_read(
    words: list[str], data: st.DataObject
) -> None:
    page = lease_page().model_copy(update={"markdown": " ".join(words)})
    new = [data.draw(st.text("xyz", min_size=1, max_size=6) | st.none()) for _ in words]
    starts = [len(" ".join(words[:at])) + (at > 0) for at in range(len(words))]
    corrections = {
        (page.index, start, word): other
        for start, word, other in zip(starts, words, new, strict=True)
        if other is not None
    }
    expected = [other or word for word, other in zip(words, new, strict=True)]
    assert apply_corrections(page, corrections).split() == expected


def test_a_word_is_one_of_its_block() -> None:
    page = lease_page()
    [mark] = doubtful_marks(page)
    place = place_of(page, mark)
    block = next(box.rect for box in boxes(page) if box.block == 1)
    assert place is not None
    rect, words, at = place
    assert rect == block and words[at] == "writlng"
    assert words[:3] == ("The", "notice", "period") and "Term" not in words
    assert place_of(page.model_copy(update={"blocks": None, "images": []}), mark) is None


def test_every_word_of_a_page_can_be_corrected() -> None:
    page = lease_page()
    words = page_words(page, {})
    texts = [word.mark.text for word in words]
    assert texts[:4] == ["Term", "The", "notice", "period"]
    assert {"writlng", "1,240.00", "months."} <= {*texts}
    assert not {"|", "#", ""} & {*texts}
    for word in words:
        assert page.markdown[word.mark.start : word.mark.end] == word.mark.text
    months = next(word for word in words if word.mark.text == "months.")
    corrections = {key_of(months.mark): "weeks."}
    assert "three weeks. Notice" in apply_corrections(page, corrections)
    # It stays in the list, to be taken back.
    listed = doubtful_words((page,), corrections)
    assert [(word.mark.text, word.corrected) for word in listed] == [
        ("months.", "weeks."),
        ("writlng", None),
    ]


def test_a_corrected_word_is_shown_in_its_place() -> None:
    page = lease_page()
    [mark] = doubtful_marks(page)
    state = DocumentState(pages=(page,), corrections={key_of(mark): "writing"})
    clause = next(one for one in passages(page) if one.block == 1)
    shown = mark_text(clause, page_hits(state), None)
    assert unmark(shown) == clause.text.replace("writlng", "writing")
    assert ("writing", "corrected") in [*runs(shown)]
    assert not [role for _, role in runs(shown) if role == "doubtful"]


def test_the_last_correction_counts_and_a_cut_off_line_spoils_itself_alone(tmp_path: Path) -> None:
    saved = SavedCorrections(tmp_path)
    saved.add("hash", (0, 5, "wrlting"), "wrting")
    saved.add("hash", (0, 5, "wrlting"), "writing")
    saved.add("hash", (1, 0, "a"), "b")
    [path] = (tmp_path / "corrections").iterdir()
    assert path.stat().st_mode & 0o077 == 0
    with path.open("a") as file:
        file.write('\n[0, 5, "wrl')
    assert saved.add("hash", (1, 0, "a"), None) == {(0, 5, "wrlting"): "writing"}
    assert saved.load("other") == {}


async def test_it_is_kept_for_the_same_bytes_under_another_name_and_exported(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("The notlce period.")
    (tmp_path / "b.txt").write_text("The notlce period.")
    sources = []
    for name in ("a.txt", "b.txt"):
        file = await store.files.upload(tmp_path / name)
        assert file is not None
        sources.append(DocumentSource("file", file.id, file.filename))
    await store.documents.open(sources[0])
    state = await until(store.documents.slice, lambda state: state.complete)
    assert state.text is not None
    start = state.text.index("notlce")
    mark = TextMark(0, start, start + 6, "doubtful", "notlce", 0.5)
    await store.documents.correct(mark, " notice ")
    before = state.text

    await store.documents.open(sources[1])
    state = await until(store.documents.slice, lambda state: state.complete)
    assert state.corrections == {key_of(mark): "notice"}
    assert state.text == before
    [path] = await store.documents.save("markdown", tmp_path / "out") or ()
    assert path.name == "b.md"
    assert "The notice period." in path.read_text()

    for words in ("other", "notlce"):
        await store.documents.correct(mark, words)
    assert store.documents.slice.value.corrections == {}


async def test_nothing_open_is_nothing_to_correct(store: Store) -> None:
    handle = store.documents.correct(TextMark(0, 0, 1, "doubtful", "a"), "b")
    await handle.settled()
    assert handle.error == NOTHING_OPEN


@pytest.mark.parametrize("hash", ["a", "b"])
def test_each_document_has_its_own(tmp_path: Path, hash: str) -> None:
    saved = SavedCorrections(tmp_path)
    saved.add("a", (0, 0, "x"), "a")
    saved.add("b", (0, 0, "x"), "b")
    assert saved.load(hash) == {(0, 0, "x"): hash}
