"""What Libraries shows."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from carrel.store.core.lists import Sort
from carrel.store.libraries import formatting as libraries
from carrel.store.libraries.state import LibrariesState
from carrel.wire.documents import Document
from carrel.wire.libraries import Library, SearchHit

NOW = 1_800_000_000.0

THEN = datetime.fromtimestamp(NOW - 130, UTC)

HOSTILE = "invoice [/final]\nsecond line.pdf"

FLAT = "invoice [/final] second line.pdf"


def document(**fields: Any) -> Document:
    known = {
        "id": "d", "library_id": "l", "name": "a.pdf", "created_at": THEN, "hash": None,
        "mime_type": None, "extension": None, "size": 1, "process_status": "done",
        "processing_status": "Completed", "uploaded_by_id": None, "uploaded_by_type": "User",
        "tokens_processing_total": 0,
    }  # fmt: skip
    return Document.model_validate({**known, **fields})


def library(**fields: Any) -> Library:
    known = {
        "id": "l", "name": "contracts", "created_at": THEN, "updated_at": THEN, "owner_id": None,
        "owner_type": "User", "total_size": 1, "nb_documents": 1204, "chunk_size": None,
    }  # fmt: skip
    return Library.model_validate({**known, **fields})


@pytest.mark.parametrize(
    ("status", "older", "words"),
    [
        ("todo", "Running", "○ Queued"),
        ("waiting_for_capacity", "Running", "○ Queued"),
        ("in_progress", "Running", "◐ Processing"),
        ("done", "Completed", "● Ready"),
        ("self_managed", "Completed", "● Ready"),
        ("error", "Error", "✕ Failed"),
        ("missing_content", "Error", "✕ Failed"),
        (None, "Running", "◐ Processing"),
        (None, "Completed", "● Ready"),
        ("brand_new_word", "Error", "✕ Failed"),
        ("brand_new_word", "Another", "● Ready"),
    ],
)
def test_document_status(status: str | None, older: str, words: str) -> None:
    shown = libraries.document_status(document(process_status=status, processing_status=older))
    assert str(shown) == words


def test_library_and_document_rows() -> None:
    waiting = {"process_status": "todo", "processing_status": "Running"}
    state = LibrariesState(
        items=(library(name=HOSTILE), library(id="m")),
        selected="l",
        documents=(
            document(name=HOSTILE, number_of_pages=12, summary="Lease\nbetween A and B"),
            document(id="e", queue_position=3, **waiting),
            document(id="g", process_status="error", error="not a PDF"),
        ),
        total=412,
        document="e",
    )
    one, two = libraries.library_rows(state)
    assert (one.name, one.documents, one.selected, one.busy) == (FLAT, "1,204", True, True)
    assert (two.selected, two.busy) == (False, False)
    ready, queued, failed = libraries.document_rows(state, NOW)
    assert (ready.name, ready.pages, ready.summary) == (FLAT, "12", "Lease between A and B")
    assert (queued.pages, queued.summary, queued.selected) == ("–", "", True)
    assert failed.summary == "not a PDF"
    assert libraries.title(state) == f"{FLAT} · 412 documents · 2 or more not ready"
    assert libraries.title(replace(state, total=3)) == f"{FLAT} · 3 documents · 2 not ready"
    assert libraries.page_range(state) == "1–3 of 412"


@pytest.mark.parametrize(
    ("position", "words"), [(1, "1st"), (2, "2nd"), (4, "4th"), (12, "12th"), (23, "23rd")]
)
def test_places_in_the_queue(position: int, words: str) -> None:
    state = LibrariesState(
        documents=(document(process_status="todo", queue_position=position),), total=1
    )
    assert str(libraries.document_rows(state, NOW)[0].status) == f"○ Queued, {words}"


def test_hit_rows() -> None:
    hit = SearchHit(
        document_id="d", document_name=HOSTILE, page=6, snippet="the\n«notice»", score=1
    )
    (row,) = libraries.hit_rows(LibrariesState(hits=(hit,)))
    assert (row.number, row.name, row.page, row.passage) == (1, FLAT, "7", "the «notice»")


def test_hits_are_sorted_and_keep_their_numbers() -> None:
    found = (("b", 6), ("A", None), ("c", 0))
    state = LibrariesState(
        hits=tuple(
            SearchHit(document_id=name, document_name=name, page=page, snippet="", score=1)
            for name, page in found
        )
    )

    def numbers(sort: Sort | None) -> list[int]:
        return [row.number for row in libraries.hit_rows(state, sort)]

    assert numbers(None) == [1, 2, 3]
    assert numbers(Sort("hit", descending=True)) == [3, 2, 1]
    assert numbers(Sort("name")) == [2, 1, 3]
    assert numbers(Sort("page")) == [3, 1, 2], "a hit without a page comes last"
    assert numbers(Sort("page", descending=True)) == [1, 3, 2]


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("# Lease\n\nThe **notice** is `3` months.", "Lease The notice is 3 months."),
        ("- one\n- [two](https://a.b)\n1. three", "one two three"),
        ("2 * 3 * 4 is snake_case __init", "2 * 3 * 4 is snake_case __init"),
        ("> quoted *so*", "quoted so"),
    ],
)
def test_a_summary_is_words_without_the_signs_of_markdown(markdown: str, words: str) -> None:
    assert libraries.plain(markdown) == words
