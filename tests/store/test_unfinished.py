"""What one process leaves and the next resumes, over the real server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from carrel.config.profiles import Profile
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.store import Store
from support.documents import digital_pdf, pdf_of_pictures, picture
from support.folders import write
from support.process import RunningServer
from support.slices import until

Opened = Callable[[], AbstractAsyncContextManager[Store]]


@pytest.fixture
def opened(server: RunningServer) -> Opened:
    """Opens a store of the same profile, as one start of a face does."""

    @asynccontextmanager
    async def start() -> AsyncIterator[Store]:
        store = Store(Profile("test", server.url, server.api_key), OwnerLoop.running())
        await store.start()
        yield store
        await store.close()

    return start


def made(folder: Path, number: int) -> Path:
    return write(folder / f"note-{number:03}.md", f"# Note {number}\n")


async def all_names(store: Store) -> list[str]:
    client = await store.session.client()
    return sorted([file.filename async for file in client.files.every()])


async def test_uploads_that_were_quit_are_resumed_and_each_is_there_once(
    opened: Opened, tmp_path: Path
) -> None:
    paths = [made(tmp_path / "notes", number) for number in range(12)]
    async with opened() as store:
        for path in paths:
            store.files.upload(path)
        await until(
            store.activity.slice,
            lambda state: sum(item.status == "done" for item in state.items) >= 3,
        )
        assert store.unfinished.running_words == (f"Upload: {len(store.unfinished.running)}",)
    async with opened() as store:
        left = len(store.activity.slice.value.interrupted)
        assert 0 < left <= 9
        assert store.unfinished.left == (f"{left} of 12 uploads left",)
        store.unfinished.resume()
        await store.unfinished.idle()
        again = [item.name for item in reversed(store.activity.slice.value.items)]
        assert again == [path.name for path in paths[-left:]], "in the order that they were chosen"
        assert await all_names(store) == [path.name for path in paths]
        assert not store.unfinished.left
        await store.files.load()
        await store.files.delete([file.id for file in store.files.slice.value.items])
    async with opened() as store:
        assert not store.unfinished.left


async def test_a_file_that_arrived_before_the_cut_is_not_sent_again(
    opened: Opened, tmp_path: Path
) -> None:
    same, other = made(tmp_path / "a", 1), write(tmp_path / "b" / "note-002.md", "# Other x\n")
    async with opened() as store:
        client = await store.session.client()
        await client.files.upload(same)
        await client.files.upload(write(tmp_path / "c" / "note-002.md", "# Another\n"))
        for path in (same, other):
            store.files.upload(path)
        await asyncio.sleep(0)  # both are in the journal, and nothing was sent
    async with opened() as store:
        assert store.unfinished.left == ("2 uploads left",)
        store.unfinished.resume()
        await store.unfinished.idle()
        assert await all_names(store) == ["note-001.md", "note-002.md", "note-002.md"]


async def test_what_was_cancelled_or_dropped_does_not_come_back(
    opened: Opened, tmp_path: Path
) -> None:
    async with opened() as store:
        handles = [store.files.upload(made(tmp_path, number)) for number in range(4)]
        await asyncio.sleep(0)
        store.unfinished.cancel()
        await store.unfinished.idle()
        assert {handle.outcome for handle in handles} == {"cancelled"}
    async with opened() as store:
        assert not store.unfinished.left
        store.files.upload(made(tmp_path, 9))
        await asyncio.sleep(0)
    async with opened() as store:
        assert store.unfinished.left == ("1 upload left",)
        store.unfinished.drop()
        assert not store.unfinished.left
    async with opened() as store:
        assert not store.unfinished.left


async def test_a_sync_runs_and_is_cancelled_before_its_first_file(
    opened: Opened, tmp_path: Path
) -> None:
    folder = made(tmp_path / "notes", 1).parent
    async with opened() as store:
        library = await store.libraries.create("Notes")
        assert library is not None
        handle = store.sync.sync(library.id, folder)
        assert store.unfinished.running_words == ("Sync: 1",)
        store.unfinished.cancel()
        await store.unfinished.idle()
        assert handle.outcome == "cancelled"
        assert not store.unfinished.running_words
        await store.sync.sync(library.id, folder)
        assert not store.unfinished.running_words


async def test_files_from_a_browser_are_named_and_not_counted_as_resumable(
    opened: Opened, tmp_path: Path
) -> None:
    async def never() -> AsyncIterator[bytes]:
        await asyncio.sleep(60)
        yield b""

    async with opened() as store:
        store.files.upload(("dropped\n.pdf", 3, never()))
        store.files.upload(("kept.pdf", 3, never()))
        store.files.upload(made(tmp_path, 1))
        await asyncio.sleep(0)
    async with opened() as store:
        lost = "2 files from a browser or from memory cannot be resumed; upload them again"
        said, named = store.unfinished.left
        assert said == "1 of 3 uploads left"
        assert named.startswith(lost) and "kept.pdf" in named and "\n" not in named
        assert store.unfinished.resumable == (said,)
        store.unfinished.resume()
        await store.unfinished.idle()
        assert store.unfinished.left == (named,)
        assert not store.unfinished.resumable

        async def content() -> AsyncIterator[bytes]:
            yield b"abc"

        await store.files.upload(("kept.pdf", 3, content()))
        (named,) = store.unfinished.left
        assert "1 file" in named and "dropped" in named and "kept" not in named
        store.unfinished.drop()
        assert not store.unfinished.left


async def test_an_ocr_that_failed_stays_failed_with_its_reason(
    opened: Opened, tmp_path: Path
) -> None:
    async with opened() as store:
        file = await store.files.upload(write(tmp_path / "broken.pdf", "%PDF-1.7 and nothing"))
        assert file is not None
        source = DocumentSource("file", file.id, file.filename)
        await store.ocr_batch.read([source])
        (failed,) = [item for item in store.activity.slice.value.items if item.kind == "ocr"]
        assert failed.error is not None
    async with opened() as store:
        (again,) = store.activity.slice.value.items
        assert (again.kind, again.status, again.subject) == ("ocr", "failed", file.id)
        assert again.error == failed.error
        assert again.retryable
        store.activity.dismiss(again.id)
    async with opened() as store:
        assert store.activity.slice.value.items == ()


async def test_ocr_goes_on_after_a_cut_and_reads_no_page_twice(
    opened: Opened, tmp_path: Path
) -> None:
    async with opened() as store:
        file = await store.files.upload(digital_pdf(tmp_path / "a.pdf", pages=6))
        assert file is not None
        store.ocr_batch.read([DocumentSource("file", file.id, file.filename)])
        await until(
            store.activity.slice,
            lambda state: any(item.kind == "ocr" and item.done for item in state.items),
        )
    async with opened() as store:
        (item,) = store.activity.slice.value.interrupted
        assert (item.kind, item.name) == ("ocr", "a.pdf")
        store.unfinished.resume()
        await store.unfinished.idle()
        (item,) = [one for one in store.activity.slice.value.items if one.kind == "ocr"]
        assert (item.status, item.done, item.total) == ("done", 6, 6)
        assert item.before > 0


async def test_an_export_that_was_cut_off_is_resumed_and_each_file_is_there_once(
    opened: Opened, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    async with opened() as store:
        file = await store.files.upload(pdf_of_pictures(tmp_path / "plates.pdf", pages=3))
        assert file is not None
        source = DocumentSource("file", file.id, file.filename)
        await store.ocr_batch.read([source])
    for _ in range(2):  # the second finds all files there, as after a cut before its end was noted
        async with opened() as store:
            await store.documents.open(source)
            store.documents.save("images", folder)
            await asyncio.sleep(0)
            assert store.unfinished.running_words == ("Export: 1",)
        async with opened() as store:
            assert store.unfinished.left == ("1 export left",)
            store.unfinished.resume()
            await store.unfinished.idle()
            assert not store.unfinished.left
            names = sorted(path.name for path in folder.iterdir())
            assert [name.split(" page ")[1][0] for name in names] == ["1", "2", "3"]


async def test_a_batch_job_that_was_cut_off_is_submitted_once(
    opened: Opened, tmp_path: Path
) -> None:
    async with opened() as store:
        file = await store.files.upload(picture(tmp_path / "sheet.png"))
        assert file is not None
        store.batches.read([DocumentSource("file", file.id, file.filename)])
        await asyncio.sleep(0)
        assert store.unfinished.running_words == ("Batch: 1",)
    async with opened() as store:
        assert store.unfinished.left == ("1 batch job left",)
        store.unfinished.resume()
        await store.unfinished.idle()
        (job,) = store.batches.slice.value.jobs
        (item,) = [one for one in store.activity.slice.value.items if one.kind == "batch"]
        assert item.subject == job.id, "its submission is no longer shown"


async def test_adding_to_a_library_goes_on(opened: Opened, tmp_path: Path) -> None:
    async with opened() as store:
        library = await store.libraries.create("Contracts")
        file = await store.files.upload(made(tmp_path, 1))
        assert library is not None and file is not None
        store.libraries.add_file(library.id, file.id)
        for number in range(2, 6):
            store.libraries.upload(library.id, made(tmp_path, number))
        await asyncio.sleep(0)
    async with opened() as store:
        assert store.unfinished.left == ("5 uploads left",)
        store.unfinished.resume()
        await store.unfinished.idle()
        client = await store.session.client()
        documents = [document.name async for document in client.documents.every(library.id)]
        assert sorted(documents) == [f"note-{number:03}.md" for number in range(1, 6)]


async def test_a_sync_that_was_cut_off_and_a_watch_are_offered_again(
    opened: Opened, home: Path
) -> None:
    for number in range(40):
        made(home / "notes", number)
    write(home / "watched" / "a.md", "# A\n")
    async with opened() as store:
        library = await store.libraries.create("Notes")
        assert library is not None
        store.sync.sync(library.id, home / "watched", watch=True)
        await until(store.sync.slice, lambda state: any(folder.summary for folder in state.folders))
        store.sync.sync(library.id, home / "notes")
        await until(
            store.sync.slice,
            lambda state: any(f.progress and f.progress.reached > (2, 0) for f in state.folders),
        )
    async with opened() as store:
        cut, watched = store.unfinished.left
        assert cut.startswith("Interrupted at ") and cut.endswith(" of 40: ~/notes")
        assert watched == "Was watched: ~/watched"
        store.unfinished.resume()
        await until(
            store.sync.slice,
            lambda state: all(f.summary and not f.reached for f in state.folders),
        )
        assert {f.path.name: f.watching for f in store.sync.slice.value.folders} == {
            "notes": False,
            "watched": True,
        }
        client = await store.session.client()
        assert len([d async for d in client.documents.every(library.id)]) == 41
        assert not store.unfinished.left
        store.sync.stop(next(f.id for f in store.sync.slice.value.folders if f.watching))
        await until(store.sync.slice, lambda state: not any(f.watching for f in state.folders))
    async with opened() as store:
        assert not store.unfinished.left, "its end was asked for"


async def test_a_document_has_its_folder_in_its_name_from_the_first_request(
    opened: Opened, home: Path
) -> None:
    write(home / "notes" / "00" / "Übung [1].md", "# Eins\n")
    async with opened() as store:
        library = await store.libraries.create("Folders")
        await store.sync.sync(library.id, home / "notes")
        client = await store.session.client()
        (document,) = [one async for one in client.documents.every(library.id)]
        assert document.name == "00/Übung [1].md"
        methods = {logged.call.method for logged in store.requests.slice.value.items}
        assert "PUT" not in methods
