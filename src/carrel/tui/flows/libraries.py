"""What is done with libraries and their documents that takes more than one answer."""

from collections.abc import Sequence

from textual.content import Content

from carrel.store.core.words import count, size
from carrel.store.files.state import FilesState
from carrel.tui.dialogs.ask import Ask, Thing
from carrel.tui.dialogs.document import DocumentForm, Said
from carrel.tui.dialogs.many import ChooseMany
from carrel.tui.looks import labels
from carrel.tui.place import Place
from carrel.wire.documents import Document
from carrel.wire.libraries import Library


def make_library(place: Place) -> None:
    """Makes a library."""

    def named(name: str | None) -> None:
        if name:
            place.do(place.store.libraries.create(name))

    place.app.push_screen(Ask("New library", "Its name"), named)


def rename_library(place: Place, library: Library) -> None:
    """Gives a library another name."""

    def named(name: str | None) -> None:
        if name and name != library.name:
            place.do(place.store.libraries.rename(library.id, name))

    place.app.push_screen(Ask("Rename library", "Its name", library.name), named)


def edit_document(place: Place, document: Document) -> None:
    """Gives a document of the selected library another name and other attributes."""
    before = Said(document.name, document.attributes or {})

    def said(after: Said | None) -> None:
        if after is None or after == before:
            return
        # Only what is new: a service may not know the rest.
        name = after.name if after.name != before.name else None
        attributes = after.attributes if after.attributes != before.attributes else None
        place.do(
            place.store.libraries.update_document(
                document.library_id, document.id, name=name, attributes=attributes
            )
        )

    place.app.push_screen(DocumentForm(before), said)


def add_files(place: Place, library_id: str) -> None:
    """Puts files of the service into a library."""

    def chosen(file_ids: tuple[str, ...] | None) -> None:
        for file_id in file_ids or ():
            place.do(place.store.libraries.add_file(library_id, file_id))

    def choose(state: FilesState) -> None:
        things = [Thing(f.id, f.filename, size(f.bytes)) for f in state.items]
        if things:
            place.app.push_screen(ChooseMany("Add files", things), chosen)
        else:
            place.notice("There are no files yet: u Upload.", failed=True)

    place.once_loaded(place.store.files, choose)


def reprocess(place: Place, documents: Sequence[Document]) -> None:
    """Has documents of the selected library processed again."""

    def start() -> None:
        for document in documents:
            place.do(place.store.libraries.reprocess(document.library_id, document.id))
        place.store.libraries.mark_none()

    title = f"Process {_these(documents)} again?"
    place.confirm(title, labels.names(each.name for each in documents), "Reprocess", start)


def delete_documents(place: Place, documents: Sequence[Document]) -> None:
    """Deletes documents of one library."""
    library_id, ids = documents[0].library_id, [document.id for document in documents]
    place.confirm(
        f"Delete {_these(documents)}?",
        labels.names(each.name for each in documents),
        "Delete",
        lambda: place.do(place.store.libraries.delete_documents(library_id, ids)),
    )


def delete_library(place: Place, library: Library) -> None:
    """Deletes a library with its documents."""
    held = library.nb_documents
    with_it = "Its document goes" if held == 1 else f"Its {count(held)} documents go"
    place.confirm(
        "Delete this library?",
        [labels.line(library.name, "bold"), Content(f"{with_it} with it." if held else "")],
        "Delete",
        lambda: place.do(place.store.libraries.delete([library.id])),
    )


def _these(documents: Sequence[Document]) -> str:
    return "this document" if len(documents) == 1 else f"these {count(len(documents))} documents"
