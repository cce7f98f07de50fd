"""Libraries and their documents: making, renaming, filling, processing again, deleting."""

from collections.abc import Sequence

from textual.content import Content

from carrel.store.core.words import count, size
from carrel.tui.dialogs.ask import Ask, Thing
from carrel.tui.dialogs.document import DocumentFields, DocumentForm
from carrel.tui.dialogs.many import ChooseMany
from carrel.tui.dialogs.path import PathDialog
from carrel.tui.looks import labels
from carrel.tui.place import Place
from carrel.wire.documents import Document
from carrel.wire.libraries import Library


async def make_library(place: Place) -> None:
    """Makes a library."""
    if name := await place.ask(Ask("New library", "Its name")):
        place.do(place.store.libraries.create(name))


async def rename_library(place: Place, library: Library) -> None:
    """Gives a library another name."""
    name = await place.ask(Ask("Rename library", "Its name", library.name))
    if name and name != library.name:
        place.do(place.store.libraries.rename(library.id, name))


async def edit_document(place: Place, document: Document) -> None:
    """Gives a document another name and other attributes."""
    before = DocumentFields(document.name, document.attributes or {})
    after = await place.ask(DocumentForm(before))
    if after is None or after == before:
        return
    # Only changed fields: a service may not know the others.
    name = after.name if after.name != before.name else None
    attributes = after.attributes if after.attributes != before.attributes else None
    place.do(
        place.store.libraries.update_document(
            document.library_id, document.id, name=name, attributes=attributes
        )
    )


async def upload(place: Place, library_id: str) -> None:
    """Uploads files, named by their paths, into a library."""
    for file in await place.ask(PathDialog("Upload into this library")) or ():
        place.do(place.store.libraries.upload(library_id, file))


async def add_files(place: Place, library_id: str) -> None:
    """Puts files of the service into a library."""
    state = await place.load(place.store.files)
    if state is None:
        return
    things = [Thing(f.id, f.filename, size(f.bytes)) for f in state.items]
    if not things:
        place.notice("There are no files yet: u Upload.", failed=True)
        return
    for file_id in await place.ask(ChooseMany("Add files", things)) or ():
        place.do(place.store.libraries.add_file(library_id, file_id))


async def reprocess(place: Place, documents: Sequence[Document]) -> None:
    """Has documents of the selected library processed again."""
    names = labels.names(each.name for each in documents)
    if await place.confirm(f"Process {_these(documents)} again?", names, "Reprocess"):
        for document in documents:
            place.do(place.store.libraries.reprocess(document.library_id, document.id))
        place.store.libraries.mark_none()


async def delete_documents(place: Place, documents: Sequence[Document]) -> None:
    """Deletes documents of one library."""
    library_id, ids = documents[0].library_id, [document.id for document in documents]
    names = labels.names(each.name for each in documents)
    if await place.confirm_delete(f"Delete {_these(documents)}?", names):
        place.do(place.store.libraries.delete_documents(library_id, ids))


async def delete_library(place: Place, library: Library) -> None:
    """Deletes a library with its documents."""
    held = library.nb_documents
    with_it = "Its document goes" if held == 1 else f"Its {count(held)} documents go"
    about = [labels.line(library.name, "bold"), Content(f"{with_it} with it." if held else "")]
    if await place.confirm_delete("Delete this library?", about):
        place.do(place.store.libraries.delete([library.id]))


def _these(documents: Sequence[Document]) -> str:
    return "this document" if len(documents) == 1 else f"these {count(len(documents))} documents"
