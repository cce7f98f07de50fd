"""Syncing a folder: which folder, into which library, and a preview before anything is done."""

from pathlib import Path

from textual.content import Content

from carrel.store.libraries.words import document_count
from carrel.store.sync.state import FolderState
from carrel.store.sync.words import folder_name, folder_rows
from carrel.tui.dialogs.ask import Thing
from carrel.tui.dialogs.confirm import Confirm
from carrel.tui.dialogs.sync import FolderDialog, SyncDialog, SyncWish
from carrel.tui.looks import labels
from carrel.tui.place import Place
from carrel.wire.libraries import Library

_OTHER = "another folder"
_FORGET = "forget a folder"
_NEW = "new library"


async def sync_library(place: Place, library: Library) -> None:
    """Syncs a folder with a library: one of those it is synced with, or another."""
    answer: str | None = _OTHER
    if synced := _synced(place, library):
        things = [
            *synced,
            Thing(_OTHER, "Another folder …"),
            Thing(_FORGET, "Forget a folder …"),
        ]
        answer = await place.choose(f"Synced with {library.name}", things)
    if answer == _OTHER:
        if folders := await place.ask(FolderDialog(f"Sync a folder into {library.name}")):
            await _preview(place, library, folders[0], SyncWish())
    elif answer == _FORGET:
        await _forget(place, library)
    elif answer is not None:
        await _go_on(place, library, place.store.sync.find(int(answer)))


async def offer_folder(place: Place, folder: Path, library: Library | None) -> None:
    """Offers a dropped folder for sync, into a library that is chosen if `library` is None."""
    if library is None:
        name = _name_of(folder)
        items = place.store.libraries.slice.value.items
        things = [Thing(each.id, each.name, document_count(each.nb_documents)) for each in items]
        new = Thing(_NEW, f"A new library “{name}”")
        answer = await place.choose(f"Sync {folder_name(folder)} into", [new, *things])
        if answer == _NEW:
            await _preview_new(place, name, folder)
            return
        if answer is None:
            return
        place.do(place.store.libraries.select(answer))
        library = next(each for each in items if each.id == answer)
    await _preview(place, library, folder, SyncWish())


def _name_of(folder: Path) -> str:
    """The name of a new library for a folder."""
    return folder.resolve().name or "Library"


def _synced(place: Place, library: Library) -> list[Thing]:
    """The folders that are synced with a library."""
    rows = folder_rows(place.store.sync.slice.value, library.id, 0)
    return [Thing(str(row.id), row.name, str(row.status)) for row in rows]


async def _forget(place: Place, library: Library) -> None:
    """Takes a synced folder, chosen if there are several, off the list."""
    things = _synced(place, library)
    chosen: str | None
    if len(things) == 1:
        chosen = things[0].id
    else:
        chosen = await place.choose("Forget which folder?", things)
    if chosen is None:
        return
    folder = place.store.sync.find(int(chosen))
    about = [
        labels.line(folder_name(folder.path), "bold"),
        Content("It is not synced any more. The folder and the library keep what they have."),
    ]
    if await place.ask(Confirm("Forget this synced folder?", about, "Forget")):
        place.do(place.store.sync.forget(folder.id))


async def _go_on(place: Place, library: Library, folder: FolderState) -> None:
    """Stops a folder's sync, or begins it again with the choices that it had."""
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


async def _preview(place: Place, library: Library, folder: Path, first: SyncWish) -> None:
    """Previews a sync, with these choices at first, and does it once it is accepted."""
    dialog = SyncDialog(place.store, (library.id, library.name), folder, first)
    if wish := await place.ask(dialog):
        _sync(place, library, folder, wish)


async def _preview_new(place: Place, name: str, folder: Path) -> None:
    """Previews a sync into a library that is only made once the sync is accepted."""
    wish = await place.ask(SyncDialog(place.store, (None, name), folder, SyncWish()))
    if wish and (library := await place.finish(place.store.libraries.create(name))):
        _sync(place, library, folder, wish)


def _sync(place: Place, library: Library, folder: Path, wish: SyncWish) -> None:
    place.do(
        place.store.sync.sync(
            library.id,
            folder,
            wish.delete,
            wish.include,
            wish.exclude,
            wish.watch,
            wish.max_delete,
        )
    )
