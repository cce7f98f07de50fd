"""The state of a comparison; its chats have their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.store.chat.compared import Comparison
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


HEADINGS = ("Answered by", "Won", "Lost", "Tied", "Share won")


@dataclass(frozen=True, slots=True)
class Votes:
    """The votes on one version (`support v3`)."""

    answerer: str
    won: int
    lost: int
    tied: int

    @property
    def cells(self) -> tuple[str, ...]:
        """The row's cells under HEADINGS."""
        judged = self.won + self.lost + self.tied
        figures = (str(one) for one in (self.won, self.lost, self.tied))
        return (self.answerer, *figures, f"{100 * self.won // judged} %")


def count_votes(comparisons: Iterable[Comparison]) -> tuple[Votes, ...]:
    """Return a row for each version with votes, most votes first."""
    won, lost, tied = Counter[str](), Counter[str](), Counter[str]()
    for comparison in comparisons:
        for judgement in comparison.judgements:
            if not judgement.voted:
                continue
            for number, name in enumerate(judgement.sides):
                if name:
                    winner = judgement.winner
                    (tied if winner is None else won if winner == number else lost)[name] += 1
    rows = (Votes(one, won[one], lost[one], tied[one]) for one in {*won, *lost, *tied})
    return tuple(sorted(rows, key=lambda row: (-row.won, row.lost, row.answerer)))
