"""The state of the connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from carrel.store.core.problem import Problem

Connection = Literal["starting", "ready", "slow", "lost", "failed"]
READ_ONLY = Problem(
    "Read-only profile",
    "Changes are off.",
    "Allow changes in the command palette turns them on.",
)


@dataclass(frozen=True, slots=True)
class SessionState:
    """Which service is talked to and whether it answers.

    A service at an address of this machine is not `hosted`, whoever started it.
    `since` is when the connection came into this state (seconds since 1970); of one that is lost,
    when the service answered last, 0 if it never did. `error` is why it is "failed", `model` the
    words for the service's model, `context_length` its tokens, `ocr_models` those that read.
    `trash_days` are those in which a delete can be undone, None where it cannot.
    """

    profile: str
    hosted: bool
    read_only: bool
    colour: str | None = None
    connection: Connection = "starting"
    detail: str = ""
    url: str | None = None
    model: str | None = None
    models: tuple[str, ...] = ()
    ocr_models: tuple[str, ...] = ()
    context_length: int | None = None
    trash_days: int | None = None
    since: float = 0.0
    error: Problem | None = None
