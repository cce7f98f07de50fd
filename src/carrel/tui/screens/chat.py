"""5 Chat: questions to an agent, its answers, and their sources."""

import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one

from carrel.store import advice
from carrel.store.chat.conversation import Attachment
from carrel.store.chat.formatting import (
    SessionRow,
    phase_words,
    prompt_title,
    session_rows,
    sessions_title,
)
from carrel.store.chat.service import ChatService
from carrel.store.chat.state import ChatState
from carrel.store.core.actions.handle import Handle
from carrel.store.store import Store
from carrel.store.tools.state import Consent, Permission, ToolsState
from carrel.tui.base.screen import MainScreen, start
from carrel.tui.dialogs.core.confirm import Permit
from carrel.tui.flows import evals
from carrel.tui.flows.chats import chat as flows
from carrel.tui.flows.chats import comparing
from carrel.tui.screens import chat_comparing
from carrel.tui.screens.chat_comparing import SidesPainter
from carrel.tui.screens.chat_sources import SourceBrowser
from carrel.tui.theme import labels
from carrel.tui.widgets.chat.prompt import Prompt, PromptBox
from carrel.tui.widgets.chat.sides import Sides
from carrel.tui.widgets.chat.source import SourcePane
from carrel.tui.widgets.chat.transcript import Transcript
from carrel.tui.widgets.inputs.filter import FilterLine
from carrel.tui.widgets.tables.columns import Column
from carrel.tui.widgets.tables.table import Row, VirtualTable
from carrel.tui.workbench import Workbench

ASK = "@ adds a file or document by its name"
"""Placeholder of the empty field."""
_OF_A_CHAT = (
    "retry", "edit", "last_variant", "compare", "model", "parameters", "copy", "save", "source",
    "take_case",
)  # fmt: skip
TO_SOURCES = "esc, then [ ] Source"
"""Subtitle of the field once an answer has sources."""
LISTED = 30.0
"""Seconds between two listings of the service's chats."""


class ChatScreen(MainScreen):
    """Sessions on the left, one or several compared chats in the middle, a source on the right."""

    PLACE: ClassVar[str] = "chat"
    CSS_PATH = "chat.tcss"
    HELP = (
        "Talk to an agent. Its sources stand below the answer. Paste or drop"
        " a path to attach a file, or name one after an @. Write the result of a call into the"
        " field when an agent asks for one. Most keys work once esc has left the field."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *chat_comparing.BINDINGS,
        Binding("slash", "filter", "Search", key_display="/", show=False, id="chat.search"),
        Binding(
            "left_square_bracket", "source(-1)", "Source", key_display="[ ]",
            id="chat.source_before",
        ),
        Binding(
            "right_square_bracket", "source(1)", "Next source", show=False, id="chat.source_after"
        ),
        Binding("n", "new", "New", id="chat.new"),
        Binding("ctrl+r", "retry", "Retry", id="chat.retry"),
        Binding("enter", "open_source", "Open source", show=False, id="chat.open_source"),
        Binding("e", "edit", "Edit", show=False, id="chat.edit"),
        Binding(
            "less_than_sign", "last_variant(-1)", "Variant", key_display="< >", show=False,
            id="chat.variant_before",
        ),
        Binding(
            "greater_than_sign", "last_variant(1)", "Next variant", show=False,
            id="chat.variant_after",
        ),
        Binding("c", "who", "Chat with…", show=False, id="chat.who"),
        Binding("alt+c", "compare", "Compare", id="chat.compare"),
        Binding("alt+t", "thinking", "Thinking", show=False, id="chat.thinking"),
        Binding("alt+m", "model", "Model…", show=False, id="chat.model"),
        Binding("p", "parameters", "Parameters…", show=False, id="chat.parameters"),
        Binding("a", "attach", "Add file", show=False, id="chat.attach"),
        Binding("y", "copy", "Copy…", id="chat.copy"),
        Binding("T", "take_case", "Test case…", show=False, id="chat.take_case"),
        Binding("w", "save", "Save to…", show=False, id="chat.save"),
        Binding("D", "delete", "Delete", show=False, id="chat.delete"),
    ]  # fmt: skip
    sessions = query_one("#sessions", VirtualTable)
    """The table of saved chats."""
    box = query_one(PromptBox)
    """The prompt with its surroundings."""
    prompt = query_one(Prompt)
    """The question field."""

    @property
    def state(self) -> ChatState:
        """The state of the first open chat."""
        return self.store.chat.slice.value

    def __init__(self, store: Store, workbench: Workbench) -> None:
        super().__init__(store, workbench)
        self._painter = SidesPainter(self)
        self._browser = SourceBrowser(self)

    def panes(self) -> ComposeResult:
        with Vertical(id="left", classes="column"):
            sessions = VirtualTable(
                Column("Chat"), Column("", 10, rank=1, right=True), id="sessions", header=False
            )
            sessions.border_subtitle = Content("n New")
            yield sessions
            yield FilterLine("anything that was said", "chat", self.store.histories)
        with Vertical(id="middle", classes="column -current"):
            yield Sides(id="chats")
            yield PromptBox(id="box")
        yield SourcePane(self.store.sources, id="source")

    @property
    def chats(self) -> tuple[ChatService, ...]:
        """The open chats from left to right."""
        return self.store.comparison.chats

    def on_mount(self) -> None:
        self._painter.start()
        self._session: str | None = None
        self._pointed: str | None = None
        self._listed = time.monotonic()
        self._asked: tuple[Consent, Permit] | None = None
        self._ticker = self.set_interval(0.2, self._show_phase, pause=True)
        self.follow(self.store.chat.slice, self._show, hz=10)
        self.follow(self.store.tools.slice, self._ask_permission)
        for chat in self.store.comparison.every:
            self.follow(chat.slice, self._show_progress, hz=10)
        self.watch(self.app, "theme", self._redraw, init=False)
        self.prompt.focus()

    # Showing

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        super().on_descendant_focus(event)
        self._painter.paint_soon()

    def _redraw(self) -> None:
        self._painter.redraw()
        self._show(self.state)

    def _show(self, state: ChatState) -> None:
        sessions = self.sessions
        sessions.border_title = labels.title(sessions_title(state))
        sessions.show([_session_row(row) for row in session_rows(state, time.time())])
        opened = next((one.id for one in state.sessions if one.id == state.session_id), None)
        if opened is not None and opened != self._pointed:
            # A chat that was begun is listed only with its first question.
            self._pointed = opened
            sessions.point_at(opened)
        if state.session_id != self._session:
            self._session = state.session_id
            self.query_one(SourcePane).show(None)
        none = "No chat contains these words." if state.search else "No chats yet."
        sessions.show_message(labels.muted(none))
        self.prompt.disabled = state.agent_id is None
        self.prompt.asked = state.history
        # In the field, a source's letter would be typed: the way to the sources starts with esc.
        self.prompt.border_subtitle = Content(TO_SOURCES if self._browser.has_sources() else "")
        # Each side's calls are answered separately.
        results = (prompt_title(chat.slice.value) for chat in self.chats)
        result = next(filter(None, results), "")
        hint = advice.RESULT_WANTED if result and state.editing is None else ASK
        self.prompt.placeholder = "" if self.prompt.disabled else hint
        what = "Edit question" if state.editing is not None else result
        self.box.show(what, state.attached, state.uploading)

    def _show_progress(self, _state: ChatState) -> None:
        self._show_phase()
        if self.can_stop():
            self._ticker.resume()
        else:
            self._ticker.pause()

    def _show_phase(self) -> None:
        words = [phase_words(chat.slice.value, time.time()) for chat in self.chats]
        parts = [Content.assemble(("◐", "$busy"), labels.line(one[1:])) for one in words if one]
        self.status.doing = Content(" · ").join(parts)
        self.status.stop = self.can_stop()

    # Asking

    def explain_disabled(self, action: str) -> str:
        state = self.state
        if state.session_id is None and action in _OF_A_CHAT:
            begin = "enter opens one of the list, n begins one" if state.sessions else "n New"
            return f"No chat is open: {begin}."
        if action in ("retry", "edit", "last_variant", "take_case") and not state.turns:
            return "Nothing was asked yet: tab goes to the field."
        if action in ("retry", "edit", "take_case") and self.can_stop():
            return "The answer is still being written: esc esc stops it."
        if action == "take_case" and state.alias:
            return "The names are hidden: v votes, and T takes an answer then."
        if action == "source" and not self._browser.has_sources():
            return "The agent was given no passages."
        if action in ("open_source", "details") and self.query_one(SourcePane).passage is None:
            return "No source is shown: [ and ] go through them."
        if action == "delete" and not self.sessions.has_focus:
            return "D deletes a chat in the list: tab goes there."
        return chat_comparing.explain_disabled(
            self.store.comparison, action
        ) or super().explain_disabled(action)

    def on_prompt_sent(self, event: Prompt.Sent) -> None:
        if self.can_stop():
            self.notice("The answer is still being written: esc esc stops it.")
            return
        text = event.prompt.text.strip()
        # A call's result goes to the side that asks for it.
        waiting = [chat for chat in self.chats if chat.slice.value.conversation.open_calls()]
        if waiting:
            call, *_ = waiting[0].slice.value.conversation.open_calls()
            handle = waiting[0].answer_call(call.id, text)
        else:
            handle = self.store.comparison.send(text)
        if handle.error is not None:
            self.notice(str(handle.error), failed=True)
            return
        event.prompt.put_back()
        self.query_one(SourcePane).show(None)
        for transcript in self.query(Transcript):
            transcript.to_end()
        self.do(handle)

    def on_prompt_paged(self, event: Prompt.Paged) -> None:
        for transcript in self.query(Transcript):
            transcript.scroll_relative(y=event.by * transcript.size.height, animate=False)

    def action_retry(self) -> None:
        self.do(self.store.comparison.retry())

    def action_edit(self) -> None:
        turns = self.state.turns
        questions = [place for place, turn in enumerate(turns) if turn.role == "user"]
        if questions and not self.can_stop():
            self.store.chat.edit(questions[-1])
            self.prompt.take_up(turns[questions[-1]].text)
            self.prompt.focus()

    def action_last_variant(self, step: int) -> None:
        conversation = self.state.conversation
        for place in range(len(conversation.turns) - 1, -1, -1):
            if conversation.variant(place)[1] > 1:
                self.action_variant(0, place, step)
                return
        self.notice("There is only one answer: ctrl+r asks again.")

    def action_variant(self, chat: int, place: int, step: int) -> None:
        """Show the next or previous variant of a turn; also called by a click."""
        service = self.chats[chat]
        number, several = service.slice.value.conversation.variant(place)
        service.choose_variant(place, (number - 1 + step) % several + 1)

    def can_stop(self) -> bool:
        return any(chat.slice.value.phase != "idle" for chat in self.chats)

    def stop(self) -> None:
        self.store.comparison.stop()
        self.notice("Stopped. ctrl+r: try again")

    def on_screen_resume(self) -> None:
        self._ask_permission(self.store.tools.slice.value)

    def _ask_permission(self, state: ToolsState) -> None:
        """Open the dialog for the oldest open question for consent, and close a stale one."""
        if self._asked is not None:
            consent, dialog = self._asked
            if consent not in state.asking and dialog.is_current:
                # It may not be drawn yet.
                dialog.call_after_refresh(lambda: dialog.is_current and dialog.dismiss(None))
        elif state.asking and self.app.screen is self:
            consent = state.asking[0]
            self._asked = consent, flows.permission(consent)
            self.run_flow(self._permit(*self._asked))

    async def _permit(self, consent: Consent, dialog: Permit) -> None:
        permission = cast(Permission, await self.ask(dialog) or "no")
        self.store.tools.answer(consent, permission)
        self._asked = None

    # Attachments

    def take_files(self, files: tuple[Path, ...]) -> None:
        if self.state.agent_id is None:
            super().take_files(files)
            return
        for file in files:
            self.do(self.store.chat.attach(file))

    def take_text(self, text: str) -> None:
        if self.prompt.disabled:
            super().take_text(text)
            return
        self.prompt.focus()
        self.prompt.insert(text)

    def action_attach(self) -> None:
        self._open_field(flows.attach(self))

    def on_prompt_box_named(self, event: PromptBox.Named) -> None:
        def on_end(handle: Handle[tuple[Attachment, ...]]) -> None:
            # An unknown name is plain text: show no error while typing.
            found = handle.result(0) if handle.outcome == "done" else ()
            self.call_later(self.box.offer, event.text, found)

        self.store.chat.names_like(event.text).add_done_callback(on_end)

    def on_prompt_box_picked(self, event: PromptBox.Picked) -> None:
        self.store.chat.attach_known(event.attachment)

    def on_prompt_box_taken_away(self, _event: PromptBox.TakenAway) -> None:
        if attached := self.state.attached:
            self.store.chat.detach(attached[-1])

    # Sessions and agents

    def reload(self) -> None:
        self._listed = time.monotonic()
        self.store.chat.load_remote()

    def _refresh(self) -> None:
        # Chats begun elsewhere may be listed late.
        if time.monotonic() - self._listed >= LISTED:
            super()._refresh()

    def action_new(self) -> None:
        self._open_field(flows.begin(self))

    def action_who(self) -> None:
        if self.state.session_id is None:
            self.action_new()
        else:
            self._open_field(flows.change_agent(self))

    def action_compare(self) -> None:
        self._open_field(comparing.add(self))

    def action_go_on(self) -> None:
        self._open_field(comparing.go_on(self))

    def _open_field(self, flow: Coroutine[Any, Any, bool]) -> None:
        """Run a flow, and focus the field if the flow returns True."""

        async def run() -> None:
            if await flow:
                self.begin()

        self.run_flow(run())

    def begin(self) -> None:
        """Focus the field of the open chat."""
        self.prompt.disabled = False
        self.set_focus(self.prompt)

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        self.do(self.store.chat.resume(event.key), lambda _: self.begin(), opens=True)

    def action_filter(self) -> None:
        if isinstance(self.focused, Transcript):
            self.action_filter_list()
            return
        self.query_one(FilterLine).begin(self.state.search)

    def on_filter_line_changed(self, event: FilterLine.Changed) -> None:
        self.store.chat.search_sessions(event.text)

    def on_input_submitted(self) -> None:
        self.sessions.focus()

    def action_delete(self) -> None:
        key = self.sessions.key
        summary = next((s for s in self.state.sessions if s.id == key), None)
        if summary is None or not self.sessions.has_focus:
            return
        self.run_flow(flows.delete(self, summary))

    action_model = start(flows.choose_model, lambda self: self.chats)
    action_parameters = start(flows.set_parameters, lambda self: self.chats)

    # Sources

    def action_source(self, step: int) -> None:
        self._browser.step(step)

    def action_show_source(self, chat: int, place: int, number: int) -> None:
        """Show a passage of an answer; also called by a click."""
        self._browser.show(chat, place, number)

    async def action_thinking(self, chat: int = 0, place: int | None = None) -> None:
        """Toggle the model's thinking before an answer; also called by a click."""
        for transcript in self.query(Transcript):
            if transcript.chat == chat:
                await transcript.fold(place)

    async def action_earlier(self, chat: int) -> None:
        """Show earlier turns of a long chat; called by a click."""
        for transcript in self.query(Transcript):
            if transcript.chat == chat:
                await transcript.show_earlier()

    def action_open_source(self) -> None:
        self._browser.open()

    # Comparing

    action_vote = start(comparing.vote)
    action_agents_differ = start(comparing.compare_agents)
    action_answers_differ = start(comparing.compare_answers)

    def action_blind(self) -> None:
        comparison = self.store.comparison
        blind = comparison.record is not None and comparison.record.blind_after is None
        words = (
            "From the next question on, names are hidden until the vote."
            if blind
            else "Names are shown."
        )
        self.do(comparison.set_blind(blind), lambda _: self.notice(words))

    def action_same_seed(self) -> None:
        seeds = {chat.slice.value.parameters.seed for chat in self.chats}
        on = len(seeds) > 1 or seeds == {None}
        words = "All sides draw with the same seed." if on else "The seed is the agents' own."
        self.do(self.store.comparison.set_same_seed(on), lambda _: self.notice(words))

    def action_next_side(self) -> None:
        sides = self._painter.sides
        self._painter.choose(sides.chosen + 1)
        if isinstance(self.focused, Transcript):
            sides.current.focus()

    def on_sides_chosen(self, event: Sides.Chosen) -> None:
        self._painter.choose(event.side)

    # Export

    def action_copy(self) -> None:
        self.run_flow(flows.copy_part(self, self.query_one(SourcePane).passage))

    action_take_case = start(evals.take_case)
    action_save = start(flows.save)

    def step_back(self) -> bool:
        source = self.query_one(SourcePane)
        filtering = self.query_one(FilterLine)
        if filtering.has_class("-shown"):
            self.store.chat.search_sessions("")
            filtering.end()
            self.sessions.focus()
        elif self.state.editing is not None and self.prompt.has_focus:
            self.store.chat.edit(None)
            self.prompt.put_back()
        elif source.passage is not None:
            source.show(None)
            if self.one_pane:
                self._painter.sides.current.focus()
        elif self.prompt.has_focus:
            self._painter.sides.current.focus()
        elif self.workbench.came_from is not None:
            return False
        elif len(self.chats) > 1:
            self.do(self.store.comparison.leave())
        elif not self.sessions.has_focus:
            self.sessions.focus()
        else:
            return False
        return True


def _session_row(row: SessionRow) -> Row:
    mark = Content.styled("●", "$accent") if row.selected else None
    return Row(row.id, (labels.line(row.title), labels.muted(row.age)), mark)
