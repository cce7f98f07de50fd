"""1 Files: what lies at the service."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from carrel.store.activity import ActivityState
from carrel.store.documents import Source
from carrel.store.files import FilesState
from carrel.store.libraries import LibrariesState
from carrel.store.selectors.activity import ActivityRow, activity_rows
from carrel.store.selectors.files import FileRow, file_rows, shown, title
from carrel.tui import labels
from carrel.tui.clipboard import copy
from carrel.tui.dialogs.ask import Ask, Choose, Thing
from carrel.tui.dialogs.path import PathDialog
from carrel.tui.screens.place import Place, Way, empty
from carrel.tui.widgets.filter import Filter
from carrel.tui.widgets.paging import PagedRows
from carrel.tui.widgets.table import Column, Row, VirtualTable

NEW_LIBRARY = "\0new"
"""Stands for a library that is to be made."""

EMPTY = empty(
    "No files yet. Paste or drop a path.",
    Way("u", "Upload a file"),
    Way("2", "Look into the libraries"),
    Way("F1", "Every key"),
)


class FilesPlace(Place):
    """The files, with what is being uploaded on top."""

    PLACE: ClassVar[str] = "files"
    CSS_PATH = "files.tcss"
    HELP = "Files of the service. Upload one, read it (OCR), or put it into a library."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "upload", "Upload", id="files.upload"),
        Binding("o", "read", "Run OCR", id="files.read"),
        Binding("a", "add", "Add to library", id="files.add"),
        Binding("y", "copy", "Copy…", id="files.copy"),
        Binding("D", "delete", "Delete", id="files.delete"),
        Binding("slash", "filter", "Filter", key_display="/", id="files.filter"),
        Binding("space", "mark", "Mark", show=False, id="files.mark"),
        Binding("s", "save", "Save to…", show=False, id="files.save"),
    ]

    def panes(self) -> ComposeResult:
        with Vertical(id="list", classes="column -current"):
            yield VirtualTable(
                Column("Name"),
                Column("Purpose", 9, rank=3),
                Column("Size", 8, right=True),
                Column("Pages", 6, rank=4, right=True),
                Column("OCR", 12, rank=2),
                Column("Created", 11, rank=1),
                id="files",
            )
            yield Filter("filter by name")
        with VerticalScroll(classes="pane details") as details:
            details.border_title = labels.title("Details")
            yield Static(id="file")

    @property
    def table(self) -> VirtualTable:
        return self.query_one("#files", VirtualTable)

    def on_mount(self) -> None:
        self._pages = PagedRows()
        self._what: tuple[str, int | None] = ("", None)
        self._awaited: str | None = None
        self.follow(self.store.files.slice, self._show)
        self.follow(self.store.activity.slice, self._show_uploads)
        self.store.files.load()
        self.set_interval(30, self._refresh_ages)
        self.table.focus()

    # Showing

    def _show(self, state: FilesState) -> None:
        what = (state.search, state.total)
        if what != self._what:
            self._pages.clear()
            self._what = what
        now = time.time()
        rows = file_rows(state, self.store.activity.slice.value, now)
        self._pages.total = state.total if state.total is not None else len(rows)
        self._pages.put(state.page * state.page_size, [_row(row) for row in rows])
        table = self.table
        found = f"filter: {state.search}" if state.search else ""
        table.border_title = labels.title(title(state), found, "esc clears" if found else "")
        table.border_subtitle = Content(shown(state)) if rows else None
        table.show(self._pages)
        if self._awaited in {row.id for row in rows}:
            table.point_at(self._awaited or "")
            self._awaited = None
        if state.error is not None:
            table.say(*self.explain(state.error))
        elif state.loaded and not state.search:
            table.say(*EMPTY)
        elif state.loaded:
            table.say(labels.line(f"No name has “{state.search}” in it.", "$muted"))
        else:
            table.say(Content.styled("Loading …", "$muted"))
        self._show_details()

    def reveal(self, file_id: str) -> None:
        """Puts the cursor on a file, as soon as it is here."""
        self._awaited = file_id
        self._show(self.store.files.slice.value)

    def _show_uploads(self, state: ActivityState) -> None:
        uploads = [
            _upload_row(row)
            for row in activity_rows(state, time.time())
            if row.id.startswith("upload") and row.status.role in ("busy", "waiting", "failed")
        ]
        if uploads != self._pages.first:
            self._pages.first = uploads
            self.table.show(self._pages)

    def _refresh_ages(self) -> None:
        self._show(self.store.files.slice.value)

    def _show_details(self) -> None:
        state = self.store.files.slice.value
        file = next((file for file in state.items if file.id == self.table.key), None)
        details = self.query_one("#file", Static)
        if file is None:
            details.update(Content(""))
            return
        row = next(row for row in self._rows(state) if row.id == file.id)
        expires = (
            ""
            if file.expires_at is None
            else time.strftime("%Y-%m-%d", time.gmtime(file.expires_at))
        )
        rows = [
            ("Size", Content(row.size)),
            ("Purpose", labels.line(str(file.purpose))),
            ("Type", labels.line(file.mimetype or "–")),
            ("Created", Content(row.created)),
            ("OCR", labels.badge(row.ocr) or Content.styled("not run", "$muted")),
            ("Source", labels.line(str(file.source))),
        ]
        if expires:
            rows.append(("Expires", Content(expires)))
        details.update(
            Content("\n").join(
                [
                    labels.line(file.filename, "bold"),
                    labels.short_id(file.id),
                    Content(""),
                    labels.fields(*rows),
                    Content(""),
                    _key("enter", "opens and reads it"),
                    _key("y", "copies link, name, id"),
                    _key("a", "puts it into a library"),
                ]
            )
        )

    def _rows(self, state: FilesState) -> tuple[FileRow, ...]:
        return file_rows(state, self.store.activity.slice.value, time.time())

    def on_virtual_table_moved(self, event: VirtualTable.Moved) -> None:
        if event.key != self.store.files.slice.value.selected:
            self.store.files.select(event.key)
        self._show_details()

    def on_virtual_table_wanted(self, event: VirtualTable.Wanted) -> None:
        state = self.store.files.slice.value
        index = event.index - len(self._pages.first)
        if not state.loading and index >= 0:
            self.store.files.load(index // state.page_size)

    # Acting

    def _chosen(self) -> tuple[str, ...]:
        """The marked files, else the one under the cursor."""
        state = self.store.files.slice.value
        if state.marked:
            return tuple(sorted(state.marked))
        key = self.table.key
        return (key,) if key and any(file.id == key for file in state.items) else ()

    def _filename(self, file_id: str) -> str:
        items = self.store.files.slice.value.items
        return next((file.filename for file in items if file.id == file_id), file_id)

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        self._open()

    def action_read(self) -> None:
        marked = sorted(self.store.files.slice.value.marked)
        if marked:
            self._read_many([Source("file", each, self._filename(each)) for each in marked])
        else:
            self._open()

    def _read_many(self, sources: Sequence[Source]) -> None:
        def start() -> None:
            self.do(self.store.batch.read(sources))
            self.notice(f"{len(sources)} files wait for OCR: Activity shows each.")

        if self.store.session.slice.value.hosted:
            names = [labels.line(source.name) for source in sources[:10]]
            self.confirm(f"Run OCR of {len(sources)} files?", names, "Run OCR", start)
        else:
            start()

    def _open(self) -> None:
        key = self.table.key
        file = next((f for f in self.store.files.slice.value.items if f.id == key), None)
        if file is not None:
            self.store.documents.open(Source("file", file.id, file.filename))
            self.app.switch_mode("document")

    def action_upload(self) -> None:
        def chosen(files: tuple[Path, ...] | None) -> None:
            if files:
                self.workbench.upload(files)

        self.app.push_screen(PathDialog(), chosen)

    def action_mark(self) -> None:
        key = self.table.key
        if key and any(file.id == key for file in self.store.files.slice.value.items):
            self.store.files.mark(key)
            self.table.action_move(1)

    def reload(self) -> None:
        self._pages.clear()
        self.store.files.load()

    def action_filter(self) -> None:
        self.query_one(Filter).begin(self.store.files.slice.value.search)

    def on_filter_changed(self, event: Filter.Changed) -> None:
        self.store.files.search(event.text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.table.focus()

    def back(self) -> None:
        if isinstance(self.focused, Input):
            self.table.focus()
        elif self.store.files.slice.value.search:
            self.query_one(Filter).end()
            self.store.files.search("")
        else:
            for file_id in self.store.files.slice.value.marked:
                self.store.files.mark(file_id)

    def action_delete(self) -> None:
        ids = self._chosen()
        if not ids:
            return
        names = [labels.line(self._filename(file_id)) for file_id in ids[:10]]
        if len(ids) > len(names):
            names.append(Content.styled(f"and {len(ids) - len(names)} more", "$muted"))
        what = "this file" if len(ids) == 1 else f"these {len(ids)} files"
        self.confirm(
            f"Delete {what}?",
            names,
            "Delete",
            lambda: self.do(self.store.files.delete(ids), self._deleted),
        )

    def _deleted(self, count: int) -> None:
        self.notice("Deleted one file." if count == 1 else f"Deleted {count} files.")

    def action_save(self) -> None:
        key = self.table.key
        if key not in self._chosen():
            return

        def chosen(folder: str | None) -> None:
            if folder and key:
                self.do(self.store.files.download(key, Path(folder)))

        self.app.push_screen(Ask("Save to", "A folder or a new file", "~/"), chosen)

    def action_copy(self) -> None:
        key = self.table.key
        if key is None or not self._chosen():
            return

        def chosen(what: str | None) -> None:
            if what == "name":
                self._copy(self._filename(key), "Copied the name.")
            elif what == "id":
                self._copy(key, "Copied the id.")
            elif what:
                self.do(
                    self.store.files.signed_url(key, int(what)),
                    lambda url: self._copy(url, "Copied the link."),
                )

        links = [
            Thing(h, f"Copy link ({w})")
            for h, w in (("24", "24 h"), ("1", "1 h"), ("168", "7 days"))
        ]
        rest = [Thing("name", "Copy name"), Thing("id", "Copy id")]
        self.app.push_screen(Choose("Copy", [*links, *rest]), chosen)

    def _copy(self, text: str, done: str) -> None:
        ok = copy(self.app, text)
        self.notice(done if ok else "Too long for the clipboard of a terminal.", failed=not ok)

    def action_add(self) -> None:
        ids = self._chosen()
        if not ids:
            return

        def library_chosen(library_id: str | None) -> None:
            if library_id == NEW_LIBRARY:
                self.app.push_screen(Ask("New library", "Its name"), named)
            elif library_id:
                self._add(ids, library_id)

        def named(name: str | None) -> None:
            if name:
                self.do(
                    self.store.libraries.create(name), lambda library: self._add(ids, library.id)
                )

        self._with_libraries(
            lambda state: self.app.push_screen(
                Choose(
                    "Add to library",
                    [
                        *(
                            Thing(library.id, library.name, f"{library.nb_documents} documents")
                            for library in state.items
                        ),
                        Thing(NEW_LIBRARY, "New library…"),
                    ],
                ),
                library_chosen,
            )
        )

    def _with_libraries(self, then: Callable[[LibrariesState], object]) -> None:
        libraries = self.store.libraries
        if libraries.slice.value.loaded:
            then(libraries.slice.value)
        else:
            self.do(libraries.load(), lambda _: then(libraries.slice.value))

    def _add(self, file_ids: tuple[str, ...], library_id: str) -> None:
        self.store.libraries.select(library_id)
        for file_id in file_ids:
            self.do(self.store.libraries.add_file(library_id, file_id))
        self.app.switch_mode("libraries")


def _row(row: FileRow) -> Row:
    # The lines of a JSONL stand where another file's OCR does: it has none.
    lines = row.pages if row.ocr is None and row.pages.endswith("lines") else ""
    return Row(
        row.id,
        (
            labels.line(row.name, "bold $accent" if row.marked else ""),
            labels.line(row.purpose, "$muted"),
            Content(row.size),
            Content("" if lines else row.pages),
            Content.styled(lines, "$muted") if lines else labels.badge(row.ocr),
            Content.styled(row.created, "$muted"),
        ),
        Content.styled("✓", "$accent") if row.marked else None,
    )


def _upload_row(row: ActivityRow) -> Row:
    failed = row.status.role == "failed"
    figures = "  ".join(filter(None, (row.progress, row.rate, row.left)))
    rest = (
        labels.line(row.error or str(row.status), "$failed")
        if failed
        else Content.assemble(labels.bar(row.fraction), (f"  {figures}", "$muted"))
    )
    mark = Content.styled("✕" if failed else "↑", "$failed" if failed else "$busy")
    return Row(row.id, (labels.line(row.name),), mark, rest)


def _key(key: str, words: str) -> Content:
    return Content.assemble((f"{key:<6}", "bold"), (words, "$muted"))
