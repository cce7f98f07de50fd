"""6 Activity: all uploads, downloads, OCR and processing."""

import time
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from carrel.store.activity.formatting import ActivityRow, activity_row, running_words, sort_items
from carrel.store.activity.state import ActivityItem, ActivityState
from carrel.store.batches.formatting import job_id
from carrel.store.core.formatting import one_line
from carrel.text import clean_text
from carrel.tui.base.marking import MARK_KEYS, MarkChange, change_marks
from carrel.tui.base.screen import WORK_HZ, MainScreen
from carrel.tui.flows import activity as flows
from carrel.tui.theme import labels
from carrel.tui.theme.empty import empty
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.paging import PagedRows
from carrel.tui.widgets.tables.table import Row, VirtualTable

NOTHING = empty(
    "Nothing has run yet. Uploads, downloads, reading and processing show here.",
    {"1": "Upload or read a file", "2": "Fill a library"},
)

_OF_AN_ITEM = ("mark", "cancel", "retry", "resume", "dismiss_item", "dismiss_all", "copy")


class ActivityScreen(MainScreen):
    """One table of long-running work; failures stay on top until they are dismissed."""

    PLACE: ClassVar[str] = "activity"
    CSS_PATH = "activity.tcss"
    HELP = "Everything that takes a while. What failed stays on top until you dismiss it."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "cancel", "Cancel", id="activity.cancel"),
        Binding("r", "resume", "Resume", id="activity.resume"),
        Binding("ctrl+r", "retry", "Retry", id="activity.retry"),
        Binding("y", "copy", "Copy…", show=False, id="activity.copy"),
        Binding("s", "save", "Save to…", show=False, id="activity.save"),
        Binding("d", "dismiss_item", "Dismiss", id="activity.dismiss"),
        Binding("delete", "dismiss_all", "Dismiss all", key_display="del", id="activity.clear"),
        *MARK_KEYS,
    ]
    table = query_one("#activity", VirtualTable)
    """The table of tasks."""

    @property
    def state(self) -> ActivityState:
        """The state of all tasks."""
        return self.store.activity.slice.value

    def panes(self) -> ComposeResult:
        table = VirtualTable(
            Column("What", 10, name="kind"),
            Column("Name", paths=True, name="name"),
            Column("Status", 13, name="status"),
            Column("Progress", 24, rank=1, name="progress"),
            Column("Rate", 11, rank=3, right=True, name="rate"),
            Column("Left", 10, rank=2, right=True, name="left"),
            id="activity",
        )
        table.border_title = labels.title("Activity")
        table.add_class("-current")
        yield table
        with VerticalScroll(classes="pane details") as details:
            details.border_title = labels.title("Details")
            yield Static(id="item")

    def action_mark(self, change: MarkChange) -> None:
        change_marks(self, change, self.table, self.store.activity, self._mark_row)

    def _mark_row(self, key: str) -> bool:
        self.store.activity.mark(key)
        return True

    def on_mount(self) -> None:
        self.follow(self.store.activity.slice, self._show, hz=WORK_HZ)
        self.follow(self.store.layout.slice, lambda _: self._show(self.state))
        self.set_interval(1, self._tick)
        self.table.focus()

    def _tick(self) -> None:
        state = self.state
        if self.is_current and any(item.is_under_way for item in state.items):
            self._show(state)

    def _show(self, state: ActivityState) -> None:
        sort = self.store.layout.slice.value.table("activity").sort
        items, now = sort_items(state, sort), time.time()

        def make(index: int) -> Row:
            return _row(activity_row(items[index], now), items[index].id in state.marked)

        self.table.show(PagedRows(make, len(items)))
        self.table.show_message(*NOTHING)
        marked = f"{len(state.marked)} marked" if state.marked else ""
        left = "r resumes, x drops" if state.interrupted else ""
        self.table.entitle(labels.title("Activity", running_words(state), marked, left))
        self._show_details()

    def _show_details(self) -> None:
        item = self._item()
        shown = self.query_one("#item", Static)
        if item is None:
            shown.update(Content(""))
            return
        name = labels.trail("Activity", one_line(item.name))
        self.query_one(".details").border_title = labels.title(name)
        parts = [labels.line(item.name, "bold"), Content("")]
        row = activity_row(item, time.time())
        facts = [("What", row.kind), ("Progress", row.progress), ("Rate", row.rate)]
        facts += [("Left", row.left), ("Took", row.took), ("Ended", row.when)]
        facts += [("Path", clean_text(item.path)), *row.facts]
        known = [(name, Content(words)) for name, words in facts if words]
        parts.append(labels.fields(("Status", labels.badge(row.status)), *known))
        if item.error is not None:
            parts += [Content(""), *labels.problem(item.error)]
        if job_id(item.id) is not None and item.ended and item.facts:
            parts += [Content(""), labels.muted("s saves its answers and failures")]
        if item.retryable:
            parts += [Content(""), labels.muted("ctrl+r tries it again")]
        shown.update(Content("\n").join(parts))

    def _item(self) -> ActivityItem | None:
        items = self.state.items
        return next((item for item in items if item.id == self.table.key), None)

    def on_virtual_table_moved(self, event: VirtualTable.Moved) -> None:
        self.show_when_still(self._show_details)

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        item = self._item()
        if item is not None and item.error is not None:
            self.workbench.show_problem(item.error)
        elif item is not None and job_id(item.id) is None:
            places = {"ocr": "document", "processing": "libraries", "sync": "libraries"}
            self.open_place(places.get(item.kind, "files"))

    def _selection(self) -> tuple[ActivityItem, ...]:
        """Return the marked items, else the one under the cursor."""
        state, item = self.state, self._item()
        if state.marked:
            return tuple(each for each in state.items if each.id in state.marked)
        return () if item is None else (item,)

    def explain_disabled(self, action: str) -> str:
        items = self._selection()
        item = next(iter(items), None)
        if item is None and action in _OF_AN_ITEM:
            return "Nothing has run yet."
        if action == "cancel" and all(each.ended for each in items):
            return "This has ended: d dismisses it."
        if action == "dismiss_item" and not any(each.ended for each in items):
            return "This still runs: x cancels it."
        if action == "save" and (item is None or job_id(item.id) is None):
            return "s saves the answers of a batch job."
        if action == "save" and item is not None and not item.ended:
            return "The batch job still runs: its answers can be saved when it has ended."
        if action == "resume" and not self.state.interrupted:
            return "Nothing was interrupted."
        if action == "retry" and not any(each.retryable for each in items):
            return "Only what was interrupted, failed or stopped can be tried again."
        return ""

    def step_back(self) -> bool:
        if self.state.marked:
            self.store.activity.mark_none()
            return True
        return super().step_back()

    async def action_cancel(self) -> None:
        items = self._selection()
        self.run_flow(flows.cancel(self, items))

    def action_resume(self) -> None:
        state = self.state
        wanted = [item.id for item in state.interrupted if item.id in state.marked]
        self.store.activity.retry(*(wanted or [item.id for item in state.interrupted]))

    def action_retry(self) -> None:
        self.store.activity.retry(*(item.id for item in self._selection() if item.retryable))

    def action_save(self) -> None:
        item = self._item()
        if item is not None and (job := job_id(item.id)):
            self.run_flow(flows.save(self, job))

    def action_copy(self) -> None:
        if (item := self._item()) is not None:
            texts = {"path": item.path, "name": item.name, "id": item.subject or ""}
            self.run_flow(self.copy_one({part: text for part, text in texts.items() if text}))

    def reload(self) -> None:
        self.store.batches.load()

    def action_dismiss_all(self) -> None:
        self.store.activity.dismiss_all()

    def action_dismiss_item(self) -> None:
        self.store.activity.dismiss(*(item.id for item in self._selection()))


def _row(row: ActivityRow, marked: bool) -> Row:
    kind, progress, rate, left = map(labels.muted, (row.kind, row.progress, row.rate, row.left))
    if row.running and row.fraction is not None:
        progress = Content.assemble(labels.bar(row.fraction, 8), " ", progress)
    name = labels.line(row.name, "bold $accent" if marked else "")
    cells = (kind, name, labels.badge(row.status), progress, rate, left)
    return Row(row.id, cells, labels.tick(marked))
