"""OCR of many documents at once."""

import json
from dataclasses import replace
from pathlib import Path

from carrel.config.profiles import Profile, folders
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.documents.reader import USUAL
from carrel.store.files.formatting import file_rows
from carrel.store.store import Store
from support.cuts import line
from support.documents import digital_pdf, docx
from support.process import RunningServer, serve
from support.slices import until


async def stored(store: Store, path: Path) -> DocumentSource:
    file = await store.files.upload(path)
    assert file is not None
    return DocumentSource("file", file.id, file.filename)


async def test_each_is_a_row_and_one_that_fails_stops_no_other(
    store: Store, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 and then nothing")
    paths = [digital_pdf(tmp_path / "a.pdf", pages=3), broken, docx(tmp_path / "c.docx")]
    sources = [await stored(store, path) for path in paths]
    assert await store.ocr_batch.read(sources) == 2
    assert [name for name, _ in store.ocr_batch.slice.value.failed] == ["broken.pdf"]
    rows = {item.name: item for item in store.activity.slice.value.items if item.kind == "ocr"}
    assert {name: row.status for name, row in rows.items()} == {
        "a.pdf": "done",
        "broken.pdf": "failed",
        "c.docx": "done",
    }
    assert (rows["a.pdf"].done, rows["a.pdf"].total) == (3, 3)
    news = await until(store.notifications.slice, lambda state: bool(state.items))
    assert news.items[-1].text == "2 of 3 read; failed: broken.pdf."
    for source in (sources[0], sources[2]):
        await store.documents.open(source)
        assert store.documents.slice.value.complete, "what was read is there at once"


async def test_no_page_is_asked_for_twice_by_readings_of_one_document(
    store: Store, tmp_path: Path
) -> None:
    source = await stored(store, digital_pdf(tmp_path / "a.pdf", pages=30))
    await store.documents.open(source, page=20)
    assert await store.ocr_batch.read([source]) == 1
    state = await until(store.documents.slice, lambda state: state.complete)
    assert [page.index for page in state.pages if page] == list(range(30))
    calls = [entry.call for entry in store.requests.slice.value.items]
    asked = [json.loads(call.sent)["pages"] for call in calls if call.path == "/v1/ocr"]
    assert sorted(page for pages in asked for page in pages) == list(range(30))
    activity = await until(store.activity.slice, lambda state: all(i.ended for i in state.items))
    rows = [item for item in activity.items if item.kind == "ocr"]
    assert [(row.status, row.done) for row in rows] == [("done", 30)] * 2


async def test_it_goes_on_when_the_service_is_back(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as server, line(server.port) as way:
        store = Store(Profile("test", way.url, server.api_key), OwnerLoop.running())
        await store.start()
        source = await stored(store, digital_pdf(tmp_path / "a.pdf", pages=3))
        way.cut_before_answer(b"POST /v1/ocr ")
        handle = store.ocr_batch.read([source])
        await until(store.session.slice, lambda state: state.connection == "lost")
        way.mend()
        assert await handle == 1
        await store.close()


async def test_a_later_run_knows_which_files_were_read(
    server: RunningServer, tmp_path: Path
) -> None:
    names = ("whole.pdf", "part.pdf", "unread.pdf")

    async def rows(profile: str = "test") -> dict[str, tuple[str, str]]:
        """What the list of a new run says of pages and OCR, by the files' names."""
        store = Store(Profile(profile, server.url, server.api_key), OwnerLoop.running())
        await store.start()
        await store.files.load()
        found = file_rows(store.files.slice.value, store.activity.slice.value, 0)
        await store.close()
        return {row.name: (row.pages, str(row.ocr or "")) for row in found if row.name in names}

    store = Store(Profile("test", server.url, server.api_key), OwnerLoop.running())
    await store.start()
    read = await stored(store, digital_pdf(tmp_path / "whole.pdf", pages=3, text="whole"))
    part = await stored(store, digital_pdf(tmp_path / "part.pdf", pages=3, text="part"))
    await stored(store, digital_pdf(tmp_path / "unread.pdf", pages=3, text="unread"))
    await store.documents.open(read)
    await until(store.documents.slice, lambda state: state.complete)
    await store.ocr_batch.read([part], replace(USUAL, pages="1-2"))
    await store.close()
    assert await rows() == {
        "whole.pdf": ("3", "● done"),
        "part.pdf": ("3", "○ 2 of 3"),
        "unread.pdf": ("", ""),
    }
    assert set((await rows("another")).values()) == {("", "")}
    # Where what was read is gone from this machine, it is not said to be there.
    for kept in (folders().cache / "results").iterdir():
        kept.unlink()
    assert set((await rows()).values()) == {("", "")}


async def test_a_row_that_is_cancelled_leaves_the_rest(store: Store, tmp_path: Path) -> None:
    sources = [
        await stored(store, digital_pdf(tmp_path / f"{n}.pdf", pages=2, text=f"{n}"))
        for n in range(3)
    ]
    handle = store.ocr_batch.read(sources)
    state = await until(
        store.activity.slice,
        lambda state: sum(item.kind == "ocr" for item in state.items) == 3,
    )
    last = next(item for item in state.items if item.name == "2.pdf" and item.kind == "ocr")
    store.activity.cancel(last.id)
    assert await handle == 2
    assert store.ocr_batch.slice.value.failed == ()


async def test_each_kind_is_read_with_the_options_chosen_last_for_it(
    store: Store, tmp_path: Path
) -> None:
    first, second = (digital_pdf(tmp_path / name, pages=1) for name in ("a.pdf", "b.pdf"))
    source, other = await stored(store, first), await stored(store, second)
    chosen = replace(USUAL, tables="html", headers=True)
    await store.documents.open(source).settled()
    await store.documents.read_again(chosen).settled()
    await until(store.documents.slice, lambda state: state.complete and not state.reading)
    assert await store.ocr_batch.read([other]) == 1
    await store.documents.open(other)
    state = store.documents.slice.value
    assert state.options == chosen and state.complete, "what was read so is there at once"
