from collections.abc import AsyncIterable
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from carrel.store.documents import Source
from carrel.store.store import Store
from support.documents import digital_pdf, docx
from support.slices import until

HOSTILE = "invoice [/final] \x1b]0;x\x07.pdf"


async def stored(store: Store, path: Path) -> Source:
    file = await store.files.upload(path)
    assert file is not None
    return Source("file", file.id, file.filename)


async def test_pages_appear_one_after_the_other_the_first_one_first(
    store: Store, tmp_path: Path
) -> None:
    source = await stored(store, digital_pdf(tmp_path / "a.pdf", pages=7))
    seen: list[tuple[bool, ...]] = []
    store.documents.slice.changed.connect(
        lambda new, old: seen.append(tuple(page is not None for page in new.pages))
    )
    await store.documents.open(source)
    state = await until(store.documents.slice, lambda state: state.read == 7)
    assert (True,) + (False,) * 6 in seen, "the first page alone was there first"
    assert state.page_count == 7
    assert [page.index for page in state.pages if page] == list(range(7))
    assert state.text is not None and state.text.strip()
    activity = await until(store.activity.slice, lambda state: state.items[0].ended)
    item = activity.items[0]
    assert (item.kind, item.status, item.done, item.total) == ("ocr", "done", 7, 7)
    assert item.subject == source.id


async def test_the_page_on_screen_is_read_first(store: Store, tmp_path: Path) -> None:
    source = await stored(store, digital_pdf(tmp_path / "a.pdf", pages=6))
    await store.documents.open(source, page=4)
    state = await until(store.documents.slice, lambda state: state.read >= 1)
    assert [bool(page) for page in state.pages][4]
    assert state.current == 4
    state = await until(store.documents.slice, lambda state: state.read == 6)


async def test_stopping_keeps_what_is_read_and_reading_goes_on_where_it_stopped(
    store: Store, tmp_path: Path
) -> None:
    source = await stored(store, digital_pdf(tmp_path / "a.pdf", pages=30))
    await store.documents.open(source)
    await until(store.documents.slice, lambda state: state.read >= 1)
    await store.documents.stop()
    state = await until(store.documents.slice, lambda state: not state.reading)
    assert 1 <= state.read < 30
    activity = await until(store.activity.slice, lambda state: state.items[0].ended)
    assert activity.items[0].status == "cancelled"
    first = state.pages[0]
    await store.documents.open(source)
    state = store.documents.slice.value
    assert state.read >= 1 and state.pages[0] == first, "what was read is still there"
    state = await until(store.documents.slice, lambda state: state.read == 30, 60)


async def test_another_document_takes_the_place_of_the_first(store: Store, tmp_path: Path) -> None:
    long = await stored(store, digital_pdf(tmp_path / "long.pdf", pages=30))
    short = await stored(store, digital_pdf(tmp_path / "short.pdf", pages=1))
    await store.documents.open(long)
    await store.documents.open(short)
    state = await until(store.documents.slice, lambda state: state.read == 1)
    assert (state.source, state.page_count) == (short, 1)
    await until(store.activity.slice, lambda state: state.items[0].ended)
    statuses = {item.name: item.status for item in store.activity.slice.value.items}
    assert statuses["short.pdf"] == "done"


async def test_the_picture_of_a_page(store: Store, tmp_path: Path) -> None:
    source = await stored(store, digital_pdf(tmp_path / "a.pdf", pages=2))
    await store.documents.open(source)
    png = await store.documents.picture(1, 300)
    assert png is not None
    assert Image.open(BytesIO(png)).width == 300
    handle = store.documents.picture(9, 300)
    assert await handle is None
    assert handle.error is not None and handle.error.title == "No picture of this page"
    assert store.documents.slice.value.error is None


async def test_an_office_file_has_text_and_no_picture(store: Store, tmp_path: Path) -> None:
    source = await stored(store, docx(tmp_path / "a.docx"))
    await store.documents.open(source)
    state = await until(store.documents.slice, lambda state: bool(state.read), 60)
    assert state.no_picture == "There is no picture for this kind of file."
    assert state.page_count == len(state.pages) == state.read
    assert state.text


async def test_a_document_of_a_library(store: Store, tmp_path: Path) -> None:
    library = await store.libraries.create("contracts")
    assert library is not None
    document = await store.libraries.upload(library.id, digital_pdf(tmp_path / "a.pdf", pages=2))
    assert document is not None
    await store.documents.open(Source("document", document.id, document.name, library.id))
    state = await until(store.documents.slice, lambda state: state.read == 2)
    assert state.picture_path is not None
    assert state.picture_path.stat().st_size == document.size
    await store.libraries.delete([library.id])


async def test_a_page_beyond_the_end_is_the_last(store: Store, tmp_path: Path) -> None:
    await store.documents.open(await stored(store, digital_pdf(tmp_path / "a.pdf", pages=3)))
    for wanted, page in ((99, 2), (-1, 0), (1, 1)):
        await store.documents.go(wanted)
        assert store.documents.slice.value.current == page


async def test_what_is_not_there_any_more_is_told(store: Store) -> None:
    handle = store.documents.open(Source("file", "0" * 8 + "-0000-7000-8000-" + "0" * 12, "a.pdf"))
    await handle
    assert handle.error is not None
    assert store.documents.slice.value.error == handle.error
    assert store.documents.slice.value.loading is False


async def test_reading_without_a_document_is_told(store: Store) -> None:
    handle = store.documents.read()
    await handle
    assert handle.error is not None and handle.error.title == "Nothing is open"


async def test_a_broken_document_ends_as_a_problem(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.7 and then nothing")
    await store.documents.open(await stored(store, path))
    state = await until(store.documents.slice, lambda state: state.error is not None, 60)
    assert state.no_picture == "This PDF is damaged."
    await until(store.documents.slice, lambda state: not state.reading)


async def test_a_hostile_name_touches_no_path(store: Store, tmp_path: Path) -> None:
    async def content() -> AsyncIterable[bytes]:
        yield path.read_bytes()

    path = digital_pdf(tmp_path / "a.pdf", pages=1)
    file = await store.files.upload((HOSTILE, len(path.read_bytes()), content()))
    assert file is not None
    await store.documents.open(Source("file", file.id, "../../" + file.filename))
    state = await until(store.documents.slice, lambda state: state.read == 1)
    assert state.picture_path is not None and ".." not in state.picture_path.parts


async def test_copies_used_longest_ago_make_room(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [
        await stored(store, digital_pdf(tmp_path / f"{number}.pdf", pages=1, text=f"{number}"))
        for number in range(3)
    ]
    await store.documents.open(sources[0])
    first = store.documents.slice.value.picture_path
    assert first is not None
    monkeypatch.setattr("carrel.store.copies.COPIES_BYTES", 2 * first.stat().st_size + 100)
    for source in sources[1:]:
        await store.documents.open(source)
    names = {path.name for path in first.parent.iterdir()}
    assert first.name not in names and len(names) == 2
