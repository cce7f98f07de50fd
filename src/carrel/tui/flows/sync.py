"""Syncing a folder: the choice of folder and library, and a preview before anything changes."""

import time
from pathlib import Path

from textual.content import Content

from carrel.store.core.formatting import counted
from carrel.store.sync.formatting import folder_name, folder_rows
from carrel.store.sync.state import FolderState
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.ask import Option
from carrel.tui.dialogs.core.confirm import Confirm
from carrel.tui.dialogs.core.path import FOLDER, PathDialog
from carrel.tui.dialogs.sync import SyncDialog, SyncWish
from carrel.tui.theme import labels
from carrel.wire.libraries import Library

_OTHER = "another folder"
_FORGET = "forget a folder"
_NEW = "new library"


async def sync_library(place: MainScreen, library: Library) -> None:
    """Sync a library with one of its synced folders, or with another."""
    answer: str | None = _OTHER
    if interrupted := _find_interrupted(place, library):
        for folder in interrupted:
            # One that deletes might delete by now more than was accepted.
            if folder.settings.delete:
                await _go_on(place, library, folder)
            else:
                place.do(place.store.sync.repeat(folder.id))
        return
    if synced := _folder_options(place, library):
        options = [
            *synced,
            Option(_OTHER, "Another folder…", key="o"),
            Option(_FORGET, "Forget a folder…", key="f"),
        ]
        answer = await place.choose(f"Synced with {library.name}", options)
    if answer == _OTHER:
        if folders := await place.ask(PathDialog(f"Sync a folder into {library.name}", FOLDER)):
            await _preview(place, library, folders[0], SyncWish())
    elif answer == _FORGET:
        await _forget(place, library)
    elif answer is not None:
        await _go_on(place, library, place.store.sync.find(int(answer)))


async def offer_folder(place: MainScreen, folder: Path, library: Library | None) -> None:
    """Offer to sync a dropped folder, to a library of choice if `library` is None."""
    if library is None:
        name = _name_of(folder)
        items = place.store.libraries.slice.value.items
        options = [
            Option(item.id, item.name, counted(item.nb_documents, "document")) for item in items
        ]
        new = Option(_NEW, f"A new library “{name}”", key="n")
        answer = await place.choose(f"Sync {folder_name(folder)} into", [new, *options])
        if answer == _NEW:
            await _preview(place, name, folder, SyncWish())
            return
        if answer is None:
            return
        place.do(place.store.libraries.select(answer))
        library = next(item for item in items if item.id == answer)
    await _preview(place, library, folder, SyncWish())


def _find_interrupted(place: MainScreen, library: Library) -> list[FolderState]:
    """Return the folders whose sync with a library was interrupted."""
    folders = place.store.sync.slice.value.of(library.id)
    return [folder for folder in folders if folder.reached and not folder.running]


def _name_of(folder: Path) -> str:
    """Return a name for a folder's new library."""
    return folder.resolve().name or "Library"


def _folder_options(place: MainScreen, library: Library) -> list[Option]:
    """Return options for the folders synced with a library."""
    rows = folder_rows(place.store.sync.slice.value, library.id, time.time())
    return [Option(str(row.id), row.name, str(row.status)) for row in rows]


async def _forget(place: MainScreen, library: Library) -> None:
    """Remove a synced folder from the list, chosen if there are several."""
    chosen = await place.choose("Forget which folder?", _folder_options(place, library))
    if chosen is None:
        return
    folder = place.store.sync.find(int(chosen))
    about = [
        labels.line(folder_name(folder.path), "bold"),
        Content("It is no longer synced. The folder and the library keep what they have."),
    ]
    if await place.ask(Confirm("Forget this synced folder?", about, "Forget")):
        place.do(place.store.sync.forget(folder.id))


async def _go_on(place: MainScreen, library: Library, folder: FolderState) -> None:
    """Stop a folder's sync, or start it again with its settings."""
    settings = folder.settings
    if not folder.running:
        wish = SyncWish(False, settings.delete, settings.include, settings.exclude)
        await _preview(place, library, folder.path, wish)
        return
    about = [
        labels.line(folder_name(folder.path), "bold"),
        Content("What is in the library stays. The next sync goes on from there."),
    ]
    if await place.ask(Confirm("Stop syncing this folder?", about, "Stop")):
        place.store.sync.stop(folder.id)


async def _preview(
    place: MainScreen, library: Library | str, folder: Path, first: SyncWish
) -> None:
    """Preview a sync with initial options, and run it once accepted.

    A library that is a name is new: it is created then.
    """
    into = (None, library) if isinstance(library, str) else (library.id, library.name)
    wish = await place.ask(SyncDialog(place.store, into, folder, first))
    if wish is None:
        return
    if isinstance(library, str):
        libraries, name = place.store.libraries, library
        # Another first sync may run concurrently.
        alone = all(item.name != name for item in libraries.slice.value.items)
        library = await libraries.create(name, if_absent=alone)
    options = (wish.delete, wish.include, wish.exclude, wish.watch, wish.max_delete)
    place.do(place.store.sync.sync(library.id, folder, *options))
