"""The request log: every call to the service, with its request and answer."""

from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from carrel.store.requests import formatting
from carrel.store.requests.formatting import RequestRow
from carrel.store.requests.service import LoggedCall, RequestsState
from carrel.store.store import Store
from carrel.tui.dialogs.core.ask import Choose, copy_options
from carrel.tui.dialogs.core.dialog import FILTER_KEY, Dialog, hint
from carrel.tui.terminal.clipboard import copy
from carrel.tui.theme import labels
from carrel.tui.widgets.inputs.filter import ListFilter
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.table import Row, VirtualTable
from carrel.tui.widgets.text.pane import TextPane

HINT = "enter opens · y copies · / filters · tab moves · esc closes"


class RequestLog(Dialog[None]):
    """A table of calls, newest first, and the details of the one under the cursor."""

    DEFAULT_CSS = """
    RequestLog .dialog { width: 96%; height: 94%; max-width: 100%; padding: 0 1; }
    RequestLog Horizontal { height: 1fr; }
    RequestLog VirtualTable { width: 2fr; border: none; }
    RequestLog TextPane { width: 1fr; border-left: solid $line; padding: 0 1; }
    RequestLog TextPane:focus { border-left: solid $accent; }
    RequestLog.-narrow TextPane { display: none; }
    RequestLog.-opened VirtualTable { display: none; }
    RequestLog.-narrow.-opened TextPane { display: block; }
    RequestLog.-opened TextPane { width: 1fr; border: none; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        FILTER_KEY,
        Binding("y", "copy", "Copy…", id="requests.copy"),
    ]
    table = query_one(VirtualTable)
    """The table of calls."""

    def __init__(self, store: Store) -> None:
        super().__init__("Requests")
        self._store = store

    def compose_content(self) -> ComposeResult:
        with Horizontal():
            yield VirtualTable(
                Column("Time", 8),
                Column("Call", least=32),
                Column("Status", 11),
                Column("Took", 7, right=True, rank=1),
                Column("Size", 7, right=True, rank=2),
                Column("", 5, right=True, rank=3),
                classes="",
            )
            with TextPane():
                yield Static(id="call")
        yield ListFilter()
        yield hint(HINT)

    def on_mount(self) -> None:
        self.follow(self._store.requests.slice, self._show, hz=5)
        self.table.focus()
        self.table.show_message(labels.muted("Nothing was asked yet."))

    def _show(self, state: RequestsState) -> None:
        self.query_one(".dialog").border_title = labels.title(formatting.title(state))
        self.table.show([_row(row) for row in formatting.request_rows(state)])

    def _current_call(self) -> LoggedCall | None:
        items = self._store.requests.slice.value.items
        return next((item for item in items if str(item.id) == self.table.key), None)

    def on_virtual_table_moved(self, event: VirtualTable.Moved) -> None:
        item = self._current_call()
        self.query_one("#call", Static).update(Content("") if item is None else _describe(item))
        self.query_one(TextPane).scroll_home(animate=False)

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        self.add_class("-opened")
        self.query_one(TextPane).focus()

    def action_back(self) -> None:
        if self.has_class("-opened") or self.focused is self.query_one(TextPane):
            self.remove_class("-opened")
            self.table.focus()
        else:
            super().action_back()

    @work(exit_on_error=False)
    async def action_copy(self) -> None:
        item = self._current_call()
        if item is None:
            return
        session = self._store.session.slice.value
        call = item.call
        texts = {
            "curl": formatting.as_curl(call, session.url),
            "Python": formatting.as_python(call, session.url),
            "command": formatting.as_command(call, session.profile),
            "request": formatting.request_text(call),
            "answer": formatting.answer_text(call),
            "request id": call.request_id,
        }

        options = copy_options({name: "" for name, text in texts.items() if text})
        title = "Copy" if call.path.startswith("/") else "A signed address is a key: not copied"
        if part := await self.app.push_screen(Choose(title, options), wait_for_dismiss=True):
            copy(self.app, texts[part] or "")


def _row(row: RequestRow) -> Row:
    call = labels.muted(f"{row.method} ") + labels.line(row.target)
    figures = (Content(row.took), Content(row.size), labels.muted(row.times))
    return Row(row.id, (labels.muted(row.when), call, labels.badge(row.status), *figures))


def _describe(item: LoggedCall) -> Content:
    call = item.call
    parts = [
        labels.line(f"{call.method} {formatting.target(call)}", "bold"),
        labels.line(formatting.details(item), "$muted"),
    ]
    if call.request_id:
        parts.append(labels.line(f"Request ID: {call.request_id}", "$muted"))
    for name, text in (
        ("Request", formatting.request_text(call)),
        ("Answer", formatting.answer_text(call)),
    ):
        if text:
            parts += [Content(""), Content.styled(name, "bold $accent"), labels.block(text)]
    return Content("\n").join(parts)
