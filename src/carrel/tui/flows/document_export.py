"""Taking parts of a document out: to the clipboard, and to files."""

from pathlib import Path
from typing import cast

from carrel.store.core.formatting import count
from carrel.store.documents.blocks import blocks_of
from carrel.store.documents.corrections import corrected
from carrel.store.documents.export import ExportFormat
from carrel.store.documents.formatting import annotation
from carrel.store.documents.state import DocumentState
from carrel.store.documents.table_rows import as_csv, as_markdown
from carrel.store.documents.tables import tables
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.ask import Ask, Option

FORMATS = (
    Option("markdown", "Markdown", "the whole text, with your corrections"),
    Option("json", "JSON", "pages, boxes and scores"),
    Option("csv", "Tables as CSV", "a file each"),
    Option("images", "Pictures", "a file each"),
)
KEYS = {"The name": "n", "This page": "t", "This block": "b", "All pages read": "a"}
"""Letters of the parts that every document has."""


async def copy_part(place: MainScreen) -> None:
    """Copy a table, a block, a page or another part of the document, as is chosen."""
    state = place.store.documents.slice.value
    if state.source is None:
        return
    offers = _offers(state)
    options = [
        Option(str(n), name, details, KEYS.get(name, ""))
        for n, (name, details, _) in enumerate(offers)
    ]
    if part := await place.choose("Copy", options):
        place.copy(offers[int(part)][2])


def _offers(state: DocumentState) -> list[tuple[str, str, str]]:
    """Return the parts that can be copied: name, a word on it, and the text."""
    offers: list[tuple[str, str, str]] = []
    page = state.page
    if page is not None:
        blocks = blocks_of(page)
        found = tables(page)
        # The chosen table first.
        for number, table in sorted(
            enumerate(found, 1), key=lambda one: (one[1].block != state.block, one[0])
        ):
            size = f"{count(len(table.rows))} rows"
            offers.append((f"Table {number} as CSV", size, as_csv(table.rows)))
            offers.append((f"Table {number} as Markdown", size, as_markdown(table.rows)))
        if state.block is not None and state.block < len(blocks):
            block = blocks[state.block]
            at = len(offers) if block.type == "table" else 0
            offers.insert(at, ("This block", block.type, block.content))
        offers.append(("This page", "Markdown", corrected(page, state.corrections)))
    read = [corrected(page, state.corrections) for page in state.pages if page is not None]
    if len(read) > 1:
        offers.append(("All pages read", f"{count(len(read))} pages", "\n\n".join(read)))
    if text := annotation(state):
        offers.append(("The answer in the schema", "JSON", text))
    offers.append(("The name", "", state.source.name if state.source else ""))
    return offers


async def save(place: MainScreen) -> None:
    """Save what was read, in a form and at a path that are chosen."""
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
