"""Export of parts of a document, to the clipboard and to files."""

from pathlib import Path
from typing import cast

from carrel.store.core.formatting import count
from carrel.store.documents.blocks import blocks_of
from carrel.store.documents.corrections import apply_corrections, corrected_page
from carrel.store.documents.export import ExportFormat
from carrel.store.documents.formatting import annotation
from carrel.store.documents.state import DocumentState
from carrel.store.documents.table_rows import as_csv, as_markdown
from carrel.store.documents.tables import tables
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
    offers = _offers(state)
    words = {part: about for part, (about, _) in offers.items()}
    if part := await place.choose("Copy", copy_options(words)):
        place.copy(offers[part][1])


def _offers(state: DocumentState) -> dict[str, tuple[str, str]]:
    """Return the copyable parts: name, description and text."""
    offers: dict[str, tuple[str, str]] = {}
    page = None if state.page is None else corrected_page(state.page, state.corrections)
    if page is not None:
        blocks = blocks_of(page)
        found = tables(page)
        # The chosen table first.
        for number, table in sorted(
            enumerate(found, 1), key=lambda one: (one[1].block != state.block, one[0])
        ):
            size = f"{count(len(table.rows))} rows"
            name = f"table {number}" if offers else "table"
            offers[f"{name} as CSV"] = (size, as_csv(table.rows))
            offers[f"{name} as Markdown"] = (size, as_markdown(table.rows))
        if state.block is not None and state.block < len(blocks):
            block = blocks[state.block]
            chosen = {"block": (block.type, block.content)}
            offers = offers | chosen if block.type == "table" else chosen | offers
        offers["page"] = ("Markdown", page.markdown)
    read = [apply_corrections(page, state.corrections) for page in state.pages if page is not None]
    if len(read) > 1:
        offers["all pages"] = (f"{count(len(read))} read", "\n\n".join(read))
    if text := annotation(state):
        offers["schema"] = ("the answer in it, JSON", text)
    if state.source is not None:
        offers |= {"name": ("", state.source.name), "id": ("", state.source.id)}
    return offers


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
