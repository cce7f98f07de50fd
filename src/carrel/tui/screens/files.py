"""1 Files: the files at the service."""

import time
from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Input

from carrel.store.activity.formatting import ActivityRow, activity_row, sort_items
from carrel.store.activity.state import ActivityItem, ActivityState
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.formatting import count, type_words, view_words
from carrel.store.files.formatting import (
    FileRow,
    file_row,
    filter_words,
    negative_filter,
    nothing_words,
    ocr_runs,
    sort_files,
    sort_words,
    title,
)
from carrel.store.files.service import FilesService
from carrel.store.files.state import FilesState
from carrel.store.layout.state import LayoutState
from carrel.store.previews import PreviewState
from carrel.tui.base.marking import MARK_KEYS, MarkChange, change_marks
from carrel.tui.base.screen import WORK_HZ, MainScreen, start
from carrel.tui.flows import files as flows
from carrel.tui.flows import sample
from carrel.tui.theme import labels
from carrel.tui.theme.empty import empty, explain_empty
from carrel.tui.widgets.details.file import FileDetails
from carrel.tui.widgets.inputs.filter import FilterLine
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.paging import PagedRows
from carrel.tui.widgets.tables.table import Row, VirtualTable
from carrel.wire.files import File

EMPTY = empty(
    "No files yet. Paste or drop a path, or press u and type a path.",
    {
        "enter": "Open the sample (1 minute)",
        "u": "Upload a file",
        "F3": "Connect to a service",
        "2": "Look into the libraries",
        "F1": "Every key",
    },
)


UPLOADS = 6
"""Number of uploads shown above the files; the others are counted."""
SHOWN = ("running", "queued", "interrupted", "failed")
"""Statuses of the shown uploads."""


class FilesScreen(MainScreen):
    """The files, with running uploads on top."""

    PLACE: ClassVar[str] = "files"
    CSS_PATH = "files.tcss"
    HELP = "Files of the service. Upload one, read it (OCR), or put it into a library."
    CHANGES: ClassVar[frozenset[str]] = frozenset({"upload", "add", "delete"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/", id="files.filter"),
        Binding("u", "upload", "Upload", id="files.upload"),
        Binding("o", "read", "Run OCR", id="files.read"),
        Binding("a", "add", "Add to library", id="files.add"),
        Binding("y", "copy", "Copy…", id="files.copy"),
        Binding("D", "delete", "Delete", id="files.delete"),
        Binding("f", "narrow", "Show only…", show=False, id="files.narrow"),
        Binding("w", "save", "Save to…", show=False, id="files.save"),
        *MARK_KEYS,
    ]
    table = query_one("#files", VirtualTable)
    """The table of files, uploads first."""

    @property
    def state(self) -> FilesState:
        """The state of the files."""
        return self.store.files.slice.value

    def panes(self) -> ComposeResult:
        with Vertical(id="list", classes="column -current"):
            yield VirtualTable(
                Column("Name", name="name"),
                Column("Purpose", 9, rank=3, name="purpose"),
                Column("Size", 8, right=True, name="size"),
                Column("Pages", 6, rank=4, right=True, name="pages"),
                Column("OCR", 12, rank=2, name="ocr"),
                Column("Created", 11, rank=1, name="created"),
                id="files",
            )
            yield FilterLine(
                "a part of the name, !words to leave out", "files", self.store.histories
            )
        yield FileDetails(self.store.previews)

    def on_mount(self) -> None:
        self._uploads: list[Row] = []
        self._runs: Mapping[str | None, ActivityItem] = {}
        self._awaited: str | None = None
        self._looked_into: str | None = None
        self.follow(self.store.files.slice, self._show)
        self.follow(self.store.activity.slice, self._show_work, hz=WORK_HZ)
        self.follow(self.store.previews.slice, self._show_preview)
        self.follow(self.store.layout.slice, self._sort)
        self.set_interval(30, lambda: self._show(self.state))  # ages grow
        self.table.focus()

    @property
    def listing(self) -> FilesService:
        return self.store.files

    # Showing

    def _sort(self, state: LayoutState) -> None:
        sort = state.table("files").sort
        if sort != self.state.sort:
            self.store.files.sort(sort)

    def _show(self, state: FilesState) -> None:
        table, found = self.table, filter_words(state)
        words = f"filter: {found}" if found else ""
        table.entitle(
            labels.title(title(state), sort_words(state), words, "esc clears" if found else "")
        )
        table.filter(negative_filter(state))
        table.show(self._rows(state))
        self._show_range()
        if self._awaited is not None and state.find(self._awaited) is not None:
            table.point_at(self._awaited)
            self._awaited = None
        nothing = (labels.line(nothing_words(state), "$muted"),) if state.narrowed else EMPTY
        table.show_message(*explain_empty(state.error, nothing, loaded=state.loaded))
        self._show_details()

    def _rows(self, state: FilesState) -> PagedRows:
        now, runs = time.time(), self._runs
        ordered = sort_files(state, runs)

        def make(index: int) -> Row | None:
            file = state.at(index) if ordered is None else ordered[index]
            return None if file is None else _row(file_row(file, state, runs, now))

        total = len(state.items) if state.total is None else state.total
        if ordered is not None:
            total = len(ordered)
        return PagedRows(make, total, self._uploads)

    def _show_range(self) -> None:
        seen, above = self.table.in_view, len(self._uploads)
        files = range(max(seen.start - above, 0), max(seen.stop - above, 0))
        self.table.entitle(below=view_words(files, self.state.total))

    def reveal(self, file_id: str) -> None:
        """Put the cursor on a file as soon as it is loaded."""
        self._awaited = file_id
        self._show(self.state)

    def _show_work(self, state: ActivityState) -> None:
        open_uploads = [
            item for item in sort_items(state) if item.kind == "upload" and item.status in SHOWN
        ]
        now = time.time()
        uploads = [_upload_row(activity_row(item, now)) for item in open_uploads[:UPLOADS]]
        if (more := len(open_uploads) - UPLOADS) > 0:
            uploads.append(_more_row(more))
        runs, before = ocr_runs(state), self._runs
        if (uploads, runs) == (self._uploads, before):
            return
        self._uploads, self._runs = uploads, runs
        self.table.show(self._rows(self.state))
        self._show_range()
        if runs != before or self._file() is None:
            self._show_details()

    def _show_details(self) -> None:
        state, file = self.state, self._file()
        file_id = None if file is None else file.id
        if file_id != self._looked_into:
            self._looked_into = file_id
            self.store.previews.show(file)
        details = self.query_one(FileDetails)
        if file is None:
            details.show_file(None, self._about_upload())
            return
        row = file_row(file, state, self._runs, time.time())
        rows = [
            ("Size", Content(row.size)),
            ("Purpose", labels.line(row.purpose)),
            ("Type", labels.line(type_words(file.mimetype, file.filename))),
            ("Created", Content(row.created)),
            ("OCR", labels.badge(row.ocr) or labels.muted("not run")),
            ("Source", labels.line(str(file.source))),
        ]
        if file.expires_at is not None:
            expires = time.strftime("%Y-%m-%d", time.gmtime(file.expires_at))
            rows.append(("Expires", Content(expires)))
        run = self._runs.get(file.id)
        why = (labels.block(run.error.detail, "$failed"),) if run and run.error else ()
        details.show_file(
            file.filename,
            [
                labels.line(file.filename, "bold"),
                labels.short_id(file.id),
                labels.fields(*rows),
                *why,
                Content(""),
                _key("enter", "opens it" if row.ocr else "opens and reads it"),
                _key("y", "copies link, name, id"),
                _key("a", "puts it into a library"),
            ],
        )

    def _about_upload(self) -> list[Content]:
        items = self.store.activity.slice.value.items
        item = next((item for item in items if item.id == self.table.key), None)
        if item is None:
            return []
        status = labels.badge(activity_row(item, time.time()).status)
        why = labels.problem(item.error) if item.error else ()
        facts = labels.fields(("Upload", status))
        way = _key("enter", "shows it in 6 Activity")
        return [labels.line(item.name, "bold"), facts, *why, Content(""), way]

    def _show_preview(self, state: PreviewState) -> None:
        file = self.state.find(state.file_id)
        self.query_one(FileDetails).show_preview(file.filename if file else "", state)

    def on_virtual_table_moved(self, event: VirtualTable.Moved) -> None:
        self.show_when_still(self._look_at)

    def _look_at(self) -> None:
        """Show the details of the file under the cursor."""
        if self.table.key != self.state.selected:
            self.store.files.select(self.table.key)
        self._show_details()

    def on_virtual_table_scrolled(self, event: VirtualTable.Scrolled) -> None:
        self._show_range()

    def on_virtual_table_wanted(self, event: VirtualTable.Wanted) -> None:
        state = self.state
        index = event.index - len(self._uploads)
        if not state.loading and index >= 0:
            self.store.files.load_page(index // state.page_size)

    # Acting

    def explain_disabled(self, action: str) -> str:
        needs_file = action in ("read", "add", "copy", "delete", "save", "mark")
        if needs_file and not self.table.rows:
            return "There is no file yet: u uploads one."
        if needs_file and not self._selection():
            return "This is an upload: choose a file below it."
        state = self.state
        if action in ("filter", "narrow") and state.total == 0 and not state.narrowed:
            return "There is nothing to filter yet: u uploads a file."
        return ""

    def _file(self) -> File | None:
        """Return the file under the cursor."""
        return self.state.find(self.table.key)

    def _selection(self) -> list[File]:
        """Return the marked files, else the one under the cursor."""
        state = self.state
        if not state.marked:
            return [file for file in (self._file(),) if file is not None]
        return [*state.marked.values()]

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        self._open()

    def on_virtual_table_opened_empty(self, event: VirtualTable.OpenedEmpty) -> None:
        state = self.state
        if state.loaded and not state.narrowed:
            self.run_flow(sample.play(self))

    def action_read(self) -> None:
        if self.state.marked:
            sources = [DocumentSource("file", each.id, each.filename) for each in self._selection()]
            self.run_flow(flows.run_ocr(self, sources))
        else:
            self._open()

    def _open(self) -> None:
        if (file := self._file()) is not None:
            self.store.documents.open(DocumentSource("file", file.id, file.filename))
            self.open_place("document")
        elif self.table.key is not None:
            self.open_place("activity")

    action_upload = start(flows.upload)

    def action_mark(self, change: MarkChange) -> None:
        change_marks(self, change, self.table, self.store.files, self._mark_row)

    def _mark_row(self, _key: str) -> bool:
        file = self._file()
        if file is not None:
            self.store.files.mark(file.id)
        return file is not None

    def action_filter(self) -> None:
        self.query_one(FilterLine).begin(self.state.search)

    def on_filter_line_changed(self, event: FilterLine.Changed) -> None:
        self.store.files.search(event.text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.table.focus()

    action_narrow = start(flows.narrow)

    def step_back(self) -> bool:
        state = self.state
        if self.focused is not self.table:
            self.table.focus()
        elif state.narrowed:
            self.query_one(FilterLine).end()
            self.store.files.show_all()
        elif state.marked:
            self.store.files.mark_none()
        else:
            return False
        return True

    action_delete = start(flows.delete, _selection)
    action_save = start(flows.save, _selection)
    action_copy = start(flows.copy_part, _file)
    action_add = start(flows.add_to_library, _selection)


def _row(row: FileRow) -> Row:
    # A JSONL's number of lines takes the column of OCR, which it cannot have.
    lines = row.pages if row.ocr is None and row.pages.endswith("lines") else ""
    name = labels.line(row.name, "bold $accent" if row.marked else "")
    purpose, pages = labels.line(row.purpose, "$muted"), Content("" if lines else row.pages)
    ocr = labels.muted(lines) if lines else labels.badge(row.ocr)
    cells = (name, purpose, Content(row.size), pages, ocr, labels.muted(row.created))
    return Row(row.id, cells, labels.tick(row.marked))


def _upload_row(row: ActivityRow) -> Row:
    failed = row.status.role == "failed"
    figures = "  ".join(filter(None, (row.progress, row.rate, row.left)))
    rest = Content.assemble(labels.bar(row.fraction), (f"  {figures}", "$muted"))
    if failed:
        rest = labels.line(row.error or str(row.status), "$failed")
    mark = Content.styled("✕" if failed else "↑", "$failed" if failed else "$busy")
    return Row(row.id, (labels.line(row.name),), mark, rest)


def _more_row(more: int) -> Row:
    rest = labels.muted("Activity has all")
    words = (labels.muted(f"and {count(more)} more"),)
    return Row("uploads", words, labels.muted("↑"), rest)


def _key(key: str, words: str) -> Content:
    return Content.assemble((f"{key:<6}", "bold"), (words, "$muted"))
