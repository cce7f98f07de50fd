"""What Files shows."""

from typing import Any

import pytest

from carrel.store.activity.state import ActivityItem, ActivityState
from carrel.store.files import formatting as files
from carrel.store.files.state import FilesState
from carrel.wire.files import File

NOW = 1_800_000_000.0

HOSTILE = "invoice [/final]\nsecond line.pdf"

FLAT = "invoice [/final] second line.pdf"


def file(**fields: Any) -> File:
    known = {
        "id": "f", "bytes": 1_234_567, "created_at": int(NOW - 130), "filename": "a.pdf",
        "purpose": "ocr", "sample_type": "ocr_input", "source": "upload",
    }  # fmt: skip
    return File.model_validate({**known, **fields})


def test_file_rows() -> None:
    state = FilesState(
        items=(file(filename=HOSTILE), file(id="g", num_lines=14_002, purpose="batch", bytes=None)),
        total=1204,
        page=2,
        page_size=20,
        selected="g",
        marked={id: file(id=id) for id in ("f", "elsewhere")},
    )
    first, second = files.file_rows(state, ActivityState(), NOW)
    assert (first.name, first.size, first.created) == (FLAT, "1.2 MB", "2 min ago")
    assert (first.marked, first.selected, first.ocr, first.pages) == (True, False, None, "")
    assert (second.size, second.pages, second.selected) == ("–", "14,002 lines", True)
    assert files.title(state) == "Files · 1,204 · 2 marked"
    assert files.page_range(state) == "41–42 of 1,204"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("queued", "○ queued"),
        ("running", "◐ page 4"),
        ("done", "● done"),
        ("failed", "✕ failed"),
        ("cancelled", "○ stopped"),
    ],
)
def test_the_newest_reading_of_a_file_is_in_its_row(status: Any, words: str) -> None:
    newest = ActivityItem("2", "ocr", "a.pdf", status, done=3, total=12, unit="pages", subject="f")
    oldest = ActivityItem("1", "ocr", "a.pdf", "failed", subject="f")
    state = FilesState(items=(file(),))
    (row,) = files.file_rows(state, ActivityState((newest, oldest)), NOW)
    assert (str(row.ocr), row.pages) == (words, "12")
