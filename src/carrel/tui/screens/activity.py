"""6 Activity: everything that uploads, downloads, reads or processes."""

import time
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from carrel.store.activity.state import ActivityItem, ActivityState
from carrel.store.activity.words import ActivityRow, activity_row, activity_rows
from carrel.store.batches.words import job_id
from carrel.store.core.words import one_line
from carrel.tui.flows import batches as flows
from carrel.tui.looks import labels
from carrel.tui.looks.empty import Way, empty
from carrel.tui.place import Place
from carrel.tui.widgets.columns import Column
from carrel.tui.widgets.table import Row, VirtualTable

NOTHING = empty(
    "Nothing has run yet. Uploads, downloads, reading and processing show here.",
    Way("1", "Upload or read a file"),
    Way("2", "Fill a library"),
)


class ActivityPlace(Place):
    """One table of all that takes a while; what failed stays on top until it is dismissed."""

    PLACE: ClassVar[str] = "activity"
    CSS_PATH = "activity.tcss"
    HELP = "Everything that takes a while. What failed stays on top until you dismiss it."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "cancel", "Cancel", id="activity.cancel"),
        Binding("ctrl+r", "retry", "Retry", id="activity.retry"),
        Binding("s", "save", "Save to…", show=False, id="activity.save"),
        Binding("d", "dismiss_item", "Dismiss", id="activity.dismiss"),
        Binding("delete", "dismiss_all", "Dismiss all", key_display="del", id="activity.clear"),
    ]

    def panes(self) -> ComposeResult:
        table = VirtualTable(
            Column("What", 10, name="kind"),
            Column("Name", paths=True, name="name"),
            Column("Status", 10, name="status"),
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

    @property
    def table(self) -> VirtualTable:
        """The table of tasks."""
        return self.query_one("#activity", VirtualTable)

    def on_mount(self) -> None:
        self.follow(self.store.activity.slice, self._show)
        self.follow(self.store.layout.slice, lambda _: self._show(self.store.activity.slice.value))
        self.set_interval(1, self._tick)
        self.table.focus()

    def _tick(self) -> None:
        state = self.store.activity.slice.value
        if self.is_current and any(not item.ended for item in state.items):
            self._show(state)

    def _show(self, state: ActivityState) -> None:
        sort = self.store.layout.slice.value.table("activity").sort
        rows = activity_rows(state, time.time(), sort)
        self.table.show([_row(row) for row in rows])
        self.table.say(*NOTHING)
        running = sum(not item.ended for item in state.items)
        self.table.border_title = labels.title("Activity", f"{running} running" if running else "")
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
        facts += row.facts
        known = [(name, Content(words)) for name, words in facts if words]
        parts.append(labels.fields(("Status", labels.badge(row.status)), *known))
        if item.error is not None:
            parts += [Content(""), *self.explain(item.error)]
        if job_id(item.id) is not None and item.ended and item.facts:
            parts += [Content(""), Content.styled("s saves its answers and failures", "$muted")]
        if item.retryable:
            parts += [Content(""), Content.styled("ctrl+r tries it again", "$muted")]
        shown.update(Content("\n").join(parts))

    def _item(self) -> ActivityItem | None:
        items = self.store.activity.slice.value.items
        return next((item for item in items if item.id == self.table.key), None)

    def on_virtual_table_moved(self, event: VirtualTable.Moved) -> None:
        self.once_still(self._show_details)

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        item = self._item()
        if item is not None and item.error is not None:
            self.workbench.show_problem(item.error)
        elif item is not None and job_id(item.id) is None:
            places = {"ocr": "document", "processing": "libraries", "sync": "libraries"}
            self.open_place(places.get(item.kind, "files"))

    def lacking(self, action: str) -> str:
        item = self._item()
        if item is None and action in ("cancel", "retry", "dismiss_item", "dismiss_all"):
            return "Nothing has run yet."
        if action == "cancel" and item is not None and item.ended:
            return "This has ended: d dismisses it."
        if action == "dismiss_item" and item is not None and not item.ended:
            return "This still runs: x cancels it."
        if action == "save" and (item is None or job_id(item.id) is None):
            return "s saves the answers of a batch job."
        if action == "save" and item is not None and not item.ended:
            return "The batch job still runs: its answers can be saved when it has ended."
        if action == "retry" and item is not None and not item.retryable:
            return "Only what failed or was stopped can be tried again."
        return ""

    def action_cancel(self) -> None:
        item = self._item()
        if item is not None and not item.ended:
            self.store.activity.cancel(item.id)

    def action_retry(self) -> None:
        item = self._item()
        if item is not None and item.retryable:
            self.store.activity.retry(item.id)

    def action_save(self) -> None:
        item = self._item()
        if item is not None and (job := job_id(item.id)):
            self.run_flow(flows.save(self, job))

    def reload(self) -> None:
        self.store.batches.load()

    def action_dismiss_all(self) -> None:
        self.store.activity.dismiss_all()

    def action_dismiss_item(self) -> None:
        item = self._item()
        if item is not None and item.ended:
            self.store.activity.dismiss(item.id)


def _row(row: ActivityRow) -> Row:
    progress = Content.styled(row.progress, "$muted")
    if row.running and row.fraction is not None:
        progress = Content.assemble(labels.bar(row.fraction, 8), " ", (row.progress, "$muted"))
    return Row(
        row.id,
        (
            Content.styled(row.kind, "$muted"),
            labels.line(row.name),
            labels.badge(row.status),
            progress,
            Content.styled(row.rate, "$muted"),
            Content.styled(row.left, "$muted"),
        ),
    )
