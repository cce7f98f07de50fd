"""The search over all libraries and chats."""

from carrel.store.cache.copies import DocumentSource
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.search import Search


async def everywhere(place: MainScreen) -> None:
    """Ask for a query and open the chosen passage."""
    hit = await place.ask(Search(place.store.search))
    if hit is None:
        return
    if hit.kind == "chat":
        place.open_chat(place.store.chat.resume(hit.id))
        return
    source = DocumentSource("document", hit.id, hit.name, hit.library_id)
    place.store.documents.open(source, hit.page or 0, hit.box)
    await place.workbench.open_place("document")
