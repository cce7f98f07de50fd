"""The state of the request log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrel.client import Call


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call; `at` is when the last of its `times` ended, in seconds since 1970."""

    id: int
    call: Call
    at: float
    times: int = 1


@dataclass(frozen=True, slots=True)
class RequestsState:
    """The newest first. `hidden` counts the calls that are not shown before a blind vote."""

    items: tuple[LoggedCall, ...] = ()
    hidden: int = 0
