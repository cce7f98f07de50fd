"""Synced folders as both faces see them, over a service with the documented endpoints alone."""

import re
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from carrel.config.profiles import Profile
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.store import Store
from carrel.store.sync.formatting import FolderRow, folder_rows, plan_rows, preview_words
from carrel.store.sync.state import SyncState
from carrel.sync import remote
from support.folders import write
from support.service import Request, reply
from support.slices import until
from support.strict import LIBRARY, StrictLibrary, strict_library

MATCHED = re.compile(r"○ Matched at (.+, )?\d\d:\d\d · not watching")


@pytest.fixture
async def library() -> AsyncIterator[StrictLibrary]:
    async with strict_library() as library:
        yield library


@pytest.fixture
async def store(library: StrictLibrary, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Store]:
    monkeypatch.setattr(remote, "PAUSES", ())
    async with opened(library) as store:
        yield store


class opened:
    def __init__(self, library: StrictLibrary, read_only: bool = False) -> None:
        self._profile = Profile("test", library.service.url, read_only=read_only)

    async def __aenter__(self) -> Store:
        self._store = Store(self._profile, OwnerLoop.running())
        await self._store.start()
        return self._store

    async def __aexit__(self, *_: object) -> None:
        await self._store.close()


@pytest.fixture
def folder(home: Path) -> Path:
    write(home / "contracts" / "a.txt", "one")
    write(home / "contracts" / "d" / "b.txt", "two")
    return home / "contracts"


def row(state: SyncState) -> FolderRow:
    [row] = folder_rows(state, LIBRARY, 0)
    return row


async def test_looking_syncing_and_going_on(
    store: Store, library: StrictLibrary, folder: Path
) -> None:
    preview = await store.sync.preview(LIBRARY, folder)
    assert preview is not None
    assert preview_words(preview) == "2 to upload (6 B)"
    assert [(row.action, row.path) for row in plan_rows(preview)] == [
        ("Upload", "a.txt"),
        ("Upload", "d/b.txt"),
    ]
    assert not store.sync.slice.value.folders

    phases: list[str] = []

    def note(new: object, old: object) -> None:
        phases.extend(row.status.text for row in folder_rows(store.sync.slice.value, LIBRARY, 0))

    store.sync.slice.changed.connect(note)
    await store.sync.sync(LIBRARY, folder)
    store.sync.slice.changed.disconnect(note)
    assert "Looking at the folder" in phases
    assert "2 of 2 files · 100 %" in phases
    shown = row(store.sync.slice.value)
    assert (shown.name, shown.running) == ("~/contracts", False)
    assert MATCHED.fullmatch(str(shown.status))
    assert set(library.held) == {"a.txt", "d/b.txt"}
    [item] = [each for each in store.activity.slice.value.items if each.kind == "sync"]
    assert (item.name, item.status, item.done, item.total) == ("~/contracts", "done", 6, 6)
    assert store.notifications.slice.value.items[-1].text == "~/contracts: 2 uploaded."
    await until(
        store.libraries.slice,
        lambda state: {document.name for document in state.documents} == {"a.txt", "d/b.txt"},
    )

    (folder / "a.txt").unlink()
    [known] = store.sync.slice.value.folders
    await store.sync.repeat(known.id)
    assert len(library.held) == 2
    await store.sync.sync(LIBRARY, folder, delete=True)
    assert set(library.held) == {"d/b.txt"}


async def test_what_failed_is_shown_and_stays(
    store: Store, library: StrictLibrary, folder: Path
) -> None:
    library.meddle = lambda request: (
        reply({"message": "Too large."}, 413) if b"two" in request.body else None
    )
    handle = store.sync.sync(LIBRARY, folder)
    await handle
    assert handle.outcome == "done"
    shown = row(store.sync.slice.value)
    assert str(shown.status) == "✕ 1 file failed"
    assert shown.notes[0].startswith("d/b.txt: ")
    [item] = [each for each in store.activity.slice.value.items if each.kind == "sync"]
    assert item.status == "failed"
    assert item.error is not None
    assert item.error.title == "1 file was not synced"
    assert store.notifications.slice.value.items[-1].level == "error"


async def test_a_sync_that_cannot_go_on(store: Store, library: StrictLibrary, folder: Path) -> None:
    library.meddle = lambda request: (
        reply({"detail": "Full."}, 507) if request.method == "POST" else None
    )
    handle = store.sync.sync(LIBRARY, folder)
    await handle.settled()
    assert handle.outcome == "failed"
    assert row(store.sync.slice.value).status.role == "failed"
    library.meddle = lambda request: None
    await store.sync.repeat(store.sync.slice.value.folders[0].id)
    assert MATCHED.fullmatch(str(row(store.sync.slice.value).status))


async def test_watching_until_it_is_stopped(
    store: Store, library: StrictLibrary, folder: Path
) -> None:
    handle = store.sync.sync(LIBRARY, folder, watch=True)
    await until(store.sync.slice, lambda s: bool(s.folders and s.folders[0].summary))
    assert str(row(store.sync.slice.value).status) == "● In sync, watching"
    assert store.sync.sync(LIBRARY, folder, watch=True) is handle
    # One that is asked for otherwise neither takes its place nor passes for it.
    other = store.sync.sync(LIBRARY, folder, exclude=["*.log"], watch=True)
    await other.settled()
    assert other.error is not None
    assert other.error.title == "This folder is being synced already"
    assert row(store.sync.slice.value).running
    write(folder / "c.txt", "three")
    await until(store.sync.slice, lambda s: bool(getattr(s.folders[0].summary, "files", 0) == 3))
    assert set(library.held) == {"a.txt", "d/b.txt", "c.txt"}
    store.sync.stop(store.sync.slice.value.folders[0].id)
    await handle.settled()
    assert handle.outcome == "cancelled"
    assert not row(store.sync.slice.value).running


async def test_watching_outlives_a_lost_service(
    store: Store, library: StrictLibrary, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.store.sync.service.AGAIN", 0.05)
    library.meddle = lambda request: b"" if request.method == "POST" else None
    store.sync.sync(LIBRARY, folder, watch=True)
    await until(store.sync.slice, lambda s: bool(s.folders and s.folders[0].problem))
    library.meddle = lambda request: None
    await until(store.sync.slice, lambda s: bool(s.folders[0].summary))
    assert set(library.held) == {"a.txt", "d/b.txt"}


async def test_stopping_in_the_activity(store: Store, library: StrictLibrary, folder: Path) -> None:
    def stop(request: Request) -> None:
        if request.method == "POST":
            [item] = [each for each in store.activity.slice.value.items if each.kind == "sync"]
            store.activity.cancel(item.id)

    library.meddle = stop
    handle = store.sync.sync(LIBRARY, folder)
    await handle.settled()
    assert handle.outcome == "cancelled"
    [item] = [each for each in store.activity.slice.value.items if each.kind == "sync"]
    assert item.status == "cancelled"


async def test_the_next_start_knows_the_folders_and_what_waits(
    library: StrictLibrary, folder: Path
) -> None:
    async with opened(library) as store:
        await store.sync.sync(LIBRARY, folder, delete=True, exclude=["*.log"])
    write(folder / "new.txt", "three")
    async with opened(library) as store:
        await store.sync.load()
        [known] = store.sync.slice.value.folders
        assert (known.settings.delete, known.settings.exclude) == (True, ("*.log",))
        assert str(row(store.sync.slice.value).status) == "○ 1 to upload (5 B)"
        await store.sync.forget(known.id)
        await store.sync.load()
        assert not store.sync.slice.value.folders
    assert set(library.held) == {"a.txt", "d/b.txt"}


async def test_a_folder_that_is_not_watched_says_when_it_matched(
    library: StrictLibrary, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def says(store: Store, later: float = 0) -> str:
        [shown] = folder_rows(store.sync.slice.value, LIBRARY, time.time() + later)
        return str(shown.status)

    async with opened(library) as store:
        await store.sync.sync(LIBRARY, folder)
        assert MATCHED.fullmatch(says(store))
        assert MATCHED.fullmatch(says(store, 300))
        write(folder / "new.txt", "three")
        await store.sync.load()
        assert MATCHED.fullmatch(says(store))  # it was compared a moment ago
        monkeypatch.setattr("carrel.store.sync.state.COMPARED", 0.0)
        await store.sync.load()
        assert says(store) == "○ 1 to upload (5 B)"
        await store.sync.sync(LIBRARY, folder)
    (folder / "new.txt").unlink()
    async with opened(library) as store:
        loading = store.sync.load()
        await until(store.sync.slice, lambda state: bool(state.folders))
        assert says(store) == "○ Not compared yet"
        await loading
        words = "Nothing to do: 2 files in sync; 1 file deleted here stays in the library"
        assert says(store) == f"○ {words}"


async def test_a_read_only_profile_looks_and_does_no_more(
    library: StrictLibrary, folder: Path
) -> None:
    async with opened(library, read_only=True) as store:
        assert await store.sync.preview(LIBRARY, folder)
        handle = store.sync.sync(LIBRARY, folder)
        await handle.settled()
        assert handle.error is not None
        assert handle.error.title == "Read-only profile"
    assert library.held == {}
