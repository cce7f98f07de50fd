"""Formatting of a comparison: its sides, their differences and the votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from carrel.store.agents.compare import FieldChange, compare_agents
from carrel.store.agents.formatting import FieldRow, changed_field_rows
from carrel.store.chat.formatting import figures, title
from carrel.store.core.diff import compare_lines
from carrel.store.core.formatting import count, one_line

if TYPE_CHECKING:
    from carrel.store.chat.compared import Comparison
    from carrel.store.chat.conversation import Turn
    from carrel.store.chat.state import ChatState
    from carrel.wire.generation.agents import Agent, AgentCreate

ALIASES = ("A", "B", "C", "D")
"""Aliases of the sides, from the left, in blind mode."""


def questions(state: ChatState) -> int:
    """Return the number of questions on the shown path."""
    return sum(turn.role == "user" for turn in state.turns)


def last_answer(state: ChatState) -> Turn | None:
    """Return the answer to the last question, or None while it is being written or has no text."""
    last = state.turns[-1] if state.turns else None
    return (
        last if last and last.role == "assistant" and last.text and state.phase == "idle" else None
    )


def has_answer(state: ChatState) -> bool:
    """Return whether the last question has an answer."""
    return last_answer(state) is not None


def answerer(state: ChatState) -> str:
    """Return the name and version behind the last answer, hidden or not: `support v3`."""
    last = last_answer(state)
    version = state.version if last is None or last.version is None else last.version
    kind = "draft" if state.draft else "" if version is None else f"v{version}"
    return f"{one_line(state.agent_name)} {kind}".strip()


def side_titles(states: Sequence[ChatState]) -> list[str]:
    """Return the name of each side, with its letter where another has the same: `support v3 B`."""
    titles = [title(state) for state in states]
    return [
        f"{name} {letter}" if titles.count(name) > 1 else name
        for name, letter in zip(titles, ALIASES, strict=False)
    ]


def tab_words(state: ChatState, name: str) -> str:
    """Return `support v3`, `◐ support v3` while it answers, or `✕ support v3` after a failure."""
    last = state.turns[-1] if state.turns else None
    mark = "◐ " if state.phase != "idle" else ""
    if last is not None and last.status in ("failed", "lost"):
        mark = "✕ "
    return f"{mark}{name}"


def judgement_words(record: Comparison, asked: int) -> str:
    """Return `Voted for support v3: shorter`; empty without a vote and a note."""
    judgement = record.judgement(asked)
    if judgement is None:
        return ""
    vote = ""
    if judgement.voted:
        vote = f"Voted for {judgement.label}" if judgement.label else "Voted: a tie"
    return ": ".join(filter(None, (vote, one_line(judgement.note))))


def tally_words(record: Comparison) -> str:
    """Return `support v3 2 · support v4 1 · tie 1`; empty without votes."""
    votes = Counter(judgement.label or "tie" for judgement in record.judgements if judgement.voted)
    ranked = sorted(votes.items(), key=lambda pair: (pair[0] == "tie", -pair[1], pair[0]))
    return " · ".join(f"{label} {count(number)}" for label, number in ranked)


def agent_differences(old: Agent | AgentCreate, new: Agent | AgentCreate) -> tuple[FieldRow, ...]:
    """Return the fields in which two sides differ."""
    return changed_field_rows(compare_agents(_as_agent(old), _as_agent(new)))


def answer_differences(old: Turn, new: Turn) -> tuple[FieldRow, ...]:
    """Return the lines in which two answers differ, and their figures."""
    if old.text == new.text:
        text = FieldChange("answer", "same", "the same in both", "the same in both")
    else:
        lines = compare_lines(old.text, new.text)
        text = FieldChange("answer", "changed", old.text, new.text, lines)
    told = FieldChange("figures", "changed", turn_figures(old), turn_figures(new))
    return (
        changed_field_rows((told, text))
        if text.change != "same"
        else (*changed_field_rows((told,)), FieldRow("answer", "the same in both", "same"))
    )


def turn_figures(turn: Turn) -> str:
    """Return `0.4 s · 31 tok/s · 2,310 tokens`."""
    used = (turn.prompt_tokens or 0) + (turn.completion_tokens or 0)
    return " · ".join(filter(None, (figures(turn), f"{count(used)} tokens" if used else "")))


def _as_agent(fields: Agent | AgentCreate) -> Agent:
    """Return a draft as the agent that it would become."""
    from carrel.wire.generation.agents import Agent, AgentCreate

    if not isinstance(fields, AgentCreate):
        return fields
    now = "1970-01-01T00:00:00Z"
    about = {"id": "", "version": 0, "versions": [0], "created_at": now, "updated_at": now}
    return Agent.model_validate({**fields.body(), **about})
