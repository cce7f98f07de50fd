import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from carrel.client import Client
from carrel.config.profiles import Profile
from carrel.store.activity.formatting import work_words
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.lists import KEPT, Sort
from carrel.store.files.formatting import file_rows, sort_files, sort_words
from carrel.store.files.state import FilesState
from carrel.store.notifications import NotificationsState
from carrel.store.session.state import READ_ONLY
from carrel.store.store import Store
from support.cuts import line
from support.process import RunningServer, serve
from support.slices import until

HOSTILE = "invoice [/final] \x1b]0;x\x07.pdf"


@pytest.fixture
async def empty(store: Store) -> Store:
    """The store, with no file in the service."""
    await store.files.load()
    while ids := [file.id for file in store.files.slice.value.items]:
        await store.files.delete(ids)
        await until(store.files.slice, lambda state: not state.loading)
    return store


def made(folder: Path, name: str, content: bytes = b"content") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


async def test_an_upload_is_in_the_list_and_in_the_activity(empty: Store, tmp_path: Path) -> None:
    path = made(tmp_path, "letter.pdf", b"%PDF-1.4 " + b"x" * 500_000)
    file = await empty.files.upload(path)
    assert file is not None
    state = await until(empty.files.slice, lambda state: bool(state.items))
    assert [item.id for item in state.items] == [file.id]
    assert (state.total, state.selected, state.loaded) == (1, file.id, True)
    (item,) = empty.activity.slice.value.items
    assert (item.kind, item.status, item.subject) == ("upload", "done", file.id)
    assert item.done == item.total == path.stat().st_size


async def test_an_upload_is_said_when_the_list_has_it(empty: Store, tmp_path: Path) -> None:
    said: list[tuple[str, int]] = []

    def note(new: NotificationsState, old: object) -> None:
        said.append((new.items[-1].text, len(empty.files.slice.value.items)))

    empty.notifications.slice.changed.connect(note)
    await empty.files.upload(made(tmp_path, "letter.pdf"))
    await until(empty.notifications.slice, lambda state: len(said) == 1)
    missing = empty.files.upload(tmp_path / "missing.txt")
    pair = [empty.files.upload(made(tmp_path, name)) for name in ("a.txt", "b.txt")]
    stopped = empty.files.upload(made(tmp_path, "stopped.txt"))
    stopped.cancel()
    await asyncio.gather(*(handle.settled() for handle in (missing, *pair, stopped)))
    await until(empty.notifications.slice, lambda state: len(said) == 2)
    empty.notifications.slice.changed.disconnect(note)
    assert said == [("Uploaded letter.pdf.", 1), ("Uploaded 2 files.", 3)]


async def test_uploads_wait_for_each_other(empty: Store, tmp_path: Path) -> None:
    handles = [
        empty.files.upload(made(tmp_path, f"{number}.txt", bytes([number] * 1000)))
        for number in range(4)
    ]
    await asyncio.sleep(0)
    statuses = [item.status for item in empty.activity.slice.value.items]
    assert statuses.count("queued") >= 3
    assert [(await handle) is not None for handle in handles] == [True] * 4
    await until(empty.files.slice, lambda state: state.total == 4)


async def test_an_upload_can_be_cancelled_and_leaves_nothing(empty: Store) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65536
            await asyncio.sleep(0.001)

    handle = empty.files.upload(("endless.bin", 5 * 10**8, endless()))
    await until(
        empty.activity.slice, lambda state: any((item.done or 0) > 0 for item in state.items)
    )
    empty.activity.cancel(empty.activity.slice.value.items[0].id)
    await handle.settled()
    assert handle.outcome == "cancelled"
    assert empty.activity.slice.value.items[0].status == "cancelled"
    await empty.files.load()
    assert empty.files.slice.value.items == ()


async def test_a_path_that_is_not_there_is_told_in_words(empty: Store, tmp_path: Path) -> None:
    handle = empty.files.upload(tmp_path / "gone.pdf")
    assert await handle.settled() == "failed"
    assert handle.error is not None
    assert handle.error.title == "This file can't be read"
    assert "gone.pdf" in handle.error.detail
    assert empty.activity.slice.value.items[0].error == handle.error


async def test_a_hostile_name_arrives_clean(empty: Store) -> None:
    async def content() -> AsyncIterator[bytes]:
        yield b"%PDF-1.4"

    file = await empty.files.upload((HOSTILE, 8, content()))
    assert file is not None
    assert "final]" in file.filename
    names = [item.name for item in empty.activity.slice.value.items] + [file.filename]
    assert not any(letter in name for name in names for letter in "\x1b\x07")


async def test_search_shows_the_files_that_fit(empty: Store, tmp_path: Path) -> None:
    for name in ("lease.txt", "rent.txt", "release.txt"):
        await empty.files.upload(made(tmp_path, name, name.encode()))
    await empty.files.search("lease")
    state = empty.files.slice.value
    assert {file.filename for file in state.items} == {"lease.txt", "release.txt"}
    await empty.files.search("")
    assert len(empty.files.slice.value.items) == 3


async def test_deleting_takes_marks_and_selection_along(empty: Store, tmp_path: Path) -> None:
    files = [await empty.files.upload(made(tmp_path, f"{n}.txt", b"%d" % n)) for n in range(3)]
    first, second, third = (file.id for file in files if file)
    await until(empty.files.slice, lambda state: state.total == 3)
    for file_id in (first, second, third):
        await empty.files.mark(file_id)
    await empty.files.mark(third)
    await empty.files.select(first)
    assert await empty.files.delete([first, second]) == 2
    state = await until(empty.files.slice, lambda state: state.total == 1 and not state.loading)
    assert (state.marked, state.selected) == ({}, third)


async def test_deleting_what_is_gone_already_is_no_failure(empty: Store, tmp_path: Path) -> None:
    file = await empty.files.upload(made(tmp_path, "a.txt"))
    assert file is not None
    await until(empty.notifications.slice, lambda state: bool(state.items))  # it arrived
    await empty.files.delete([file.id])
    handle = empty.files.delete([file.id])
    assert await handle == 1
    assert handle.outcome == "done"
    words = empty.notifications.slice.value.items[-1].text
    assert words == "Deleted one file; 1 was gone already."


async def test_a_signed_address_works_without_a_key(empty: Store, tmp_path: Path) -> None:
    file = await empty.files.upload(made(tmp_path, "a.txt", b"hello"))
    assert file is not None
    url = await empty.files.signed_url(file.id)
    assert url is not None
    async with httpx.AsyncClient() as http:
        assert (await http.get(url)).content == b"hello"


async def test_a_download_into_a_folder_keeps_to_the_folder(empty: Store, tmp_path: Path) -> None:
    file = await empty.files.upload(made(tmp_path, "a.txt", b"hello"))
    assert file is not None
    folder = tmp_path / "down"
    folder.mkdir()
    await empty.files.load()
    path = await empty.files.download(file.id, folder)
    assert path == folder / "a.txt"
    assert path.read_bytes() == b"hello"
    items = tuple(
        item.model_copy(update={"filename": "../../up.txt"})
        for item in empty.files.slice.value.items
    )
    empty.files.slice.put(FilesState(items=items))
    assert await empty.files.download(file.id, folder) == folder / "up.txt"


async def test_marked_files_of_other_pages_are_saved_under_their_names(
    empty: Store, tmp_path: Path
) -> None:
    names = [f"{number}.txt" for number in range(4)]
    for name in names:
        await empty.files.upload(made(tmp_path, name, name.encode()))
    empty.files.slice.put(FilesState(page_size=2))
    await empty.files.load()
    await empty.files.mark_all()
    (tmp_path / "down").mkdir()
    for id in empty.files.slice.value.marked:
        await empty.files.download(id, tmp_path / "down")
    assert sorted(path.name for path in (tmp_path / "down").iterdir()) == names


async def test_a_download_overwrites_nothing(empty: Store, tmp_path: Path) -> None:
    file = await empty.files.upload(made(tmp_path, "a.txt", b"hello"))
    assert file is not None
    await empty.files.load()
    saved = [empty.files.download(file.id, tmp_path) for _ in range(2)]
    assert [await one for one in saved] == [tmp_path / "a 2.txt", tmp_path / "a 3.txt"]
    assert await empty.files.download(file.id, tmp_path / "a.txt") == tmp_path / "a 4.txt"


async def test_a_read_only_profile_changes_nothing_until_it_is_allowed(
    server: RunningServer, tmp_path: Path
) -> None:
    profile = Profile("careful", server.url, server.api_key, read_only=True)
    store = Store(profile, OwnerLoop.running())
    await store.start()
    try:
        handle = store.files.upload(made(tmp_path, "a.txt"))
        await handle.settled()
        assert handle.error == READ_ONLY
        await store.session.allow_changes()
        assert await store.files.upload(made(tmp_path, "a.txt")) is not None
    finally:
        await store.close()


async def test_pages_that_were_seen_stay_until_the_list_changes(
    empty: Store, tmp_path: Path
) -> None:
    empty.files.slice.set(page_size=2)
    for number in range(5):
        await empty.files.upload(made(tmp_path, f"{number}.txt"))
    await empty.files.load_page(0)
    await empty.files.load_page(2)
    state = empty.files.slice.value
    assert [file.filename for file in state.items] == ["0.txt"]
    found = [state.at(index) for index in range(6)]
    assert [file and file.filename for file in found] == [
        "4.txt", "3.txt", None, None, "0.txt", None,
    ]  # fmt: skip
    first = found[0]
    assert first is not None and state.find(first.id) == first
    await empty.files.select(first.id)
    await empty.files.load_page(1)
    assert empty.files.slice.value.selected == first.id
    await empty.files.delete([first.id])
    await until(empty.files.slice, lambda state: state.total == 4 and not state.loading)
    assert empty.files.slice.value.find(first.id) is None


async def test_the_page_that_is_gone_gives_way_to_the_last_one(
    empty: Store, tmp_path: Path
) -> None:
    empty.files.slice.set(page_size=2)
    files = [await empty.files.upload(made(tmp_path, f"{number}.txt")) for number in range(3)]
    await empty.files.load_page(1)
    await empty.files.delete([file.id for file in files[:2] if file])
    state = await until(empty.files.slice, lambda state: state.total == 1 and not state.loading)
    assert (state.page, [file.filename for file in state.items]) == (0, ["2.txt"])


async def test_narrowing_asks_the_service(empty: Store, tmp_path: Path) -> None:
    await empty.files.upload(made(tmp_path, "page.pdf", b"%PDF-1.4"))
    await empty.files.upload(made(tmp_path, "lines.jsonl", b'{"a": 1}\n'))
    await empty.files.upload(made(tmp_path, "note.txt"), purpose="batch")

    def names() -> set[str]:
        return {file.filename for file in empty.files.slice.value.items}

    await empty.files.narrow(type="PDF")
    assert names() == {"page.pdf"}
    await empty.files.narrow(purpose="batch", source="upload")
    assert names() == {"note.txt"}
    await empty.files.narrow(source="repository")
    assert (names(), empty.files.slice.value.narrowed) == (set(), True)
    await empty.files.narrow()
    await empty.files.search("n !lines")
    assert names() == {"lines.jsonl", "note.txt"}
    rows = file_rows(empty.files.slice.value, empty.activity.slice.value, 0)
    assert [row.name for row in rows] == ["note.txt"]
    await empty.files.show_all()
    assert (len(names()), empty.files.slice.value.narrowed) == (3, False)


async def test_what_failed_can_be_tried_again(empty: Store, tmp_path: Path) -> None:
    await empty.files.upload(tmp_path / "late.txt").settled()
    (failed,) = (item for item in empty.activity.slice.value.items if item.kind == "upload")
    assert (failed.status, failed.retryable) == ("failed", True)
    made(tmp_path, "late.txt")
    empty.activity.retry(failed.id)
    state = await until(
        empty.activity.slice, lambda state: all(item.status == "done" for item in state.items)
    )
    uploads = [item for item in state.items if item.kind == "upload"]
    assert [(item.name, item.retryable) for item in uploads] == [("late.txt", False)]
    await until(empty.files.slice, lambda state: state.total == 1)


async def test_an_upload_goes_on_when_the_server_is_back(tmp_path: Path) -> None:
    path = made(tmp_path, "patient.txt", b"x" * 3000)
    with serve(tmp_path / "data") as server:
        store = Store(Profile("test", server.url, server.api_key), OwnerLoop.running())
        await store.start()
        await until(store.session.slice, lambda state: state.connection == "ready")
        port = server.port
    handle = store.files.upload(path)
    await until(store.session.slice, lambda state: state.connection == "lost")
    await until(store.activity.slice, lambda state: state.items[0].status == "queued")
    assert handle.outcome == "running"
    with serve(tmp_path / "data", port=port):
        file = await handle
        assert file is not None and file.bytes == 3000
        await store.close()


async def test_an_upload_whose_answer_is_lost_is_not_sent_again(tmp_path: Path) -> None:
    path = made(tmp_path, "once.txt", b"x" * 3000)
    with serve(tmp_path / "data") as server, line(server.port) as way:
        store = Store(Profile("test", way.url, server.api_key), OwnerLoop.running())
        await store.start()
        await until(store.session.slice, lambda state: state.connection == "ready")
        way.cut_before_answer(b"POST /v1/files ")
        handle = store.files.upload(path)
        await until(store.session.slice, lambda state: state.connection == "lost")
        way.mend()
        file = await handle
        async with Client(server.url, server.api_key) as client:
            assert [one.id async for one in client.files.every()] == [file.id]
        await store.close()


async def test_an_upload_outlives_a_cut_that_nobody_noticed(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as server, line(server.port) as way:
        store = Store(Profile("test", way.url, server.api_key), OwnerLoop.running())
        await store.start()
        await store.session.client()
        cuts = 0

        class Cut:
            async def __aiter__(self) -> AsyncIterator[bytes]:
                nonlocal cuts
                yield b"x" * 10
                if not cuts:
                    cuts += 1
                    way.cut()
                    way.mend()
                    await asyncio.sleep(0.2)
                yield b"y" * 10

        file = await store.files.upload(("cut.txt", 20, Cut()))
        assert (file.bytes, cuts) == (20, 1)
        assert store.session.slice.value.connection in ("ready", "slow"), "nobody noticed"
        await store.close()


async def test_a_download_goes_on_when_the_service_is_back(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as server, line(server.port) as way:
        store = Store(Profile("test", way.url, server.api_key), OwnerLoop.running())
        await store.start()
        file = await store.files.upload(made(tmp_path, "patient.txt", b"x" * 3000))
        way.cut_before_answer(f"GET /v1/files/{file.id}/content ".encode())
        handle = store.files.download(file.id, tmp_path / "saved.txt")
        await until(store.session.slice, lambda state: state.connection == "lost")
        way.mend()
        assert (await handle).read_bytes() == b"x" * 3000
        await store.close()


async def test_marks_outlive_a_change_of_the_list(empty: Store, tmp_path: Path) -> None:
    empty.files.slice.set(page_size=2)
    files = [await empty.files.upload(made(tmp_path, f"{number}.txt")) for number in range(5)]
    ids = {file.id for file in files if file}
    for page in range(3):
        await empty.files.load_page(page)
        for file in empty.files.slice.value.items:
            empty.files.mark(file.id)
    await empty.files.upload(made(tmp_path, "one more.txt"))
    await until(empty.files.slice, lambda state: state.total == 6)
    assert empty.files.slice.value.marked.keys() == ids
    assert await empty.files.delete(empty.files.slice.value.marked) == 5
    state = await until(empty.files.slice, lambda state: state.total == 1 and not state.loading)
    assert not state.marked


async def test_all_files_are_loaded_to_be_sorted(empty: Store, tmp_path: Path) -> None:
    empty.files.slice.set(page_size=3)
    for number, size in enumerate((50, 10, 70, 30, 20, 60, 40)):
        await empty.files.upload(made(tmp_path, f"{number}.txt", b"x" * size))
    await empty.files.sort(Sort("size", descending=True))
    state = empty.files.slice.value
    ordered = sort_files(state, {})
    assert ordered is not None
    assert [file.bytes for file in ordered] == [70, 60, 50, 40, 30, 20, 10]
    assert (state.missing, sort_words(state)) == (None, "")
    await empty.files.upload(made(tmp_path, "least.txt", b"x"))
    await until(empty.files.slice, lambda state: state.total == 8 and state.missing is None)
    ordered = sort_files(empty.files.slice.value, {})
    assert ordered is not None and ordered[-1].filename == "least.txt"
    await empty.files.sort(None)
    assert sort_files(empty.files.slice.value, {}) is None


def test_it_is_said_when_only_a_part_is_sorted() -> None:
    state = FilesState(sort=Sort("name"), total=10_000, seen={0: ()})
    assert sort_words(state) == "sorted: 0 of 10,000"
    assert state.missing == 1
    every = dict.fromkeys(range(KEPT), ())
    assert FilesState(sort=Sort("name"), total=10_000, seen=every).missing is None


async def test_marks_reach_every_page_that_the_filter_lets_through(
    empty: Store, tmp_path: Path
) -> None:
    empty.files.slice.set(page_size=3)
    for name in ("a1.txt", "a2.txt", "a3-draft.txt", "a4.txt", "b5.txt", "a6.txt", "a7.txt"):
        await empty.files.upload(made(tmp_path, name, name.encode()))
    await empty.files.search("a !draft")
    await empty.files.mark_all()
    assert marked_names(empty) == ["a1.txt", "a2.txt", "a4.txt", "a6.txt", "a7.txt"]
    await empty.files.search("")
    await empty.files.invert_marks()
    assert marked_names(empty) == ["a3-draft.txt", "b5.txt"]
    shown = [file.id for file in empty.files.slice.value.items]
    await empty.files.mark_range([*shown, "unknown"])
    assert marked_names(empty) == ["a3-draft.txt", "a6.txt", "a7.txt", "b5.txt"]
    done: list[tuple[int | None, str]] = []
    empty.activity.slice.changed.connect(
        lambda new, _: done.append((new.items[0].done, work_words(new)))
    )
    assert await empty.files.delete(empty.files.slice.value.marked) == 4
    assert (2, "Deleting 2 of 4 files") in done
    item = empty.activity.slice.value.items[0]
    assert (item.kind, item.name, item.status) == ("delete", "4 files", "done")
    assert work_words(empty.activity.slice.value) == ""


def marked_names(store: Store) -> list[str]:
    return sorted(file.filename for file in store.files.slice.value.marked.values())
