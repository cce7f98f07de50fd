"""Comparisons in the chat screen: painting of the sides, and their keys."""

import time

from textual.binding import Binding, BindingType
from textual.content import Content

from carrel.store.chat.formatting import parameter_words, tokens, turn_rows
from carrel.store.chat.state import ChatState
from carrel.store.comparison.formatting import judgement_words, questions, tab_words, tally_words
from carrel.store.comparison.service import ComparisonService
from carrel.tui.base.screen import MainScreen
from carrel.tui.terminal.keys import has_text_field
from carrel.tui.theme import labels
from carrel.tui.theme.empty import empty
from carrel.tui.widgets.chat.sides import Sides
from carrel.tui.widgets.chat.transcript import Transcript

NO_SESSION = empty("Choose an agent to talk to.", {"n": "New chat", "4": "Create an agent"})
NOTHING_SAID = labels.muted("Ask something. The answer appears here as it is written.")
UNSAVED = "4 saves or drops it"
"""Note beside the name of a draft."""
HINT = "v Vote  d Agents differ  x Answers differ  o Go on  b Blind"
PAINT = 0.1
"""Seconds between two repaints of one chat."""
TURN = 0.05
"""Seconds between the repaints of two sides: in turns, so that keys never wait long."""
BINDINGS: list[BindingType] = [
    Binding("v", "vote", "Vote…", show=False, id="chat.vote"),
    Binding("d", "agents_differ", "Differences of agents", show=False, id="chat.agents_differ"),
    Binding("x", "answers_differ", "Differences of answers", show=False, id="chat.answers_differ"),
    Binding("o", "go_on", "Go on with one", show=False, id="chat.go_on"),
    Binding("b", "blind", "Blind", show=False, id="chat.blind"),
    Binding("s", "same_seed", "Same seed", show=False, id="chat.same_seed"),
    Binding("alt+s", "next_side", "Next side", show=False, id="chat.next_side"),
]
"""The keys of a comparison for the screen."""
OF_A_COMPARISON = frozenset(
    {"vote", "agents_differ", "answers_differ", "go_on", "blind", "same_seed", "next_side"}
)
SHOW_NAMES = frozenset({"agents_differ", "go_on", "copy", "save", "model", "parameters", "who"})
"""Actions that would reveal the names of the agents."""


def explain_disabled(comparison: ComparisonService, action: str) -> str:
    """Return the reason why an action is disabled with one, or with several, open chats."""
    if action in OF_A_COMPARISON and len(comparison.chats) < 2:
        return "Nothing is compared: alt+c puts another agent or version beside this chat."
    if comparison.slice.value.hidden and action in SHOW_NAMES:
        return "The names are hidden: v votes, and shows them."
    return ""


class SidesPainter:
    """Paints one chat or the sides of a comparison."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._comparison = screen.store.comparison
        self._painted = 0.0
        self._paint_waits = False
        self._last = -1
        self._shown: dict[int, ChatState] = {}
        """The last painted states by side."""

    @property
    def sides(self) -> Sides:
        """The transcripts."""
        return self._screen.query_one(Sides)

    def start(self) -> None:
        """Paint now, and whenever a chat changes."""
        self._screen.follow(self._comparison.slice, self.paint_soon)
        for chat in self._comparison.every:
            self._screen.follow(chat.slice, self.paint_soon)

    def choose(self, side: int) -> None:
        """Choose the widest side."""
        self.sides.choose(side)
        self.paint_soon()

    def paint_soon(self, *_: object) -> None:
        """Schedule a repaint."""
        if self._paint_waits:
            return
        self._paint_waits = True
        wait = (
            self._painted + (PAINT if len(self._comparison.chats) == 1 else TURN) - time.monotonic()
        )
        if wait <= 0:
            # In the screen's own turn, so that changes are drawn one after the other.
            self._screen.call_later(self._paint)
        else:
            self._screen.set_timer(wait, self._paint)

    async def _paint(self) -> None:
        """Repaint the next visible, changed side; the others follow in turns."""
        states = [chat.slice.value for chat in self._comparison.chats]
        self._screen.set_class(len(states) > 1, "-comparing")
        names = self._comparison.titles
        self.sides.show_sides([*map(tab_words, states, names)], self._vote_line())
        seen = self.sides.seen
        for place in seen:
            self.sides.transcripts[place].border_title = _title(states[place], names[place])
        changed = [place for place in seen if self._shown.get(place) is not states[place]]
        if changed:
            place = next((place for place in changed if place > self._last), changed[0])
            self._last, self._shown[place] = place, states[place]
            await _show(states[place], self.sides.transcripts[place])
        self._painted = time.monotonic()
        self._paint_waits = False
        if len(changed) > 1:
            self.paint_soon()

    def redraw(self) -> None:
        """Repaint all sides."""
        for transcript in self.sides.transcripts:
            transcript.redraw()
        self._shown.clear()
        self.paint_soon()

    def _vote_line(self) -> Content:
        record, state = self._comparison.record, self._comparison.first.slice.value
        if record is None:
            return Content("")
        about = [
            "blind" if record.blind_after is not None else "",
            judgement_words(record, questions(state)),
            tally_words(record),
        ]
        # In the field, the letters would be typed.
        hint = f"esc, then {HINT}" if has_text_field(self._screen) else HINT
        return labels.line(" · ".join(filter(None, [*about, hint])), "$muted")


def _title(state: ChatState, name: str) -> Content:
    about = filter(None, (UNSAVED if state.draft else "", parameter_words(state)))
    return labels.title(name, " · ".join(about))


async def _show(state: ChatState, transcript: Transcript) -> None:
    transcript.border_subtitle = labels.line(tokens(state))
    if state.error is not None and not state.turns and state.session_id is None:
        await transcript.show_message(Content("\n").join(labels.problem(state.error)))
    elif state.agent_id is None:
        await transcript.show_message(Content("\n").join(NO_SESSION))
    elif not state.turns:
        await transcript.show_message(NOTHING_SAID)
    else:
        writing = state.turns[-1].status == "writing"
        await transcript.show(
            state.session_id, turn_rows(state), writing=writing, found=state.found
        )
