"""What is taken out of a document: to the clipboard, and to files."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

from carrel.store.core.words import count
from carrel.store.documents.blocks import blocks_of
from carrel.store.documents.export import ExportFormat
from carrel.store.documents.state import DocumentState
from carrel.store.documents.table_rows import as_csv, as_markdown
from carrel.store.documents.tables import tables
from carrel.store.documents.words import annotation
from carrel.tui.dialogs.ask import Ask, Choose, Thing
from carrel.tui.terminal.clipboard import copy

if TYPE_CHECKING:
    from carrel.tui.place import Place

FORMATS = (
    Thing("markdown", "Markdown", "the whole text"),
    Thing("json", "JSON", "pages, boxes and scores"),
    Thing("csv", "Tables as CSV", "a file each"),
    Thing("images", "Pictures", "a file each"),
)


def copy_from(place: "Place") -> None:
    """Asks what to copy, and copies it."""
    state = place.store.documents.slice.value
    if state.source is None:
        return
    offers = _offers(state)

    def chosen(what: str | None) -> None:
        if what:
            text = offers[int(what)][2]
            ok = copy(place.app, text)
            place.notice("Copied." if ok else "Too long for the clipboard.", failed=not ok)

    things = [Thing(str(n), name, details) for n, (name, details, _) in enumerate(offers)]
    place.app.push_screen(Choose("Copy", things), chosen)


def _offers(state: DocumentState) -> list[tuple[str, str, str]]:
    """What can be copied: its name, a word on it, and the text."""
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
        offers.append(("This page", "Markdown", page.markdown))
    read = [page.markdown for page in state.pages if page is not None]
    if len(read) > 1:
        offers.append(("All pages read", f"{count(len(read))} pages", "\n\n".join(read)))
    if text := annotation(state):
        offers.append(("The answer in the schema", "JSON", text))
    offers.append(("The name", "", state.source.name if state.source else ""))
    return offers


def save_from(place: "Place") -> None:
    """Asks in which form and where to, and writes the files."""
    documents = place.store.documents
    if documents.slice.value.source is None:
        return

    def form_chosen(form: str | None) -> None:
        def place_chosen(path: str | None) -> None:
            if path:
                to = Path(path)
                place.do(documents.save(cast("ExportFormat", form), to), saved)

        if form:
            place.app.push_screen(Ask("Save to", "A folder or a new file", "~/"), place_chosen)

    def saved(files: tuple[Path, ...]) -> None:
        where = files[0] if len(files) == 1 else f"{len(files)} files to {files[0].parent}"
        place.notice(f"Saved {where}.")

    place.app.push_screen(Choose("Save", FORMATS), form_chosen)
