"""Comparisons: the chats that got the same questions, and the votes on their answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import TypeAdapter


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

    def __post_init__(self) -> None:
        if sorted(self.order) != list(range(len(self.beside) + 1)):
            raise ValueError("the order does not name every side once")
        if any(one.winner not in (None, *range(len(one.sides))) for one in self.judgements):
            raise ValueError("a vote is for no side")

    @classmethod
    def of(cls, saved: object) -> Comparison:
        """Parse a saved comparison.

        Raises:
            ValueError: it is not a comparison.
        """
        return _adapter().validate_python(saved)

    def is_blind(self, asked: int) -> bool:
        """Return whether the names are hidden after `asked` questions."""
        if self.blind_after is None or asked <= self.blind_after:
            return False
        judgement = self.judgement(asked)
        return judgement is None or not judgement.voted

    def judgement(self, question: int) -> Judgement | None:
        """Return the vote on a question's answers, or None."""
        return next((one for one in self.judgements if one.question == question), None)


@cache
def _adapter() -> TypeAdapter[Comparison]:
    from pydantic import TypeAdapter

    return TypeAdapter(Comparison)
