"""Formatting of the transcript, the sessions and an answer's progress."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.store.agents.formatting import version_name
from carrel.store.core.formatting import age, count, duration, one_line
from carrel.store.tools.formatting import rounds_words
from carrel.store.tools.state import AgentCall

if TYPE_CHECKING:
    from carrel.store.chat.conversation import Turn
    from carrel.store.chat.state import ChatState
    from carrel.wire.generation.completions import Passage, Progress

NO_SEARCH = "No library search was reported."
HIDDEN = "Hidden until the vote."
NOTHING_FOUND = "Nothing about it was found in the libraries."
CUT = "Cut off at the token limit."
ENDS = {
    "stopped": ("Stopped.", "Stopped before an answer."),
    "failed": ("Cut off: the service failed. Retry asks again.", "No answer. Retry asks again."),
    "lost": (
        "Cut off: the connection was lost. Retry asks again.",
        "No answer: the connection was lost. Retry asks again.",
    ),
    "cut": (
        "Cut off: Carrel was closed. Retry asks again.",
        "No answer: Carrel was closed. Retry asks again.",
    ),
}
"""Notes on answers that ended early: with some text, and without."""
PHASES = {
    "connecting": "connecting",
    "attaching": "attaching its files",
    "waiting": "waiting for the first word",
    "thinking": "thinking",
    "writing": "writing",
    "calling": "waiting for a tool",
}
STEPS = {
    "loading": "loading the model",
    "documents": "reading the attached documents",
    "searching": "searching its libraries",
    "calling": "calling",
    "queued": "in the queue",
    "reading": "reading the prompt",
}
"""Names of the service's steps before the first word; unknown steps read as waiting."""

_CITED = re.compile(r"\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]")  # no answer has more passages
_NUMBER = re.compile(r"\d+")
_CODE = re.compile(r"^(```+|~~~+)[^\n]*\n(.*?)^\1", re.MULTILINE | re.DOTALL)
_MOST_ARGUMENT = 60
"""Letters of a shown argument."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A passage given to an answer; `cited` if the answer's text names it."""

    number: int
    words: str
    cited: bool


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn in words: its author, figures, text and end.

    `variant` is "‹2/3›" if there are several. `sources_title` tells if the text cites no source.
    `thought` is the time spent `thinking`. `calls` are the answer's function calls, `attached` a
    question's attachments. A `typed` text is shown as it is, and not as Markdown.
    """

    speaker: str
    figures: str
    text: str
    note: str
    variant: str = ""
    sources_title: str = ""
    sources: tuple[SourceRow, ...] = ()
    calls: tuple[str, ...] = ()
    attached: tuple[str, ...] = ()
    thought: str = ""
    thinking: str = ""
    typed: bool = False


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: str
    title: str
    age: str
    selected: bool


def turn_rows(state: ChatState) -> tuple[TurnRow, ...]:
    """Return the transcript, oldest first."""
    names = {call.id: call.name for turn in state.turns for call in turn.calls}
    asked = [place for place, turn in enumerate(state.turns) if turn.role == "user"]
    seen = asked[-1] if state.alias and asked else 0
    return tuple(
        TurnRow(_speaker(state, turn, names), "", "", HIDDEN)
        if place < seen and turn.role != "user"
        else TurnRow(
            _speaker(state, turn, names),
            figures(turn),
            turn.text,
            end_note(turn),
            _variant(state, place),
            sources_title(turn),
            tuple(source_rows(turn)),
            tuple(call_words(call) for call in turn.calls),
            tuple(one_line(attachment.name) for attachment in turn.attachments),
            thought_words(turn),
            turn.thinking,
            turn.role != "assistant",
        )
        for place, turn in enumerate(state.turns)
    )


def figures(turn: Turn) -> str:
    """Return `0.4 s · 31 tok/s`: seconds until the first token, and tokens a second."""
    parts = []
    if turn.first_token is not None:
        parts.append(duration(turn.first_token))
    if turn.rate is not None:
        parts.append(f"{turn.rate:,.0f} tok/s")
    return " · ".join(parts)


def thought_words(turn: Turn) -> str:
    """Return `thought for 8 s`, or `thinking` until the answer begins."""
    if not turn.thinking:
        return ""
    if turn.status == "writing" and not turn.text:
        return "thinking"
    return "thought" if turn.thought is None else f"thought for {duration(turn.thought)}"


def end_note(turn: Turn) -> str:
    """Return a note on an abnormal end of an answer, else an empty string."""
    if turn.status == "failed" and turn.refusal and not turn.text:
        return f"No answer: {turn.refusal} Retry asks again."
    if turn.status in ENDS:
        return ENDS[turn.status][0 if turn.text else 1]
    if turn.cut:
        return CUT
    if turn.status == "done" and turn.searches and not turn.sources and not turn.calls:
        return NOTHING_FOUND if turn.searched else NO_SEARCH
    return ""


def citations_in(turn: Turn) -> frozenset[int]:
    """Return the source numbers that an answer's text cites in brackets."""
    there = {source.index for source in turn.sources}
    if not there:
        return frozenset()
    return frozenset({number for number, _, _ in citations(turn.text)} & there)


def without_citations(turn: Turn) -> str:
    """Return an answer's text without citations, whose numbers do not hold for later sources."""
    named = citations_in(turn)

    def drop_named(group: re.Match[str]) -> str:
        numbers = {int(found) for found in _NUMBER.findall(group[0])}
        return "" if numbers <= named else group[0]

    return re.sub(rf" ?{_CITED.pattern}", drop_named, turn.text) if named else turn.text


def citations(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield each number in brackets, as in `[2]` or `[1, 3]`, with the start and end of the
    brackets."""
    for group in _CITED.finditer(text):
        for found in _NUMBER.finditer(text, *group.span(1)):
            yield int(found[0]), found.start(), found.end()


def sources_title(turn: Turn) -> str:
    """Return `Sources` when the text cites one, else `Sources, none cited`."""
    if not turn.sources:
        return ""
    return "Sources" if citations_in(turn) else "Sources, none cited"


def source_rows(turn: Turn) -> list[SourceRow]:
    """Return the rows of an answer's passages."""
    named = citations_in(turn)
    return [
        SourceRow(source.index, source_words(source), source.index in named)
        for source in turn.sources
    ]


def source_words(source: Passage) -> str:
    """Return `[1] lease-2024.pdf p.7`."""
    page = "" if source.page is None else f" p.{source.page + 1}"
    return f"[{source.index}] {one_line(source.document_name)}{page}"


def source_title(source: Passage) -> str:
    """Return `Source 1 · lease-2024.pdf p. 7`."""
    page = "" if source.page is None else f" p. {source.page + 1}"
    return f"Source {source.index} · {one_line(source.document_name)}{page}"


def call_words(call: AgentCall) -> str:
    """Return `get_weather(city="Paris")`; arguments that are not a JSON object are kept as text."""
    try:
        arguments = json.loads(call.arguments or "{}")
        words = ", ".join(
            f"{name}={_short(json.dumps(value, ensure_ascii=False))}"
            for name, value in arguments.items()
        )
    except (ValueError, AttributeError):
        words = _short(call.arguments)
    return one_line(f"{call.name}({words})")


def code_blocks(text: str) -> tuple[str, ...]:
    """Return the texts of an answer's fenced code blocks."""
    return tuple(match[2] for match in _CODE.finditer(text))


def prompt_title(state: ChatState) -> str:
    """Return the prompt's title while a call waits for its result: `Result of get_weather(…)`."""
    calls = state.conversation.open_calls()
    if not calls or state.phase != "idle":
        return ""
    left = f" · {len(calls) - 1} more" if len(calls) > 1 else ""
    return f"Result of {call_words(calls[0])}{left}"


def session_rows(state: ChatState, now: float) -> tuple[SessionRow, ...]:
    """Return the saved sessions, newest first; `⇄` marks a comparison."""
    return tuple(
        SessionRow(
            session.id,
            "⇄ " * bool(session.beside) + (one_line(session.title) or "New"),
            age(now - session.updated),
            session.id == state.session_id,
        )
        for session in state.sessions
    )


def sessions_title(state: ChatState) -> str:
    """Return `Chats`, or `Chats with “rent”`."""
    return f"Chats with “{one_line(state.search)}”" if state.search else "Chats"


def title(state: ChatState) -> str:
    """Return `support v4`, with a note on a draft, or the alias while the name is hidden."""
    if state.alias:
        return state.alias
    version = "draft" if state.draft else version_name(state.version)
    return f"{one_line(state.agent_name)} {version}".strip() or "Chat"


def tokens(state: ChatState) -> str:
    """Return `2,310 of 8,192 tokens`; empty before the first answer, and while the name is
    hidden."""
    last = state.turns[-1] if state.turns else None
    # The length of the prompt would reveal the agent.
    if state.alias or last is None or last.prompt_tokens is None:
        return ""
    used = count(last.prompt_tokens + (last.completion_tokens or 0))
    if state.context_length is None:
        return f"{used} tokens"
    return f"{used} of {count(state.context_length)} tokens"


def parameter_words(state: ChatState) -> str:
    """Return the model and the overridden parameters: `mistral-small · temperature 0.2 · seed
    7`."""
    if state.alias:
        return ""
    parameters = state.parameters
    named = {
        "": parameters.model or state.model,
        "temperature": parameters.temperature,
        "top p": parameters.top_p,
        "max answer tokens": parameters.max_tokens,
        "seed": parameters.seed,
        "stop at": ", ".join(parameters.stop) or None,
        "tools": ", ".join(parameters.tools) or None,
    }
    words = (f"{name} {value}".strip() for name, value in named.items() if value is not None)
    return one_line(" · ".join(words))


def phase_words(state: ChatState, now: float) -> str:
    """Return `◐ support v4: loading the model … 1.2 s`; empty while idle."""
    if state.phase == "idle":
        return ""
    words = PHASES[state.phase]
    if state.phase == "waiting" and state.step is not None:
        words = step_words(state.step)
    words = ", ".join(filter(None, (words, rounds_words(state.asked))))
    waited = "" if state.started is None else f" {duration(max(0.0, now - state.started))}"
    return f"◐ {title(state)}: {words} …{waited}"


def step_words(step: Progress) -> str:
    """Return a step's progress: `in the queue at place 2`, `reading the prompt, 45 %`."""
    words = STEPS.get(step.stage, PHASES["waiting"])
    if step.stage == "queued" and step.place:
        return f"{words} at place {count(step.place)}"
    if step.stage == "calling" and step.tool:
        return f"{words} {one_line(step.tool)}"
    if step.stage == "reading" and step.total and step.done is not None:
        return f"{words}, {100 * step.done // step.total} %"
    return words


def _variant(state: ChatState, place: int) -> str:
    number, several = state.conversation.variant(place)
    return f"‹{number}/{several}›" if several > 1 else ""


def _speaker(state: ChatState, turn: Turn, names: dict[str, str]) -> str:
    if turn.role == "user":
        return "You"
    if turn.role == "tool":
        return f"Result of {one_line(names.get(turn.call_id or '', 'a function'))}"
    if state.alias:
        return state.alias
    drafted = turn.version is None and state.draft and not turn.agent
    version = "draft" if drafted else version_name(turn.version)
    return f"{one_line(turn.agent or state.agent_name)} {version}".strip()


def _short(text: str) -> str:
    return text if len(text) <= _MOST_ARGUMENT else text[: _MOST_ARGUMENT - 1] + "…"
