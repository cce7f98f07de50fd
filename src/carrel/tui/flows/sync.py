"""The way to a synced folder: which folder, into which library, and what it would do."""

from pathlib import Path

from textual.content import Content

from carrel.store.libraries.words import document_count
from carrel.store.sync.state import FolderState
from carrel.store.sync.words import folder_name, folder_rows
from carrel.tui.dialogs.ask import Choose, Thing
from carrel.tui.dialogs.confirm import Confirm
from carrel.tui.dialogs.sync import FolderDialog, SyncDialog, SyncWish
from carrel.tui.looks import labels
from carrel.tui.place import Place
from carrel.wire.libraries import Library

_OTHER = "another folder"
_FORGET = "forget a folder"
_NEW = "new library"


def sync_library(place: Place, library: Library) -> None:
    """Syncs a folder with a library: one of those it is synced with, or another."""
    state = place.store.sync.slice.value
    rows = folder_rows(state, library.id, 0)
    if not rows:
        _ask_folder(place, library)
        return

    def chosen(answer: str | None) -> None:
        if answer == _OTHER:
            _ask_folder(place, library)
        elif answer == _FORGET:
            _choose_forgotten(place, library)
        elif answer is not None:
            _go_on(place, library, place.store.sync.find(int(answer)))

    things = [
        *(Thing(str(row.id), row.name, str(row.status)) for row in rows),
        Thing(_OTHER, "Another folder …"),
        Thing(_FORGET, "Forget a folder …"),
    ]
    place.app.push_screen(Choose(f"Synced with {library.name}", things), chosen)


def offer_folder(place: Place, folder: Path, library: Library | None) -> None:
    """Offers a dropped folder for sync, into a library that is chosen if `library` is None."""
    if library is not None:
        _preview(place, library, folder, SyncWish())
        return
    name = folder.resolve().name or "Library"

    def chosen(answer: str | None) -> None:
        if answer == _NEW:
            _preview_new(place, name, folder)
        elif answer is not None:
            place.do(place.store.libraries.select(answer))
            library = next(each for each in items if each.id == answer)
            _preview(place, library, folder, SyncWish())

    items = place.store.libraries.slice.value.items
    things = [Thing(each.id, each.name, document_count(each.nb_documents)) for each in items]
    new = Thing(_NEW, f"A new library “{name}”")
    title = f"Sync {folder_name(folder)} into"
    place.app.push_screen(Choose(title, [new, *things]), chosen)


def _ask_folder(place: Place, library: Library) -> None:
    def chosen(folders: tuple[Path, ...] | None) -> None:
        if folders:
            _preview(place, library, folders[0], SyncWish())

    place.app.push_screen(FolderDialog(f"Sync a folder into {library.name}"), chosen)


def _choose_forgotten(place: Place, library: Library) -> None:
    def chosen(answer: str | None) -> None:
        if answer is not None:
            _forget(place, place.store.sync.find(int(answer)))

    rows = folder_rows(place.store.sync.slice.value, library.id, 0)
    if len(rows) == 1:
        chosen(str(rows[0].id))
    else:
        things = [Thing(str(row.id), row.name, str(row.status)) for row in rows]
        place.app.push_screen(Choose("Forget which folder?", things), chosen)


def _forget(place: Place, folder: FolderState) -> None:
    def answered(yes: bool | None) -> None:
        if yes:
            place.do(place.store.sync.forget(folder.id))

    about = [
        labels.line(folder_name(folder.path), "bold"),
        Content("It is not synced any more. The folder and the library keep what they have."),
    ]
    place.app.push_screen(Confirm("Forget this synced folder?", about, "Forget"), answered)


def _go_on(place: Place, library: Library, folder: FolderState) -> None:
    settings = folder.settings
    if not folder.running:
        wish = SyncWish(False, settings.delete, settings.include, settings.exclude)
        _preview(place, library, folder.path, wish)
        return

    def answered(yes: bool | None) -> None:
        if yes:
            place.store.sync.stop(folder.id)

    about = [
        labels.line(folder_name(folder.path), "bold"),
        Content("What is in the library stays. The next sync goes on from there."),
    ]
    place.app.push_screen(Confirm("Stop syncing this folder?", about, "Stop"), answered)


def _preview(place: Place, library: Library, folder: Path, wish: SyncWish) -> None:
    def wished(wish: SyncWish | None) -> None:
        if wish is not None:
            _sync(place, library, folder, wish)

    dialog = SyncDialog(place.store, (library.id, library.name), folder, wish)
    place.app.push_screen(dialog, wished)


def _preview_new(place: Place, name: str, folder: Path) -> None:
    """Previews a sync into a library that is only made once the sync is accepted."""

    def wished(wish: SyncWish | None) -> None:
        if wish is not None:
            place.do(
                place.store.libraries.create(name),
                lambda library: _sync(place, library, folder, wish),
            )

    place.app.push_screen(SyncDialog(place.store, (None, name), folder, SyncWish()), wished)


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
