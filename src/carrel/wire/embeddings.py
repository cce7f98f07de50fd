"""Embeddings: texts as vectors."""

from typing import Annotated, Literal

from pydantic import AliasChoices, Field

from carrel.wire.base import MAX_INT, Answer, JSONObject, Request, Text
from carrel.wire.completions import Usage


class EmbeddingRequest(Request):
    """Texts to turn into vectors. `user` and `metadata` change nothing."""

    model: Annotated[Text, Field(min_length=1)]
    input: Text | Annotated[list[Text], Field(min_length=1, max_length=2048)]
    encoding_format: Literal["float", "base64"] = "float"
    output_dimension: Annotated[int, Field(ge=1, le=MAX_INT)] | None = Field(
        default=None, validation_alias=AliasChoices("output_dimension", "dimensions")
    )
    output_dtype: Literal["float", "int8", "uint8", "binary", "ubinary"] = "float"
    user: Text | None = None
    metadata: JSONObject | None = None

    @property
    def texts(self) -> list[str]:
        """The texts, whether one came or several."""
        return [self.input] if isinstance(self.input, str) else self.input


class Embedding(Answer):
    """The vector of the text number `index`, from 0.

    With `encoding_format` base64 the numbers are 32-bit floats, lowest byte first.
    """

    object: str = "embedding"
    embedding: list[float] | str
    index: int


class EmbeddingList(Answer):
    """The vectors, in the order of the texts."""

    id: str
    object: str = "list"
    model: str
    data: list[Embedding]
    usage: Usage
