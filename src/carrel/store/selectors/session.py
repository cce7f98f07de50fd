"""The connection in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.store.selectors.words import Badge

if TYPE_CHECKING:
    from carrel.store.session import SessionState


def connection(state: SessionState) -> Badge:
    """`● ready`, `◐ starting`, `○ lost`, `✕ failed`; a hosted service that is ready: `▲ hosted`."""
    match state.connection:
        case "ready" if state.hosted:
            return Badge("▲", "hosted, read-only" if state.read_only else "hosted", "hosted")
        case "ready":
            return Badge("●", "ready, read-only" if state.read_only else "ready", "ready")
        case "failed":
            return Badge("✕", "failed", "failed")
        case "lost":
            return Badge("○", "lost", "waiting")
        case word:
            return Badge("◐", word, "busy")


def header(state: SessionState) -> str:
    """Profile, connection and model in one line: `local ● ready · smollm2 (test model)`."""
    words = f"{state.profile} {connection(state)}"
    return f"{words} · {state.model}" if state.model else words


def status(state: SessionState) -> str:
    """The connection for the status line; empty when there is nothing to say."""
    if state.connection == "ready":
        return ""
    return f"{connection(state).mark} {state.detail}"
