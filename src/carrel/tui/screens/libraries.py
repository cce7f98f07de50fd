"""2 Libraries: processed documents, for search and for agents."""

import time
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.getters import query_one
from textual.widgets import Input

from carrel.store import advice
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.formatting import view_words
from carrel.store.layout.state import LayoutState
from carrel.store.libraries.formatting import HitRow, document_row, hit_rows, library_rows, title
from carrel.store.libraries.phase import document_phase
from carrel.store.libraries.service import LibrariesService
from carrel.store.libraries.state import LibrariesState
from carrel.store.sync.formatting import folder_rows
from carrel.store.sync.state import SyncState
from carrel.tui.base.marking import MARK_KEYS, MarkChange, change_marks
from carrel.tui.base.screen import MainScreen, start
from carrel.tui.flows import libraries as flows
from carrel.tui.flows import sample
from carrel.tui.flows.sync import offer_folder, sync_library
from carrel.tui.theme import labels
from carrel.tui.theme.empty import empty, explain_empty
from carrel.tui.widgets.details.folders import SyncedFolders
from carrel.tui.widgets.details.library import LibraryDetails
from carrel.tui.widgets.inputs.filter import FilterLine
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.paging import PagedRows
from carrel.tui.widgets.tables.rows import draw_document, draw_hit, draw_library
from carrel.tui.widgets.tables.table import Row, VirtualTable
from carrel.wire.documents import Document
from carrel.wire.libraries import Library, PageBox

NO_LIBRARIES = empty("No libraries yet.", {"n": "New library", "enter": "Open the sample"})
NO_DOCUMENTS = empty(
    "This library is empty. Paste or drop a path.",
    {"u": "Upload a file", "s": "Sync a folder", "a": "Add one of the files"},
)
_OF_A_LIBRARY = ("upload", "add", "sync", "search", "edit", "delete")


class LibrariesScreen(MainScreen):
    """The libraries, the documents of one, and its search hits."""

    PLACE: ClassVar[str] = "libraries"
    CSS_PATH = "libraries.tcss"
    HELP = "A library holds documents that an agent can search before it answers."
    CHANGES: ClassVar[frozenset[str]] = frozenset(
        {"new", "upload", "add", "sync", "edit", "reprocess", "delete"}
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", key_display="/", id="libraries.search"),
        Binding("n", "new", "New", id="libraries.new"),
        Binding("u", "upload", "Upload", id="libraries.upload"),
        Binding("a", "add", "Add files", show=False, id="libraries.add"),
        Binding("s", "sync", "Sync folder", id="libraries.sync"),
        Binding("y", "copy", "Copy…", show=False, id="libraries.copy"),
        Binding("v", "text", "View text", id="libraries.text"),
        Binding("R", "reprocess", "Reprocess", id="libraries.reprocess"),
        Binding("D", "delete", "Delete", id="libraries.delete"),
        Binding("e", "edit", "Edit", show=False, id="libraries.edit"),
        *MARK_KEYS,
    ]
    libraries = query_one("#libraries", VirtualTable)
    """The table of libraries."""
    documents = query_one("#documents", VirtualTable)
    """The table of the selected library's documents."""
    hits = query_one("#hits", VirtualTable)
    """The table of search hits."""

    @property
    def state(self) -> LibrariesState:
        """The state of the libraries."""
        return self.store.libraries.slice.value

    def panes(self) -> ComposeResult:
        with Vertical(id="left", classes="column"):
            libraries = VirtualTable(
                Column("Library", least=8), Column("", 8, right=True), id="libraries", header=False
            )
            libraries.border_title = labels.title("Libraries")
            yield libraries
            yield SyncedFolders()
        with Vertical(id="middle", classes="column"):
            yield VirtualTable(
                Column("Document", paths=True, name="name"),
                Column("Status", 15, name="status"),
                Column("Pages", 5, rank=3, right=True, name="pages"),
                Column("Added", 10, rank=2, name="added"),
                Column("Summary", least=24, rank=4, name="summary", sorts=False),
                id="documents",
            )
            yield VirtualTable(
                Column("Hit", 3, rank=2, right=True, name="hit"),
                Column("Document", 16, paths=True, name="name"),
                Column("Page", 4, rank=1, right=True, name="page"),
                Column("Passage", least=16, name="passage", sorts=False),
                id="hits",
            )
            yield FilterLine("what to look for in this library", "libraries", self.store.histories)
        yield LibraryDetails(id="details", classes="pane details")

    def on_mount(self) -> None:
        self._offered: Path | None = None
        self._over_library = True
        self._hits: tuple[HitRow, ...] = ()
        self.query_one("#left").add_class("-current")
        self.hits.display = False
        self.follow(self.store.libraries.slice, self._show)
        self.follow(self.store.sync.slice, self._show_folders, hz=10)
        self.follow(self.store.layout.slice, self._sort)
        self.store.sync.load()
        self.libraries.focus()

    @property
    def library(self) -> Library | None:
        """The selected library."""
        return self.state.library(self.state.selected)

    @property
    def listing(self) -> LibrariesService:
        return self.store.libraries

    def awaits_list(self) -> bool:
        state = self.state
        awaited = state.selected is not None and state.total is None and state.error is None
        return super().awaits_list() or (awaited and self.focused is self.documents)

    # Showing

    def _sort(self, state: LayoutState) -> None:
        sort = state.table("documents").sort
        if sort != self.state.sort:
            self.store.libraries.sort(sort)
        self._show_hits(self.state)

    def _show_folders(self, state: SyncState) -> None:
        library_id = self.state.selected
        self.query_one(SyncedFolders).show(folder_rows(state, library_id, time.time()))

    def _show(self, state: LibrariesState) -> None:
        synced = self.store.sync.slice.value
        self.libraries.show(
            [draw_library(row, bool(synced.of(row.id))) for row in library_rows(state)]
        )
        why = explain_empty(state.error, NO_LIBRARIES, loaded=state.loaded)
        self.libraries.show_message(*why)
        if state.selected is not None and state.selected != self.libraries.key:
            self.libraries.point_at(state.selected)
        self._show_folders(self.store.sync.slice.value)
        self._show_documents(state)
        self._show_hits(state)
        self._show_details(state)
        if state.loaded and self._offered is not None:
            folder, self._offered = self._offered, None
            self.run_flow(offer_folder(self, folder, None))

    def _show_documents(self, state: LibrariesState) -> None:
        now = time.time()

        def make(index: int) -> Row | None:
            document = state.at(index)
            return None if document is None else draw_document(document_row(document, state, now))

        total = len(state.documents) if state.total is None else state.total
        library = self.library
        table = self.documents
        table.entitle(labels.title(title(state) if library else "Documents"))
        table.show(PagedRows(make, total))
        self._show_range()
        if library is None:
            table.show_message()
        else:
            there = state.total is not None
            error = None if there else state.error
            table.show_message(*explain_empty(error, NO_DOCUMENTS, loaded=there))

    def _show_range(self) -> None:
        total = self.state.total
        self.documents.entitle(below=view_words(self.documents.in_view, total))

    def _show_hits(self, state: LibrariesState) -> None:
        searching = bool(state.query.strip())
        if searching and not self.hits.display and self.documents.has_focus:
            self.hits.focus()
        self.hits.display = searching
        self.documents.display = not searching
        if not searching:
            return
        library = self.library
        way = labels.trail(library.name if library else "", f"search: {state.query}")
        self.hits.entitle(labels.title(way), "esc clears")
        self._hits = hit_rows(state, self.store.layout.slice.value.table("hits").sort)
        self.hits.show([draw_hit(row) for row in self._hits])
        if problem := state.search_error or state.error:
            self.hits.show_message(*labels.problem(problem))
        else:
            words = "Searching …" if state.searching else advice.NOTHING_FOUND
            self.hits.show_message(labels.muted(words))

    def _show_details(self, state: LibrariesState) -> None:
        details = self.query_one(LibraryDetails)
        if state.query.strip():
            details.show_hit(self._hit())
        elif self._over_library and (library := self.library):
            details.show_library(library)
        else:
            text = state.text if state.document == self.documents.key else None
            details.show_document(self._document(), text)

    def _document(self) -> Document | None:
        """Return the document under the cursor, or of the hit under the cursor."""
        state = self.state
        if not state.query.strip():
            return state.find(self.documents.key)
        hit = self._hit()
        return None if hit is None else state.find(hit.document_id)

    def _passage(self) -> str:
        """Return the text of the hit under the cursor."""
        state, hit = self.state, self._hit()
        return "" if hit is None else state.hits[hit.number - 1].snippet

    def _hit(self) -> HitRow | None:
        """Return the hit under the cursor."""
        at = self.hits.cursor
        return self._hits[at] if at < len(self._hits) else None

    def _selection(self) -> list[Document]:
        """Return the marked documents, else the one under the cursor."""
        state = self.state
        if not state.marked or state.query.strip():
            return [document for document in (self._document(),) if document is not None]
        return [*state.marked.values()]

    def on_virtual_table_moved(self, event: VirtualTable.Moved) -> None:
        if event.table is self.libraries:
            # Selecting loads again: skip a library that is loading already.
            if event.key is not None and event.key != self.state.selected:
                self.store.libraries.select(event.key)
            return
        self.show_when_still(self._look_at)

    def _look_at(self) -> None:
        """Show the details of the document or hit under the cursor."""
        state, key = self.state, self.documents.key
        if not state.query.strip() and key != state.document:
            self.store.libraries.select_document(key)
            page = self.documents.cursor // state.page_size
            if key is not None and page != state.page:
                # Only the page in view is polled.
                self.store.libraries.load_documents(page)
        self._show_details(self.state)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        # Keep focused details.
        if event.widget in (self.libraries, self.documents, self.hits):
            self._over_library = event.widget is self.libraries
            self._show_details(self.state)

    def on_virtual_table_scrolled(self, event: VirtualTable.Scrolled) -> None:
        if event.table is self.documents:
            self._show_range()

    def on_virtual_table_opened_empty(self, event: VirtualTable.OpenedEmpty) -> None:
        if event.table is self.libraries and self.state.loaded:
            self.run_flow(sample.play(self))

    def on_virtual_table_wanted(self, event: VirtualTable.Wanted) -> None:
        state = self.state
        if event.table is self.documents and not state.loading:
            self.store.libraries.load_documents(event.index // state.page_size)

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        state = self.state
        if event.table is self.libraries:
            self.focus_pane(1)
        elif event.table is self.documents and (document := self._document()):
            self._open(document.id, document.name, 0)
        elif event.table is self.hits and (row := self._hit()):
            hit = state.hits[row.number - 1]
            self._open(hit.document_id, hit.document_name, hit.page or 0, hit.box)

    def _open(self, document_id: str, name: str, page: int, box: PageBox | None = None) -> None:
        library_id = self.state.selected
        self.store.documents.open(
            DocumentSource("document", document_id, name, library_id), page, box
        )
        self.open_place("document")

    # Acting

    def explain_disabled(self, action: str) -> str:
        library = self.library
        over_documents = action in ("text", "reprocess", "mark")
        if library is None and (over_documents or action in _OF_A_LIBRARY):
            return "Create a library first: n New."
        if over_documents and self._document() is None:
            return "There is no document in this library yet: u uploads one."
        if action == "mark" and not self.documents.has_focus:
            return "Documents are marked here: tab goes to them."
        return ""

    action_new = start(flows.make_library)

    def action_edit(self) -> None:
        library, document = self.library, self._document()
        if document is not None and not self.libraries.has_focus:
            self.run_flow(flows.edit_document(self, document))
        elif library is not None:
            self.run_flow(flows.rename_library(self, library))

    action_upload = start(flows.upload, lambda self: self.state.selected)
    action_add = start(flows.add_files, lambda self: self.state.selected)
    action_sync = start(sync_library, lambda self: self.library)
    action_reprocess = start(flows.reprocess, _selection)

    def take_files(self, files: tuple[Path, ...]) -> None:
        library_id = self.state.selected
        if library_id is None:
            self.notice("Create a library first: n New.", failed=True)
            return
        self.run_flow(flows.upload_all(self, library_id, files))

    def offer(self, folder: Path) -> None:
        """Offer to sync a folder once the libraries are loaded."""
        self._offered = folder
        self._show(self.state)

    def take_folder(self, folder: Path) -> None:
        library = self.library
        if library is None:
            self.offer(folder)
        else:
            self.run_flow(offer_folder(self, folder, library))

    def action_search(self) -> None:
        if self.state.selected is not None:
            self.search(self.state.query)

    def search(self, text: str) -> None:
        """Begin a search for a text."""
        self.query_one(FilterLine).begin(text)

    def on_filter_line_changed(self, event: FilterLine.Changed) -> None:
        self.store.libraries.search(event.text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.hits.display = True
            self.hits.focus()

    def step_back(self) -> bool:
        if isinstance(self.focused, Input):
            self.focus_pane(1)
        elif self.state.query:
            self.query_one(FilterLine).end()
            self.store.libraries.search("")
            self.documents.display = True
            self.documents.focus()
        elif self.state.marked:
            self.store.libraries.mark_none()
        elif not self.libraries.has_focus:
            self.libraries.focus()
        else:
            return False
        return True

    def action_text(self) -> None:
        self._look_at()
        document = self._document()
        if document is not None and document_phase(document) == "ready":
            self.do(self.store.libraries.show_text(document.library_id, document.id))
        elif document is not None:
            self.notice(document.error or "Its text is here once it is ready.", failed=True)

    def action_mark(self, change: MarkChange) -> None:
        change_marks(self, change, self.documents, self.store.libraries, self._mark_row)

    def _mark_row(self, key: str) -> bool:
        self.store.libraries.mark_document(key)
        return True

    def action_copy(self) -> None:
        library = self.library
        if self.libraries.has_focus and library is not None:
            self.run_flow(self.copy_one({"name": library.name, "id": library.id}))
        elif document := self._document():
            self.run_flow(flows.copy_part(self, document, self._passage()))

    def action_delete(self) -> None:
        library = self.library
        if self.libraries.has_focus and library is not None:
            self.run_flow(flows.delete_library(self, library))
        elif documents := self._selection():
            self.run_flow(flows.delete_documents(self, documents))

    def reload(self) -> None:
        super().reload()
        self.store.sync.load()
        self._show_folders(self.store.sync.slice.value)  # their ages grow
