"""Embeddings: texts as vectors."""

from typing import Annotated, Literal

from pydantic import AliasChoices, Field

from carrel.wire.base import MAX_INT, JSONObject, Request, ResponseModel, Text
from carrel.wire.generation.completions import Usage

OutputType = Literal["float", "int8", "uint8", "binary", "ubinary"]
"""The type of a vector's numbers; binary ones are bits, eight in a number."""


class EmbeddingRequest(Request):
    """Texts to turn into vectors. `user` and `metadata` change nothing."""

    model: Annotated[Text, Field(min_length=1)]
    input: Text | Annotated[list[Text], Field(min_length=1, max_length=2048)]
    encoding_format: Literal["float", "base64"] = "float"
    output_dimension: Annotated[int, Field(ge=1, le=MAX_INT)] | None = Field(
        default=None, validation_alias=AliasChoices("output_dimension", "dimensions")
    )
    output_dtype: OutputType = "float"
    user: Text | None = None
    metadata: JSONObject | None = None

    @property
    def texts(self) -> list[str]:
        """The texts as a list."""
        return [self.input] if isinstance(self.input, str) else self.input


class Embedding(ResponseModel):
    """The vector of the text number `index`, from 0.

    With `encoding_format` base64 the numbers are bytes, or 32-bit floats, lowest byte first. Whole
    numbers are scaled so that the largest of a vector is 127.
    """

    object: str = "embedding"
    embedding: list[float] | list[int] | str
    index: int


class EmbeddingList(ResponseModel):
    """The vectors, in the order of the texts."""

    id: str
    object: str = "list"
    model: str
    data: list[Embedding]
    usage: Usage
