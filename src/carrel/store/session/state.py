"""The state of the connection."""

from dataclasses import dataclass
from typing import Literal

from carrel.store.core.problem import Problem

Connection = Literal["starting", "ready", "slow", "lost", "failed"]
READ_ONLY = Problem(
    "Read-only profile", "Changes are off.", "Allow changes in the command palette turns them on."
)


@dataclass(frozen=True, slots=True)
class SessionState:
    """The profile's service and its connection.

    A service at an address of this machine is not `hosted`, whoever started it. `since` is the time
    of the last change of state (seconds since 1970); for a lost service the time of its last
    answer, or 0. `error` is the reason for "failed", `model` the display name of the service's
    model, `context_length` its limit in tokens, `ocr_models` the models for OCR. `trash_days` is
    the time in which a deletion can be undone, or None if it cannot.
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
