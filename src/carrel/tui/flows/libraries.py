"""Libraries and their documents: creating, renaming, filling, processing again, deleting."""

import time
from collections.abc import Sequence
from pathlib import Path

from textual.content import Content

from carrel.store.core.formatting import count, size
from carrel.store.files.formatting import link_words
from carrel.store.libraries.phase import document_phase
from carrel.store.libraries.service import LINK_HOURS
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.ask import Ask, ChooseMany, Option, copy_options
from carrel.tui.dialogs.core.path import PathDialog
from carrel.tui.dialogs.document import DocumentForm
from carrel.tui.flows.files import confirm_upload
from carrel.tui.theme import labels
from carrel.wire.documents import Document
from carrel.wire.libraries import Library

LINK = "link (30 min)"


async def make_library(place: MainScreen) -> None:
    """Create a library."""
    if name := await place.ask(Ask("New library", "Its name")):
        place.do(place.store.libraries.create(name))


async def rename_library(place: MainScreen, library: Library) -> None:
    """Rename a library."""
    name = await place.ask(Ask("Rename library", "Its name", library.name))
    if name and name != library.name:
        place.do(place.store.libraries.rename(library.id, name))


async def edit_document(place: MainScreen, document: Document) -> None:
    """Edit the name and the attributes of a document."""
    before = document.attributes or {}
    after = await place.ask(DocumentForm(document.name, before))
    if after is None or after == (document.name, before):
        return
    name, attributes = after
    place.do(
        place.store.libraries.update_document(
            document.library_id,
            document.id,
            # Changed fields only: a service may not know the others.
            name=name if name != document.name else None,
            attributes=attributes if attributes != before else None,
        )
    )


async def upload(place: MainScreen, library_id: str) -> None:
    """Ask for paths and upload the files into a library."""
    files = await place.ask(PathDialog("Upload into this library"))
    await upload_all(place, library_id, files or ())


async def upload_all(place: MainScreen, library_id: str, files: Sequence[Path]) -> None:
    """Upload files into a library; ask first about many."""
    if await confirm_upload(place, files):
        for file in files:
            place.do(place.store.libraries.upload(library_id, file))


async def add_files(place: MainScreen, library_id: str) -> None:
    """Add files of the service to a library."""
    state = await place.load(place.store.files)
    options = [Option(f.id, f.filename, size(f.bytes)) for f in state.items]
    if not options:
        place.notice("There are no files yet: u Upload.", failed=True)
        return
    for file_id in await place.ask(ChooseMany("Add files", options)) or ():
        place.do(place.store.libraries.add_file(library_id, file_id))


async def copy_part(place: MainScreen, document: Document, passage: str) -> None:
    """Copy a found passage, the name, id, text or path of a document, or its link."""
    folders = place.store.sync.slice.value.of(document.library_id)
    synced = (folder.path / document.name for folder in folders)
    texts = {
        "passage": passage,
        "path": next((str(path) for path in synced if path.is_file()), ""),
        "name": document.name,
        "id": document.id,
    }
    texts = {part: text for part, text in texts.items() if text}
    readable = ("text",) if document_phase(document) == "ready" else ()
    chosen = await place.choose("Copy", copy_options(dict.fromkeys([*texts, *readable, LINK], "")))
    libraries, ids = place.store.libraries, (document.library_id, document.id)
    if chosen == "text":
        place.copy(await libraries.show_text(*ids))
    elif chosen == LINK:
        url = await libraries.signed_url(*ids)
        place.copy(url, f"Copied. {link_words(url, LINK_HOURS, time.time())}")
    elif chosen is not None:
        place.copy(texts[chosen])


async def reprocess(place: MainScreen, documents: Sequence[Document]) -> None:
    """Process documents of the selected library again."""
    names = labels.names(each.name for each in documents)
    if await place.confirm(f"Process {_documents_words(documents)} again?", names, "Reprocess"):
        for document in documents:
            place.do(place.store.libraries.reprocess(document.library_id, document.id))
        place.store.libraries.mark_none()


async def delete_documents(place: MainScreen, documents: Sequence[Document]) -> None:
    """Delete documents of one library."""
    library_id, ids = documents[0].library_id, [document.id for document in documents]
    names = labels.names(each.name for each in documents)
    if await place.confirm_delete(f"Delete {_documents_words(documents)}?", names):
        place.do(place.store.libraries.delete_documents(library_id, ids))


async def delete_library(place: MainScreen, library: Library) -> None:
    """Delete a library with its documents."""
    held = library.nb_documents
    with_it = "Its document goes" if held == 1 else f"Its {count(held)} documents go"
    about = [labels.line(library.name, "bold"), Content(f"{with_it} with it." if held else "")]
    if await place.confirm_delete("Delete this library?", about):
        place.do(place.store.libraries.delete([library.id]))


def _documents_words(documents: Sequence[Document]) -> str:
    return "this document" if len(documents) == 1 else f"these {count(len(documents))} documents"
