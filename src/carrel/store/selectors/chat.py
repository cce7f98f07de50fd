"""The transcript, the sessions, and what is waited for, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.store.selectors.agents import version_name
from carrel.store.selectors.words import age, count, duration, one_line

if TYPE_CHECKING:
    from carrel.store.chat import ChatState
    from carrel.store.chats import Turn
    from carrel.wire.completions import Passage


@dataclass(frozen=True, slots=True)
class TurnRow:
    """What one side said: who, with which figures, the text, and how it ended."""

    speaker: str
    figures: str
    text: str
    note: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: str
    title: str
    age: str
    selected: bool


def turn_rows(state: ChatState) -> tuple[TurnRow, ...]:
    """The transcript, oldest first."""
    return tuple(
        TurnRow(
            "You" if turn.role == "user" else _speaker(state, turn),
            figures(turn),
            turn.text,
            {"stopped": "Stopped.", "failed": "Failed."}.get(turn.status, ""),
            tuple(source_words(source) for source in turn.sources),
        )
        for turn in state.turns
    )


def figures(turn: Turn) -> str:
    """`0.4 s · 31 tok/s`: seconds until the first token, tokens a second."""
    parts = []
    if turn.first_token is not None:
        parts.append(duration(turn.first_token))
    if turn.rate is not None:
        parts.append(f"{turn.rate:,.0f} tok/s")
    return " · ".join(parts)


def source_words(source: Passage) -> str:
    """`[1] lease-2024.pdf p.7`."""
    page = "" if source.page is None else f" p.{source.page + 1}"
    return f"[{source.index}] {one_line(source.document_name)}{page}"


def session_rows(state: ChatState, now: float) -> tuple[SessionRow, ...]:
    """The saved sessions, newest first."""
    return tuple(
        SessionRow(
            session.id,
            one_line(session.title) or "New",
            age(now - session.updated),
            session.id == state.session_id,
        )
        for session in state.sessions
    )


def title(state: ChatState) -> str:
    """`support v4`."""
    return f"{one_line(state.agent_name)} {version_name(state.version)}".strip() or "Chat"


def tokens(state: ChatState) -> str:
    """`2,310 of 8,192 tokens`; empty before the first answer."""
    last = state.turns[-1] if state.turns else None
    if last is None or last.prompt_tokens is None:
        return ""
    used = count(last.prompt_tokens + (last.completion_tokens or 0))
    if state.context_length is None:
        return f"{used} tokens"
    return f"{used} of {count(state.context_length)} tokens"


def phase_words(state: ChatState, now: float) -> str:
    """`◐ support v4: searching … 1.2 s`; empty while nothing is waited for."""
    if state.phase == "idle":
        return ""
    words = {
        "connecting": "connecting",
        "loading": "waiting for the model",
        "searching": "searching its libraries",
        "writing": "writing",
    }[state.phase]
    waited = "" if state.started is None else f" {duration(max(0.0, now - state.started))}"
    return f"◐ {title(state)}: {words} …{waited}"


def _speaker(state: ChatState, turn: Turn) -> str:
    return f"{one_line(state.agent_name)} {version_name(turn.version)}".strip()
