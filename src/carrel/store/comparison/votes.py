"""Votes per version, counted over all comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from carrel.store.chat.compared import Comparison

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
