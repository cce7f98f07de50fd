"""Export of a chat: parts to the clipboard, the whole to a file."""

from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.chat import SaveDialog, copies
from carrel.wire.generation.completions import Passage


async def copy_part(place: MainScreen, passage: Passage | None) -> None:
    """Copy the last answer, a code block of it, or the shown passage."""
    if texts := copies(place.store.chat.slice.value, passage):
        await place.copy_one(texts)


async def save(place: MainScreen) -> None:
    """Save the chat to a file."""
    if not place.store.chat.slice.value.turns:
        place.notice("There is nothing to save yet.")
        return
    path = await place.ask(SaveDialog(place.store.chat))
    if path is not None:
        place.notice(f"Saved {path}.")
