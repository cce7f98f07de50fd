"""Test cases from the turns of a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carrel.store.core.problem import Problem, ProblemError
from carrel.store.evals.cases import Case

if TYPE_CHECKING:
    from carrel.store.chat.state import ChatState

LIKE = 0.8
"""Similarity from which two answers count as equal."""
_HIDDEN = Problem("The names are hidden", "", "Vote first: an answer can be taken then.")
_NO_ANSWER = Problem("No answer to take", "Choose an answer to a question of yours.")


def case_of(chat: ChatState, index: int, *, good: bool) -> Case:
    """Return the test case of the answer at `index`: a good answer should be repeated, a bad one
    not.

    Raises:
        ProblemError: there is no answer there, or a blind comparison hides it.
    """
    if chat.alias:
        raise ProblemError(_HIDDEN)
    turns = chat.turns
    spoken = [one for one in turns[: index + 1] if one.role != "tool" and one.text.strip()]
    if len(spoken) < 2 or spoken[-1] is not turns[index] or spoken[-1].role != "assistant":
        raise ProblemError(_NO_ANSWER)
    *before, question, answer = spoken
    if question.role != "user":
        raise ProblemError(_NO_ANSWER)
    bound = {"at_least": LIKE} if good else {"at_most": LIKE}
    fields: dict[str, Any] = {
        "question": question.text,
        "before": [{"role": one.role, "content": one.text} for one in before],
        "checks": [{"similar": {"to": answer.text, **bound}}],
        "note": f"A {'good' if good else 'bad'} answer of a chat.",
    }
    return Case.model_validate({name: value for name, value in fields.items() if value})
