"""The state of the request log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrel.client import Call


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call; `at` is the end of the last of its `times` repetitions, in seconds since 1970."""

    id: int
    call: Call
    at: float
    times: int = 1


@dataclass(frozen=True, slots=True)
class RequestsState:
    """The calls, newest first. `hidden` counts the calls withheld until a blind vote."""

    items: tuple[LoggedCall, ...] = ()
    hidden: int = 0
