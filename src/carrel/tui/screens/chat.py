"""5 Chat: questions to an agent, its answers, and what they were drawn from."""

import re
import time
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from carrel.store.agents import AgentsState
from carrel.store.chat_state import ChatState
from carrel.store.documents import Source
from carrel.store.selectors.chat import (
    SessionRow,
    phase_words,
    session_rows,
    source_words,
    title,
    tokens,
    turn_rows,
)
from carrel.tui import labels
from carrel.tui.clipboard import copy
from carrel.tui.dialogs.ask import Choose, Thing
from carrel.tui.dialogs.confirm import Confirm
from carrel.tui.screens.place import Place, Way, empty
from carrel.tui.widgets.fields import Prompt
from carrel.tui.widgets.table import Column, Row, VirtualTable
from carrel.tui.widgets.transcript import Transcript
from carrel.wire.completions import Passage
from carrel.wire.libraries import marked

NO_SESSION = empty(
    "Choose an agent to talk to.",
    Way("n", "New chat"),
    Way("4", "Make an agent"),
)
NOTHING_SAID = Content.styled("Ask something. The answer appears here as it is written.", "$muted")
_CODE = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


class ChatPlace(Place):
    """Sessions left, the chat in the middle, a source right."""

    PLACE: ClassVar[str] = "chat"
    CSS_PATH = "chat.tcss"
    HELP = "Talk to an agent. What it drew from its libraries stands below the answer."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New", id="chat.new"),
        Binding("ctrl+r", "retry", "Retry", id="chat.retry"),
        Binding(
            "left_square_bracket",
            "source(-1)",
            "Source",
            key_display="[ ]",
            id="chat.source_before",
        ),
        Binding(
            "right_square_bracket", "source(1)", "Next source", show=False, id="chat.source_after"
        ),
        Binding("enter", "open_source", "Open source", show=False, id="chat.open_source"),
        Binding("y", "copy", "Copy…", id="chat.copy"),
        Binding("D", "delete", "Delete", show=False, id="chat.delete"),
    ]

    def panes(self) -> ComposeResult:
        sessions = VirtualTable(
            Column("Chat"), Column("", 10, rank=1, right=True), id="sessions", header=False
        )
        sessions.border_title = labels.title("Sessions")
        sessions.border_subtitle = Content("n New")
        yield sessions
        with Vertical(id="middle", classes="column -current"):
            yield Transcript(id="transcript")
            yield Prompt(id="prompt")
        with VerticalScroll(id="source", classes="pane details -folded"):
            yield Static(id="passage")

    @property
    def sessions(self) -> VirtualTable:
        return self.query_one("#sessions", VirtualTable)

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    def on_mount(self) -> None:
        self._source: int | None = None
        self._session: str | None = None
        self._ticker: Timer | None = None
        # Ten times a second is as often as a growing answer is drawn anew.
        self.follow(self.store.chat.slice, self._show, hz=10)
        self.prompt.focus()

    # Showing

    def _show(self, state: ChatState) -> None:
        self.sessions.show([_session_row(row) for row in session_rows(state, time.time())])
        if state.session_id is not None and state.session_id != self._session:
            self.sessions.point_at(state.session_id)
            self._session = self.sessions.key
        if state.agent_id is None:
            self.sessions.say(*NO_SESSION)
        else:
            self.sessions.say(Content.styled("None yet.", "$muted"))
        self.transcript.border_title = labels.title(title(state), tokens(state))
        self.prompt.disabled = state.agent_id is None
        # Awaited in this place's own turn, so that one change is drawn after the other.
        self.call_later(self._show_turns, state)
        self._show_phase()
        self._show_source()
        if state.phase != "idle" and self._ticker is None:
            self._ticker = self.set_interval(0.2, self._show_phase)
        elif state.phase == "idle" and self._ticker is not None:
            self._ticker.stop()
            self._ticker = None

    async def _show_turns(self, state: ChatState) -> None:
        if state.agent_id is None:
            await self.transcript.say(Content("\n").join(NO_SESSION))
        elif not state.turns:
            await self.transcript.say(NOTHING_SAID)
        else:
            writing = state.turns[-1].status == "writing"
            await self.transcript.show(state.session_id, turn_rows(state), writing=writing)

    def _show_phase(self) -> None:
        state = self.store.chat.slice.value
        words = phase_words(state, time.time())
        self.status.doing = (
            Content.assemble(("◐", "$busy"), labels.line(words[1:])) if words else Content("")
        )
        self.status.stop = self.can_stop()

    def _sources(self) -> tuple[Passage, ...]:
        turns = self.store.chat.slice.value.turns
        return next((turn.sources for turn in reversed(turns) if turn.sources), ())

    def _show_source(self) -> None:
        sources = self._sources()
        pane = self.query_one("#source")
        if self._source is None or self._source >= len(sources):
            self._source = None
            pane.add_class("-folded")
            return
        passage = sources[self._source]
        pane.remove_class("-folded")
        pane.border_title = labels.title(f"Source {source_words(passage)}")
        self.query_one("#passage", Static).update(
            Content("\n").join(
                [
                    labels.highlighted(marked(passage.snippet, passage.matches)),
                    Content(""),
                    Content.styled("enter opens the page", "$muted"),
                    Content.styled("] next source, esc closes", "$muted"),
                ]
            )
        )

    # Acting

    def on_prompt_sent(self, event: Prompt.Sent) -> None:
        state = self.store.chat.slice.value
        if state.phase != "idle":
            self.notice("The answer is still being written: esc esc stops it.")
            return
        text = event.prompt.text
        event.prompt.clear()
        self._source = None
        self.transcript.to_end()
        self.do(self.store.chat.send(text.strip()))

    def action_new(self) -> None:
        def chosen(agent_id: str | None) -> None:
            if agent_id:
                self.do(self.store.chat.new(agent_id), lambda _: self._begin())

        def choose(state: AgentsState) -> None:
            things = [Thing(a.id, a.name, f"v{a.version} · {a.model}") for a in state.items]
            if len(things) == 1:
                chosen(things[0].id)
            elif things:
                self.app.push_screen(Choose("Chat with", things), chosen)
            else:
                self.notice("There is no agent yet: 4 Agents, then n New.", failed=True)

        agents = self.store.agents
        if agents.slice.value.loaded:
            choose(agents.slice.value)
        else:
            self.do(agents.load(), lambda _: choose(agents.slice.value))

    def _begin(self) -> None:
        self._source = None
        self.prompt.disabled = False
        self.prompt.focus()

    def on_virtual_table_opened(self, event: VirtualTable.Opened) -> None:
        self.do(self.store.chat.resume(event.key), lambda _: self._begin())

    def action_retry(self) -> None:
        state = self.store.chat.slice.value
        if state.turns and state.phase == "idle":
            self.do(self.store.chat.retry())

    def action_source(self, step: int) -> None:
        sources = self._sources()
        if not sources:
            self.notice("The last answer names no sources.")
            return
        at = -1 if self._source is None and step > 0 else (self._source or 0)
        self._source = (at + step) % len(sources)
        self._show_source()

    def action_open_source(self) -> None:
        if self._source is not None:
            passage = self._sources()[self._source]
            source = Source(
                "document", passage.document_id, passage.document_name, passage.library_id
            )
            self.store.documents.open(source, passage.page or 0)
            self.app.switch_mode("document")

    def action_copy(self) -> None:
        turns = self.store.chat.slice.value.turns
        answer = next((turn.text for turn in reversed(turns) if turn.role == "assistant"), "")
        texts = {"answer": answer}
        for number, match in enumerate(_CODE.finditer(answer), 1):
            texts[f"code block {number}"] = match[1]
        if self._source is not None:
            texts["source"] = self._sources()[self._source].snippet

        def chosen(what: str | None) -> None:
            if what:
                ok = copy(self.app, texts[what])
                self.notice("Copied." if ok else "Too long for the clipboard.", failed=not ok)

        if answer:
            things = [Thing(what, f"Copy {what}") for what in texts]
            self.app.push_screen(Choose("Copy", things), chosen)

    def action_delete(self) -> None:
        key = self.sessions.key
        summary = next((s for s in self.store.chat.slice.value.sessions if s.id == key), None)
        if summary is None or not self.sessions.has_focus:
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.do(self.store.chat.delete_session(summary.id))

        about = [labels.line(summary.title or "New", "bold")]
        self.app.push_screen(Confirm("Delete this chat?", about, "Delete"), answered)

    def can_stop(self) -> bool:
        return self.store.chat.slice.value.phase != "idle"

    def stop(self) -> None:
        self.store.chat.stop()
        self.notice("Stopped. What was written stays; ctrl+r tries again.")

    def back(self) -> None:
        if self._source is not None:
            self._source = None
            self._show_source()
        elif self.prompt.has_focus:
            self.transcript.focus()
        else:
            self.sessions.focus()


def _session_row(row: SessionRow) -> Row:
    mark = Content.styled("●", "$accent") if row.selected else None
    return Row(row.id, (labels.line(row.title), Content.styled(row.age, "$muted")), mark)
