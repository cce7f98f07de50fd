"""Taking things out of a chat: copied, or saved in a file."""

from pathlib import Path

from carrel.tui.dialogs.ask import Choose, Thing
from carrel.tui.dialogs.chat import SaveDialog, copies
from carrel.tui.place import Place
from carrel.tui.terminal.clipboard import copy
from carrel.wire.completions import Passage


def copy_of(place: Place, passage: Passage | None) -> None:
    """Copies the answer, code in it or the source that is shown, as is chosen."""
    texts = copies(place.store.chat.slice.value, passage)

    def chosen(what: str | None) -> None:
        if what:
            ok = copy(place.app, texts[what])
            place.notice("Copied." if ok else "Too long for the clipboard.", failed=not ok)

    if texts:
        things = [Thing(what, f"Copy {what}") for what in texts]
        place.app.push_screen(Choose("Copy", things), chosen)


def save(place: Place) -> None:
    """Saves the chat in a file that is chosen."""
    if not place.store.chat.slice.value.turns:
        place.notice("There is nothing to save yet.")
        return

    def written(path: Path | None) -> None:
        if path is not None:
            place.notice(f"Saved {path}.")

    place.app.push_screen(SaveDialog(place.store.chat), written)
