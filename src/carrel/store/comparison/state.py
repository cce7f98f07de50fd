"""The state of a comparison; its chats have their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from carrel.wire.generation.agents import AgentCreate

MOST = 4
"""Largest number of sides."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side: an agent's version (None for the active one), or a draft."""

    agent_id: str
    version: int | None = None
    draft: AgentCreate | None = None


@dataclass(frozen=True, slots=True)
class ComparisonState:
    """The displayed order of the sides by number, 0 for the first chat.

    `hidden` is true while the sides' names are hidden.
    """

    order: tuple[int, ...] = (0,)
    hidden: bool = False
    error: Problem | None = None
