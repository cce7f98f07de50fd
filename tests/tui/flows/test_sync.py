"""A folder that is dropped on the app, over a service with the documented endpoints alone."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events

from carrel.config.profiles import Profile
from carrel.tui.terminal.drops import parse_folder
from carrel.tui.widgets.inputs.choices import Choices
from support.folders import write
from support.strict import StrictLibrary, strict_library
from support.workbench import Workbench, workbench


@pytest.fixture
async def library() -> AsyncIterator[StrictLibrary]:
    async with strict_library() as library:
        yield library


@pytest.fixture
async def bench(library: StrictLibrary) -> AsyncIterator[Workbench]:
    async with workbench(Profile("test", library.service.url)) as bench:
        await bench.until(lambda: bench.store.session.slice.value.connection == "ready")
        yield bench


@pytest.fixture
def folder(home: Path) -> Path:
    write(home / "my contracts" / "a.txt", "one")
    write(home / "my contracts" / "d" / "b.txt", "two")
    return home / "my contracts"


async def drop(bench: Workbench, folder: Path) -> None:
    """Pastes a folder's path, as a terminal hands over a drop."""
    bench.app.post_message(events.Paste(str(folder).replace(" ", "\\ ")))
    await bench.pilot.pause()


async def test_a_folder_dropped_anywhere_offers_itself_for_sync(
    bench: Workbench, library: StrictLibrary, folder: Path
) -> None:
    await drop(bench, folder)
    await bench.shows("Sync ~/my contracts into", "A new library “my contracts”", "contracts  0")
    await bench.press("down", "enter")
    await bench.shows("into contracts", "2 to upload (6 B)", "Upload  d/b.txt  3 B")
    assert library.held == {}
    await bench.press("f2")
    await bench.shows("~/my contracts: 2 uploaded.", "Synced folder", "not watching")
    await bench.shows("a.txt", "d/b.txt")
    assert library.held == {"a.txt": b"one", "d/b.txt": b"two"}


async def test_a_small_window_shows_the_buttons_of_a_long_preview(
    library: StrictLibrary, folder: Path
) -> None:
    for number in range(40):
        write(folder / f"{number:02}.txt", f"page {number}")
    async with workbench(Profile("test", library.service.url), (80, 24)) as bench:
        await bench.until(lambda: bench.store.session.slice.value.connection == "ready")
        bench.store.session.slice.set(hosted=True)
        await drop(bench, folder)
        await bench.shows("Sync ~/my contracts into")
        await bench.press("down", "enter")
        await bench.shows("42 to upload", "service that bills", "Cancel", "F2 Sync", "esc closes")
        await bench.press("tab", "tab", "space")
        await bench.until(lambda: bool(bench.app.screen.query_one(Choices).selected))


async def test_leaving_it_does_nothing(
    bench: Workbench, library: StrictLibrary, folder: Path
) -> None:
    await bench.press("2")
    await bench.shows("contracts")
    await drop(bench, folder)
    await bench.shows("into contracts", "2 to upload")
    await bench.press("escape")
    assert library.asked("POST") == 0
    assert bench.store.sync.slice.value.folders == ()


async def test_syncing_by_key_with_choices_and_stopping(
    bench: Workbench, library: StrictLibrary, folder: Path
) -> None:
    await bench.press("2")
    await bench.until(lambda: bench.store.libraries.slice.value.selected)
    await bench.press("s")
    await bench.shows("Sync a folder into contracts")
    await bench.fill(str(folder))
    await bench.press("enter")
    await bench.shows("2 to upload")
    # The boxes have keys, wherever the focus is but in a field.
    await bench.press("alt+w", "alt+d")
    bench.app.screen.query_one("#exclude").focus()
    await bench.type("*.log d/")
    await bench.shows("1 to upload (3 B)")
    await bench.press("f2")
    await bench.shows("● In sync, watching")
    write(folder / "c.txt", "three")
    await bench.until(lambda: len(library.held) == 2)
    (folder / "a.txt").unlink()
    await bench.until(lambda: library.held == {"c.txt": b"three"})
    await bench.shows("~/my contracts: 1 deleted.")
    await bench.press("s")
    await bench.shows("Synced with contracts")
    await bench.press("enter")
    await bench.shows("Stop syncing this folder?")
    await bench.press("enter")
    await bench.until(lambda: not bench.store.sync.slice.value.folders[0].running)
    await bench.shows("not watching")
    await bench.press("s")
    await bench.shows("Synced with contracts")
    await bench.press("enter")
    await bench.shows("Nothing to do: 1 file in sync", "[✓] Delete in the library")
    # An interrupted one that deletes shows again what it would do by now.
    await bench.press("escape")
    (cut,) = bench.store.sync.slice.value.folders
    bench.store.sync.slice.set(folders=(replace(cut, reached=(0, 1)),))
    await bench.press("s")
    await bench.shows("Nothing to do: 1 file in sync", "[✓] Delete in the library")


async def test_only_the_preview_on_screen_can_be_accepted(
    bench: Workbench, library: StrictLibrary, folder: Path
) -> None:
    await drop(bench, folder)
    await bench.press("down", "enter")
    await bench.shows("2 to upload")
    await bench.press("f2")
    await bench.shows("~/my contracts: 2 uploaded.")
    (folder / "a.txt").unlink()
    await drop(bench, folder)
    await bench.shows("Nothing to do")
    library.gate.clear()
    bench.app.screen.query_one(Choices).focus()
    await bench.press("down", "space", "f2")
    await bench.shows("not ready yet", "Looking at the folder")
    library.gate.set()
    await bench.shows("1 to delete")
    assert "not ready yet" not in bench.text()
    # What is typed is a choice at once, though its preview waits for the last key.
    library.gate.clear()
    bench.app.screen.query_one("#exclude").focus()
    await bench.type("*.none")
    await bench.press("f2")
    await bench.shows("not ready yet")
    assert library.asked("DELETE") == 0
    library.gate.set()
    await bench.until(lambda: "not ready yet" not in bench.text())
    await bench.press("f2")
    await bench.until(lambda: "a.txt" not in library.held)


async def test_deletions_of_more_than_half_are_confirmed(
    bench: Workbench, library: StrictLibrary, folder: Path
) -> None:
    write(folder / "c.txt", "three")
    await drop(bench, folder)
    await bench.press("down", "enter")
    await bench.shows("3 to upload")
    await bench.press("f2")
    await bench.shows("~/my contracts: 3 uploaded.")
    (folder / "a.txt").unlink()
    (folder / "c.txt").unlink()
    write(folder / "new.txt", "four")
    await drop(bench, folder)
    await bench.shows("1 to upload")
    bench.app.screen.query_one(Choices).focus()
    await bench.press("down", "space")
    await bench.shows("2 to delete, 1 to upload")
    await bench.press("f2")
    await bench.shows("Delete 2 of the 3 documents that this folder brought?")
    await bench.press("escape")
    await bench.shows("2 to delete, 1 to upload")
    assert len(library.held) == 3
    await bench.press("f2")
    await bench.shows("Delete 2 of the 3 documents")
    await bench.press("enter")
    await bench.until(lambda: set(library.held) == {"d/b.txt", "new.txt"})


async def test_a_new_library_is_made_once_the_sync_is_accepted(
    bench: Workbench, library: StrictLibrary, folder: Path
) -> None:
    await drop(bench, folder)
    await bench.shows("A new library “my contracts”")
    await bench.press("enter")
    await bench.shows("into my contracts", "2 to upload (6 B)")
    await bench.press("escape")
    await bench.until(lambda: "into my contracts" not in bench.text())
    assert library.made == []
    await bench.press("1")
    await drop(bench, folder)
    await bench.shows("A new library “my contracts”")
    await bench.press("enter")
    await bench.shows("into my contracts", "2 to upload (6 B)")
    await bench.press("f2")
    await bench.until(lambda: library.made == ["my contracts"])


async def test_the_preview_is_read_by_keyboard(
    bench: Workbench, library: StrictLibrary, folder: Path
) -> None:
    for number in range(40):
        write(folder / f"z{number:02}.txt", str(number))
    await drop(bench, folder)
    await bench.press("down", "enter")
    await bench.shows("42 to upload", "z03.txt")
    assert "z39.txt" not in bench.text()
    await bench.press(*["pagedown"] * 8)
    await bench.shows("z39.txt")
    bench.app.screen.query_one("#changes").focus()
    await bench.press("home")
    await bench.shows("a.txt")


async def test_a_folder_that_cannot_be_read_says_so(
    bench: Workbench, library: StrictLibrary, folder: Path
) -> None:
    await bench.press("2")
    await bench.shows("contracts")
    library.meddle = lambda request: b"HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n"
    await drop(bench, folder)
    await bench.shows("The service answered with an error")


def test_a_pasted_path_of_one_folder_is_that_folder(folder: Path, tmp_path: Path) -> None:
    assert parse_folder(str(folder)) == folder
    assert parse_folder(f"'{folder}/'\n") == folder
    assert parse_folder(f"file://{str(folder).replace(' ', '%20')}") == folder
    assert parse_folder(str(folder / "a.txt")) is None
    assert parse_folder(f"{folder}\n{tmp_path}") is None
    assert parse_folder("my contracts") is None


async def test_a_service_that_cannot_search_is_told_of_where_the_hits_would_be(
    bench: Workbench, library: StrictLibrary
) -> None:
    await bench.press("2")
    await bench.shows("contracts")
    await bench.press("slash")
    await bench.type("lamp")
    await bench.shows("search: lamp", "This service does not search its libraries.")
    await bench.type("s")
    await bench.shows("search: lamps", "This service does not search its libraries.")
    await bench.store.libraries.reload()
    await bench.shows("search: lamps", "This service does not search its libraries.")
    await bench.press("escape", "escape")
    await bench.until(lambda: "does not search" not in bench.text())
