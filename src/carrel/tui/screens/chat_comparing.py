"""Comparing in the chat's place: the sides, painted together, and what is done with them."""

import time
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from carrel.store.chat.state import ChatState
from carrel.store.chat.words import parameter_words, title, tokens, turn_rows
from carrel.store.comparison.words import judgement_words, questions, tab_words, tally_words
from carrel.store.store import Store
from carrel.tui.flows import comparing as flows
from carrel.tui.looks import labels
from carrel.tui.looks.empty import Way, empty
from carrel.tui.screens.chat_sources import ChatSources
from carrel.tui.widgets.sides import Sides
from carrel.tui.widgets.transcript import Transcript
from carrel.tui.workbench import Workbench

NO_SESSION = empty(
    "Choose an agent to talk to.",
    Way("n", "New chat"),
    Way("4", "Create an agent"),
)
NOTHING_SAID = Content.styled("Ask something. The answer appears here as it is written.", "$muted")
UNSAVED = "4 saves or drops it"
"""The note beside the name of an agent that is a draft."""
HINT = "v Vote  d Agents differ  x Answers differ  o Go on"
PAINT = 0.1
"""Seconds between two paintings of one chat."""
TURN = 0.05
"""Seconds between the paintings of two sides: painted in turns, none keeps the keys waiting."""


class Comparing(ChatSources):
    """The part of the chat's place that shows one chat, or several that get the same questions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "vote", "Vote…", show=False, id="chat.vote"),
        Binding("d", "agents_differ", "Differences of agents", show=False, id="chat.agents_differ"),
        Binding(
            "x", "answers_differ", "Differences of answers", show=False, id="chat.answers_differ"
        ),
        Binding("o", "go_on", "Go on with one", show=False, id="chat.go_on"),
        Binding("b", "blind", "Blind", show=False, id="chat.blind"),
        Binding("s", "same_seed", "Same seed", show=False, id="chat.same_seed"),
        Binding("alt+s", "next_side", "Next side", show=False, id="chat.next_side"),
    ]
    OF_A_COMPARISON: ClassVar[frozenset[str]] = frozenset(
        {"vote", "agents_differ", "answers_differ", "go_on", "blind", "same_seed", "next_side"}
    )

    def __init__(self, store: Store, workbench: Workbench) -> None:
        super().__init__(store, workbench)
        self._painted = 0.0
        self._paint_waits = False
        self._last = -1
        self._shown: dict[int, ChatState] = {}
        """The states that were painted last, by the places of their sides."""

    @property
    def sides(self) -> Sides:
        """The transcripts."""
        return self.query_one(Sides)

    def on_mount(self) -> None:
        self.follow(self.store.comparison.slice, self._paint_soon)
        for chat in self.store.comparison.every:
            self.follow(chat.slice, self._paint_soon)

    # Painting

    def _paint_soon(self, *_: object) -> None:
        if self._paint_waits:
            return
        self._paint_waits = True
        wait = self._painted + (PAINT if len(self.chats) == 1 else TURN) - time.monotonic()
        if wait <= 0:
            # In this place's own turn, so that one change is drawn after the other.
            self.call_later(self._paint)
        else:
            self.set_timer(wait, self._paint)

    async def _paint(self) -> None:
        """Paints the next side that is seen and has changed; the others follow in their turns."""
        states = [chat.slice.value for chat in self.chats]
        self.set_class(len(states) > 1, "-comparing")
        self.sides.stand([tab_words(state) for state in states], self._judged())
        seen = self.sides.seen
        changed = [place for place in seen if self._shown.get(place) is not states[place]]
        if changed:
            place = next((place for place in changed if place > self._last), changed[0])
            self._last, self._shown[place] = place, states[place]
            await _show(states[place], self.sides.transcripts[place])
        self._painted = time.monotonic()
        self._paint_waits = False
        if len(changed) > 1:
            self._paint_soon()

    def redraw(self) -> None:
        """Paints every side anew."""
        for transcript in self.sides.transcripts:
            transcript.redraw()
        self._shown.clear()
        self._paint_soon()

    def _judged(self) -> Content:
        comparison = self.store.comparison
        record, state = comparison.record, comparison.first.slice.value
        if record is None:
            return Content("")
        about = [
            "blind" if record.blind_after is not None else "",
            judgement_words(record, questions(state)),
            tally_words(record),
        ]
        return labels.line(" · ".join(filter(None, [*about, HINT])), "$muted")

    # Keys

    def lacking(self, action: str) -> str:
        if action in self.OF_A_COMPARISON and len(self.chats) < 2:
            return "Nothing is compared: alt+c puts another agent or version beside this chat."
        if self.store.comparison.slice.value.hidden and action in (
            "agents_differ", "go_on", "copy", "save", "model", "parameters", "who",
        ):  # fmt: skip
            return "The names are hidden: v votes, and shows them."
        return super().lacking(action)

    def action_vote(self) -> None:
        self.run_flow(flows.vote(self))

    def action_agents_differ(self) -> None:
        self.run_flow(flows.agents_differ(self))

    def action_answers_differ(self) -> None:
        self.run_flow(flows.answers_differ(self))

    def action_blind(self) -> None:
        comparison = self.store.comparison
        blind = comparison.record is not None and comparison.record.blind_after is None
        handle = comparison.set_blind(blind)
        self.do(handle)
        if handle.error is None:
            self.notice("Names are hidden from the next question on until the vote on its answers."
                        if blind else "Names are shown.")  # fmt: skip

    def action_same_seed(self) -> None:
        seeds = {chat.slice.value.parameters.seed for chat in self.chats}
        on = len(seeds) > 1 or seeds == {None}
        self.do(self.store.comparison.same_seed(on))
        self.notice("All sides draw with the same seed." if on else "The seed is the agents' own.")

    def action_next_side(self) -> None:
        self.sides.choose(self.sides.chosen + 1)
        self._paint_soon()
        if isinstance(self.focused, Transcript):
            self.sides.current.focus()

    def on_sides_chosen(self, event: Sides.Chosen) -> None:
        self.sides.choose(event.side)
        self._paint_soon()


async def _show(state: ChatState, transcript: Transcript) -> None:
    about = filter(None, (UNSAVED if state.draft else "", parameter_words(state)))
    transcript.border_title = labels.title(title(state), " · ".join(about))
    transcript.border_subtitle = labels.line(tokens(state))
    if state.error is not None and not state.turns and state.session_id is None:
        await transcript.say(Content("\n").join(labels.problem(state.error)))
    elif state.agent_id is None:
        await transcript.say(Content("\n").join(NO_SESSION))
    elif not state.turns:
        await transcript.say(NOTHING_SAID)
    else:
        writing = state.turns[-1].status == "writing"
        await transcript.show(state.session_id, turn_rows(state), writing=writing)
