"""Embedding requests."""

from typing import Any

import pytest
from pydantic import ValidationError

from carrel.wire.generation.embeddings import EmbeddingRequest


def test_one_text_or_several() -> None:
    assert EmbeddingRequest(model="m", input="a").texts == ["a"]
    assert EmbeddingRequest(model="m", input=["a", "b"]).texts == ["a", "b"]


def test_a_dimension_has_two_names() -> None:
    for name in ("output_dimension", "dimensions"):
        request = EmbeddingRequest.model_validate({"model": "m", "input": "a", name: 8})
        assert request.output_dimension == 8


@pytest.mark.parametrize(
    "wrong",
    [{"input": []}, {"input": ["a"] * 2049}, {"input": [[1, 2]]}, {"output_dimension": 0}],
)
def test_what_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EmbeddingRequest.model_validate({"model": "m", "input": "a", **wrong})
