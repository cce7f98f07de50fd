"""The state of a comparison, beside that of its chats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from carrel.wire.generation.agents import AgentCreate

MOST = 4
"""Sides of a comparison."""


@dataclass(frozen=True, slots=True)
class Side:
    """Who answers on one side: an agent's version (None: whichever is active), or a draft."""

    agent_id: str
    version: int | None = None
    draft: AgentCreate | None = None


@dataclass(frozen=True, slots=True)
class ComparisonState:
    """The sides as they are shown, by their numbers: 0 is the first chat.

    `hidden` as long as the names of the sides are.
    """

    order: tuple[int, ...] = (0,)
    hidden: bool = False
    error: Problem | None = None
