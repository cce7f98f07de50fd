"""Export of parts of a document, to the clipboard and to files."""

from pathlib import Path
from typing import cast

from carrel.store.documents.export.formats import ExportFormat, copyable_parts
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.ask import Ask, Option, copy_options

FORMATS = (
    Option("markdown", "Markdown", "the whole text, with your corrections"),
    Option("json", "JSON", "pages, boxes and scores"),
    Option("csv", "Tables as CSV", "a file each"),
    Option("images", "Pictures", "a file each"),
)


async def copy_part(place: MainScreen) -> None:
    """Copy a table, a block, a page or another part of the document."""
    state = place.store.documents.slice.value
    if state.source is None:
        return
    offers = copyable_parts(state)
    words = {part: about for part, (about, _) in offers.items()}
    if part := await place.choose("Copy", copy_options(words)):
        place.copy(offers[part][1])


async def save(place: MainScreen) -> None:
    """Save the reading in a chosen format to a chosen path."""
    documents = place.store.documents
    if documents.slice.value.source is None:
        return
    form = await place.choose("Save", FORMATS)
    if not form:
        return
    path = await place.ask(Ask("Save to", "A folder or a new file", "~/"))
    if not path:
        return
    if files := await documents.save(cast(ExportFormat, form), Path(path)):
        where = files[0] if len(files) == 1 else f"{len(files)} files to {files[0].parent}"
        place.notice(f"Saved {where}.")
