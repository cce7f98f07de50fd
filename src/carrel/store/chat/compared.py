"""Comparisons: the chats that got the same questions, and the votes on their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Judgement:
    """A user's vote on the answers to one question.

    `question` counts from 1. `winner` is the side with the best answer, from 0, or None for a tie
    or a mere note. `sides` holds each side's name at that time ("support v3"), or "" if it gave no
    answer.
    """

    question: int
    winner: int | None = None
    sides: tuple[str, ...] = ()
    voted: bool = False
    note: str = ""

    @property
    def label(self) -> str:
        """The winner's name, or an empty string."""
        return "" if self.winner is None else self.sides[self.winner]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The session ids of the compared chats, and the votes.

    `order` is the displayed order of the sides, 0 for the first. `since` is the number of questions
    before the comparison began. After `blind_after` questions, the names of the sides stay hidden
    until the vote.
    """

    beside: tuple[str, ...]
    order: tuple[int, ...]
    since: int = 0
    blind_after: int | None = None
    judgements: tuple[Judgement, ...] = ()

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> Comparison:
        """Parse a saved comparison.

        Raises:
            KeyError, TypeError, ValueError: it is not a comparison.
        """
        beside = tuple(map(str, saved["beside"]))
        order = tuple(saved["order"])
        if sorted(order) != list(range(len(beside) + 1)):
            raise ValueError("the order does not name every side once")
        judgements = tuple(
            Judgement(**{**one, "sides": tuple(map(str, one["sides"]))})
            for one in saved["judgements"]
        )
        if any(one.winner not in (None, *range(len(one.sides))) for one in judgements):
            raise ValueError("a vote is for no side")
        blind_after = saved["blind_after"]
        return cls(
            beside,
            order,
            int(saved["since"]),
            None if blind_after is None else int(blind_after),
            judgements,
        )

    def is_blind(self, asked: int) -> bool:
        """Return whether the names are hidden after `asked` questions."""
        if self.blind_after is None or asked <= self.blind_after:
            return False
        judgement = self.judgement(asked)
        return judgement is None or not judgement.voted

    def judgement(self, question: int) -> Judgement | None:
        """Return the vote on a question's answers, or None."""
        return next((one for one in self.judgements if one.question == question), None)
