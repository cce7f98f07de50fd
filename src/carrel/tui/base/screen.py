"""The base of the six screens: they follow the state, run flows and explain keys."""

import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, TextArea

from carrel.store.activity.formatting import activity_badge, work_words
from carrel.store.activity.state import ActivityState
from carrel.store.chat.state import ChatState
from carrel.store.core.actions.action import Service
from carrel.store.core.actions.handle import Handle
from carrel.store.core.actions.slice import Slice
from carrel.store.core.actions.watch import watch
from carrel.store.layout.state import LayoutState
from carrel.store.session.formatting import connection, service_words, status
from carrel.store.session.state import READ_ONLY, SessionState
from carrel.store.store import Store
from carrel.store.trash.formatting import way_back
from carrel.tui.base.frame import Frame
from carrel.tui.dialogs.core.ask import Choose, Option, copy_options
from carrel.tui.dialogs.core.columns import Columns
from carrel.tui.dialogs.core.confirm import Confirm
from carrel.tui.dialogs.core.dialog import Dialog
from carrel.tui.terminal.clipboard import copy
from carrel.tui.terminal.drops import Drop, parse_folder, parse_some
from carrel.tui.theme import labels
from carrel.tui.widgets.frame.panes import Panes
from carrel.tui.widgets.inputs.fields import Dropped
from carrel.tui.widgets.tables.table import VirtualTable
from carrel.tui.widgets.text.pane import TextPane
from carrel.tui.workbench import Workbench

T = TypeVar("T")
S = TypeVar("S", bound=Any)

ARMED = 3.0
"""Seconds within which a second esc stops the running task; the status line says so meanwhile."""
TICK = 1.0
"""Seconds between two updates of the age of shown data while the service is lost."""
WORK_HZ = 2.0
"""Updates of running work a second: hundreds of small files change it hundreds of times."""
REFRESH = 5.0
"""Seconds between two refreshes of the current screen."""
STILL = 0.15
"""Debounce in seconds before the details follow the cursor."""
NOTICE, FAILURE = 6.0, 20.0
"""Seconds for which a notice, or one of a failure, is shown."""


def start(
    flow: Callable[..., Coroutine[Any, Any, object]], about: Callable[[Any], object] | None = None
) -> Callable[[Any], None]:
    """Return the action of a key that starts a flow over its screen.

    `about` returns the flow's subject; without one, such as no selected file, nothing starts.
    """

    def action(screen: "MainScreen") -> None:
        if about is None:
            screen.run_flow(flow(screen))
        elif subject := about(screen):
            screen.run_flow(flow(screen, subject))

    return action


class MainScreen(Frame):
    """One of the six screens, over the store."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False, id="place.back"),
        Binding(
            "tab", "next_pane(1)", "Next pane", show=False, priority=True, id="place.next_pane"
        ),
        Binding(
            "shift+tab",
            "next_pane(-1)",
            "Previous pane",
            show=False,
            priority=True,
            id="place.previous_pane",
        ),
        Binding("i", "details", "Details", show=False, id="place.details"),
        Binding("slash", "filter_list", "Filter or find", show=False, id="place.filter"),
        Binding("comma", "columns", "Columns…", key_display=",", show=False, id="place.columns"),
        Binding("z,ctrl+w", "zoom_pane", "Fill the window", show=False, id="place.zoom"),
        Binding("ctrl+right", "resize_pane(4)", "Wider pane", show=False, id="place.wider"),
        Binding("ctrl+left", "resize_pane(-4)", "Narrower pane", show=False, id="place.narrower"),
        Binding("f5", "reload", "Reload", show=False, id="place.reload"),
    ]
    HELP = ""
    CHANGES: ClassVar[frozenset[str]] = frozenset()
    """Actions that change data at the service."""

    def __init__(self, store: Store, workbench: Workbench) -> None:
        super().__init__()
        self.store = store
        self.workbench = workbench
        self._closers: list[Callable[[], None]] = []
        self._armed: Timer | None = None
        self._notice_timer: Timer | None = None
        self._still: Timer | None = None

    def on_mount(self) -> None:
        self.follow(self.store.session.slice, self._show_session)
        self.follow(self.store.session.slice, self._await_list)
        self.watch(self, "focused", self._await_list, init=False)
        if self.listing is not None:
            self.follow(self.listing.slice, self._await_list)
            self.listing.load()
        self.follow(self.store.activity.slice, self._show_activity, hz=WORK_HZ)
        for chat in self.store.comparison.every:
            self.follow(chat.slice, self._show_answering, hz=5)
        self.follow(self.store.layout.slice, self._lay_out_tables)
        self.follow(self.store.layout.slice, self._lay_out_panes)
        self.list_filter.field.histories = self.store.histories
        self.set_interval(REFRESH, self._refresh)
        self.set_interval(TICK, self._tick)

    def on_screen_resume(self) -> None:
        self._refresh()
        self._await_list()

    def on_screen_suspend(self) -> None:
        self.workbench.type_ahead.release(self)

    @property
    def listing(self) -> Service[Any] | None:
        """The list that keys act on, or None."""
        return None

    def awaits_list(self) -> bool:
        """Whether the list that keys act on is being loaded for the first time."""
        if self.listing is None:
            return False
        state = self.listing.slice.value
        return not state.loaded and state.error is None

    def _await_list(self, *_: object) -> None:
        connection = self.store.session.slice.value.connection
        comes = connection in ("starting", "ready", "slow") and self.awaits_list()
        if comes and self.app.screen_stack[-1:] == [self]:
            self.workbench.type_ahead.hold_for_list(self, starting=connection == "starting")
        else:
            self.workbench.type_ahead.release(self)

    def _tick(self) -> None:
        state = self.store.session.slice.value
        if state.connection in ("lost", "failed") and self.app.screen_stack[0] is self:
            self._show_session(state)

    def _refresh(self) -> None:
        # Another workbench or a script may have changed the shown data.
        if self.app.screen is self and self.store.session.slice.value.connection == "ready":
            self.reload()

    def reload(self) -> None:
        """Reload the shown data."""
        if self.listing is not None:
            self.listing.load()

    def action_reload(self) -> None:
        self.reload()

    def _show_session(self, state: SessionState) -> None:
        self.top.header = header(state)
        words = status(state, time.time(), self.copy_time())
        self.status.connection = labels.line(words, f"${connection(state).role}")
        if self.app.screen is not self:
            # Under a dialog it would be drawn only after the dialog.
            self.app.screen.refresh()

    def copy_time(self) -> float | None:
        """Time at which the shown copy was current, or None if it is not a copy."""
        state = None if self.listing is None else self.listing.slice.value
        return None if state is None else state.as_of

    def _show_activity(self, state: ActivityState) -> None:
        self.top.busy = activity_badge(state)
        self.status.work = work_words(state)

    def _show_answering(self, _state: ChatState) -> None:
        chats = self.store.comparison.every
        self.top.answering = any(chat.slice.value.phase != "idle" for chat in chats)

    # Columns and panes

    def _lay_out_panes(self, *_: object) -> None:
        state = self.store.layout.slice.value
        self.set_class(self.PLACE in state.zoomed, "-zoomed")
        panes = self.query_one(Panes)
        panes.lay_out(state.panes.get(self.PLACE, {}), alone=self.one_pane)

    def on_resize(self) -> None:
        # The class of a narrow window is set after this.
        self.call_later(self._lay_out_panes)

    def action_zoom_pane(self) -> None:
        self.store.layout.zoom(self.PLACE)

    def action_resize_pane(self, cells: int) -> None:
        panes = self.query_one(Panes)
        if current := [pane for pane in panes.children if pane.has_class("-current")]:
            panes.widen(current[0], cells)

    def on_panes_resized(self, event: Panes.Resized) -> None:
        self.store.layout.resize(self.PLACE, event.widths)

    def _lay_out_tables(self, state: LayoutState) -> None:
        for table in self.query(VirtualTable):
            table.lay_out(state.table(table.id or ""))

    def action_columns(self) -> None:
        if isinstance(table := self.focused, VirtualTable):
            named = [column for column in table.columns if column.name]
            layout = self.store.layout
            self.app.push_screen(Columns(layout, table.id or "", named, lambda: table.widths))

    def on_virtual_table_header_clicked(self, event: VirtualTable.HeaderClicked) -> None:
        self.store.layout.sort(event.table.id or "", event.column.name)

    def on_virtual_table_edge_dragged(self, event: VirtualTable.EdgeDragged) -> None:
        self.store.layout.widen(event.table.id or "", event.column.name, event.width)

    # Following the state

    def follow(self, part: Slice[S], show: Callable[[S], object], *, hz: float = 30) -> None:
        """Show a part of the state now and after every change, while the screen exists."""
        self._closers.append(watch(part, show, deliver=self.call_later, hz=hz))

    def show_when_still(self, show: Callable[[], object]) -> None:
        """Show the item under the cursor once the cursor rests; a held key moves it fast."""
        if self._still is not None:
            self._still.stop()
        self._still = self.set_timer(STILL, show)

    def do(
        self, handle: Handle[T], then: Callable[[T], object] | None = None, *, opens: bool = False
    ) -> None:
        """Run an action; show its failure, or pass its result to `then`.

        `opens` means that it opens a text field: keys wait for it.
        """

        def on_end(handle: Handle[T]) -> None:
            if handle.error is not None:
                self.call_later(self.workbench.show_problem, handle.error)
            elif handle.outcome == "done" and then is not None:
                self.call_later(then, handle.result(0))
            if opens:
                self.call_later(self.workbench.type_ahead.release, handle)

        if opens:
            self.workbench.type_ahead.hold(handle)
        handle.add_done_callback(on_end)

    # Flows

    def run_flow(self, flow: Coroutine[Any, Any, object]) -> None:
        """Run a flow in the background; a problem ends it and is shown."""
        self.app.run_worker(flow, exit_on_error=False)

    async def ask(self, dialog: Dialog[T]) -> T | None:
        """Open a dialog in a flow and return its answer, or None if it was closed."""
        return await self.app.push_screen(dialog, wait_for_dismiss=True)

    async def choose(self, title: str, options: Sequence[Option]) -> str | None:
        """Ask for one of several options and return its id; a single option is returned at once."""
        if len(options) == 1:
            return options[0].id
        return await self.ask(Choose(title, options))

    async def copy_one(self, texts: Mapping[str, str]) -> None:
        """Ask which of several parts to copy, and copy it."""
        if part := await self.choose("Copy", copy_options(dict.fromkeys(texts, ""))):
            self.copy(texts[part])

    async def confirm(self, title: str, about: Sequence[Content], verb: str) -> bool:
        """Ask before an action at the service; the question names a hosted one, which bills."""
        at = service_words(self.store.session.slice.value)
        return await self.ask(Confirm(title, about, verb, at)) is True

    async def confirm_delete(self, title: str, about: Sequence[Content]) -> bool:
        """Ask before a deletion at the service, and tell whether it can be undone."""
        words = labels.muted(way_back(self.store.session.slice.value))
        return await self.confirm(title, [*about, words], "Delete")

    async def load(self, listing: Service[S]) -> S:
        """Return the state of a list for a flow to choose from; load it if necessary.

        Keys typed meanwhile wait.
        """
        if not listing.slice.value.loaded:
            await self.open(listing.load())
        return listing.slice.value

    async def open(self, handle: Handle[Any]) -> None:
        """Wait in a flow for an action that opens a text field; keys wait too."""
        self.workbench.type_ahead.hold(handle)
        try:
            await handle
        finally:
            self.workbench.type_ahead.release(handle)

    def copy(self, text: str, done: str = "Copied.") -> None:
        """Copy a text to the clipboard and show a notice."""
        copied = copy(self.app, text)
        words = done if copied else "Too long for the clipboard of a terminal."
        self.notice(words, failed=not copied)

    def on_unmount(self) -> None:
        for close in self._closers:
            close()

    # Notices

    def notice(self, text: str, *, failed: bool = False) -> None:
        """Show a notice for NOTICE seconds, or one of a failure for FAILURE seconds."""
        self.status.notice = self.workbench.note(text, failed=failed)
        if self._notice_timer is not None:
            self._notice_timer.stop()
        self._notice_timer = self.set_timer(FAILURE if failed else NOTICE, self._forget_notice)

    def _forget_notice(self) -> None:
        self.status.notice = Content("")

    # Disabled keys

    def why_not(self, action: str) -> str:
        """Return the reason why an action is disabled, and its remedy; empty if it is enabled."""
        if action in self.CHANGES and self.store.session.slice.value.read_only:
            return str(READ_ONLY)
        if action == "details" and not self.query(".details"):
            return "There are no details to fold here: tab goes from pane to pane."
        if action == "resize_pane" and self.one_pane:
            return "One pane is seen at a time here: there is no border to move."
        table = self.focused
        columns = table.columns if isinstance(table, VirtualTable) else ()
        if action == "columns" and not any(column.name for column in columns):
            return "There are no columns here to sort, hide or widen."
        return self.explain_disabled(action)

    def explain_disabled(self, action: str) -> str:
        """Return the reason why an action is disabled, or an empty string."""
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return None if self.why_not(action) else True

    # Back and stop

    def can_stop(self) -> bool:
        """Whether a running task can be stopped by a double esc."""
        return False

    def stop(self) -> None:
        """Stop the running task."""

    def action_back(self) -> None:
        if self.can_stop():
            armed = self.status.armed
            self._disarm()
            if armed:
                self.stop()
            else:
                self.status.armed = True
                self._armed = self.set_timer(ARMED, self._disarm)
            return
        if not (self.list_filter.step_back() or self.step_back()):
            self.app.call_next(self.workbench.go_back)

    def _disarm(self) -> None:
        self.status.armed = False
        if self._armed is not None:
            self._armed.stop()

    def action_filter_list(self) -> None:
        if isinstance(over := self.focused, VirtualTable | TextPane):
            self.list_filter.begin(over)
        elif self.list_filter.over is not None:
            self.list_filter.begin(self.list_filter.over)

    def step_back(self) -> bool:
        """Leave a text field or end a filter; return False if there is neither."""
        if isinstance(self.focused, Input | TextArea) or not self.first_pane.has_class("-current"):
            self.focus_pane(0)
            return True
        return False

    def open_chat(self, handle: Handle[Any]) -> None:
        """Focus the field of a chat that is being created; keys typed meanwhile go there."""
        bench = self.workbench

        def on_end(handle: Handle[Any]) -> None:
            if handle.outcome != "done":
                self.call_later(bench.type_ahead.release, handle)

        bench.type_ahead.hold(handle)
        self.do(handle, lambda _: self.app.call_next(bench.open_chat, handle))
        handle.add_done_callback(on_end)

    def open_place(self, place: str) -> None:
        """Open a screen, from which esc returns to this one."""
        self.app.call_next(self.workbench.open_place, place)

    # Dropped files

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        if (drop := parse_some(event.text, relative=True)).files:
            self._take(drop)
        elif folder := parse_folder(event.text, relative=True):
            self.take_folder(folder)
        elif event.text.strip():
            self.take_text(event.text)

    def on_dropped(self, event: Dropped) -> None:
        event.stop()
        self._take(event.drop)

    def _take(self, drop: Drop) -> None:
        self.take_files(drop.files)
        if drop.problem is not None:
            self.workbench.show_problem(drop.problem)

    def take_files(self, files: tuple[Path, ...]) -> None:
        """Upload files dropped on this screen, and show Files."""
        self.workbench.upload(files)

    def take_text(self, text: str) -> None:
        """Take a pasted text that names no file."""
        self.notice("The pasted text is not the path of a file or folder.", failed=True)

    def take_folder(self, folder: Path) -> None:
        """Take a folder dropped on this screen; Libraries offers to sync it."""
        self.app.call_later(self.workbench.offer_folder, folder)


def header(state: SessionState) -> tuple[Content, ...]:
    """Return the profile, connection and model, from the longest form to the shortest."""
    badge = connection(state)
    profile = labels.profile(state.profile, state.colour)
    short = Content.assemble(profile, " ", labels.badge(badge))
    model = labels.line(f" · {state.model}", "$muted") if state.model else Content("")
    forms = [short + model, short, Content.assemble(profile, " ", (badge.mark, f"${badge.role}"))]
    return tuple(forms)
