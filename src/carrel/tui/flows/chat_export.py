"""Taking a chat out: parts of it on the clipboard, all of it in a file."""

from carrel.tui.dialogs.ask import Thing
from carrel.tui.dialogs.chat import SaveDialog, copies
from carrel.tui.place import Place
from carrel.wire.completions import Passage


async def copy_part(place: Place, passage: Passage | None) -> None:
    """Copies the last answer, code in it, or the passage that is shown, as is chosen."""
    if not (texts := copies(place.store.chat.slice.value, passage)):
        return
    things = [Thing(part, f"Copy {part}") for part in texts]
    if part := await place.choose("Copy", things):
        place.copy(texts[part])


async def save(place: Place) -> None:
    """Saves the chat in a file that is chosen."""
    if not place.store.chat.slice.value.turns:
        place.notice("There is nothing to save yet.")
        return
    path = await place.ask(SaveDialog(place.store.chat))
    if path is not None:
        place.notice(f"Saved {path}.")
