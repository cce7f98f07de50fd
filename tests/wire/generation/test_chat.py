"""Chat requests."""

from typing import Any

import pytest
from pydantic import ValidationError

from carrel.wire.generation.chat import ChatRequest

ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}


def test_a_seed_has_two_names() -> None:
    for name in ("seed", "random_seed"):
        assert ChatRequest.model_validate({**ASKED, name: 7}).random_seed == 7
    with pytest.raises(ValidationError):
        ChatRequest.model_validate({**ASKED, "seed": 7, "random_seed": 8})


def test_null_is_absent() -> None:
    nulls = dict.fromkeys(ChatRequest.model_fields.keys() - ASKED.keys())
    assert ChatRequest.model_validate({**ASKED, **nulls, "seed": None}) == (
        ChatRequest.model_validate(ASKED)
    )


@pytest.mark.parametrize(
    "wrong",
    [{"temperature": 2.1}, {"top_p": -0.1}, {"model": ""}, {"agent_id": "a"}, {"messages": []}],
)
def test_what_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ChatRequest.model_validate({**ASKED, **wrong})
