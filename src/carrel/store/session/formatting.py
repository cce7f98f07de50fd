"""Formatting of the connection."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from carrel.store.core.formatting import MINUTE, Badge, age, clock

if TYPE_CHECKING:
    from carrel.store.session.state import SessionState


def connection(state: SessionState) -> Badge:
    """Return `● ready`, `◐ starting`, `○ lost` or `✕ failed`; `▲ hosted` for a hosted service."""
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
    """Return the profile and connection in one line: `local ● ready · smollm2 (test model)`."""
    words = f"{state.profile} {connection(state)}"
    return f"{words} · {state.model}" if state.model else words


def waiting_words(state: SessionState) -> str:
    """Return the state of an awaited connection, with the remedy of a failed one, or an empty
    string once connected."""
    if state.connection == "ready":
        return ""
    advice = state.error.advice if state.error is not None else None
    return f"{connection(state).mark} {state.detail}" + (f". {advice}" if advice else "")


def status(state: SessionState, now: float, as_of: float | None = None) -> str:
    """Return the connection for the status line, or an empty string.

    `as_of` is the time of a shown cached copy; data loaded before the service was lost has the age
    of its last answer.
    """
    if as_of is None and state.connection == "lost" and state.since:
        as_of = state.since
    if as_of is None or state.connection not in ("lost", "failed"):
        return waiting_words(state)
    words = f"{connection(state).mark} Offline: showing a copy from {clock(as_of, now)}"
    return words if now - as_of < MINUTE else f"{words}, {age(now - as_of)}"


def service_words(state: SessionState) -> str:
    """Return a caution before an action at a remote service.

    Empty for a service on this machine.
    """
    if not state.hosted:
        return ""
    host = urlsplit(state.url or "").netloc
    where = f"{state.profile} ({host})" if host else state.profile
    return f"Sent to {where}, a hosted service that bills for requests."
