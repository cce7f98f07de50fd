"""A look into files of each kind, at the real server."""

from pathlib import Path

import pytest

from carrel.store import previews
from carrel.store.previews import PreviewState
from carrel.store.store import Store
from support.documents import digital_pdf, picture


async def preview(store: Store, path: Path) -> PreviewState:
    file = await store.files.upload(path)
    handle = store.previews.show(file)
    await handle
    assert handle.error is None
    state = store.previews.slice.value
    assert file is not None and (state.file_id, state.loading) == (file.id, False)
    return state


async def test_a_text_is_shown_from_its_beginning(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("a line of text\x1b[31m\n" * 5_000)
    state = await preview(store, path)
    assert (state.kind, state.more) == ("text", True)
    assert set(state.text.splitlines()) == {"a line of text[31m"}
    assert len(state.text) < previews.TEXT


async def test_the_lines_of_a_jsonl_are_records(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "batch.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}\n')
    state = await preview(store, path)
    assert (state.kind, state.text, state.more) == ("lines", '{"a": 1}\n{"a": 2}\n', False)


@pytest.mark.parametrize(("name", "count"), [("two.pdf", 2), ("photo.png", 1)])
async def test_a_page_and_a_photo_have_a_picture(
    store: Store, tmp_path: Path, name: str, count: int
) -> None:
    make = digital_pdf if name.endswith("pdf") else picture
    state = await preview(store, make(tmp_path / name))
    assert (state.kind, state.page_count) == ("picture", count)
    png = await store.previews.picture(200)
    assert png is not None and png.startswith(b"\x89PNG")


async def test_a_large_picture_and_a_broken_one_say_why_there_is_none(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4 nothing more")
    state = await preview(store, broken)
    assert (state.kind, bool(state.note)) == ("none", True)
    monkeypatch.setattr(previews, "MOST", 100)
    state = await preview(store, digital_pdf(tmp_path / "large.pdf"))
    assert (state.kind, state.path) == ("none", None)
    assert state.note.startswith("A large file")
