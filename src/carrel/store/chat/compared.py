"""What a chat keeps of the others that got the same questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Judgement:
    """A person's judgement of the answers to one question.

    `question` counts from 1. `winner` is the number of the side whose answer was best, 0 for the
    first; None for a tie, or with a note alone. `sides` names them as they answered
    ("support v3"), "" for one that gave no answer.
    """

    question: int
    winner: int | None = None
    sides: tuple[str, ...] = ()
    voted: bool = False
    note: str = ""

    @property
    def label(self) -> str:
        """The winner's name; empty without one."""
        return "" if self.winner is None else self.sides[self.winner]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The chats beside one, by their session ids, and how they were judged.

    `order` has the sides in the order in which they are shown, 0 for the first. `since` is the
    number of questions asked before it began. With `blind_after`, the names of the sides are
    hidden from each question after that one until the vote on its answers.
    """

    beside: tuple[str, ...]
    order: tuple[int, ...]
    since: int = 0
    blind_after: int | None = None
    judgements: tuple[Judgement, ...] = ()

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> Comparison:
        """Return a comparison as it was saved.

        Raises:
            KeyError, TypeError, ValueError: it is not one.
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

    def hides(self, asked: int) -> bool:
        """Return whether the names are hidden after so many questions."""
        if self.blind_after is None or asked <= self.blind_after:
            return False
        judgement = self.judgement(asked)
        return judgement is None or not judgement.voted

    def judgement(self, question: int) -> Judgement | None:
        """Return the judgement of the answers to a question."""
        return next((one for one in self.judgements if one.question == question), None)
