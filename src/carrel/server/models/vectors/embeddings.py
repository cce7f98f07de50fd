"""Vectors of texts, for callers: from the model's address, or from the server's own weights."""

import asyncio
import base64
import uuid
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from carrel.server.errors import ApiError
from carrel.server.models.address import unreachable
from carrel.server.models.engine import Engine, invalid_model
from carrel.server.models.names import EMBEDDING_NAMES, is_embedding_name
from carrel.server.models.vectors.embedder import DIMENSIONS, Embedder
from carrel.server.spans import Span, span
from carrel.wire.generation.completions import Usage
from carrel.wire.generation.embeddings import Embedding, EmbeddingList, EmbeddingRequest, OutputType
from carrel.wire.models import ModelCard

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OWN_MODEL = ModelCard(
    id="carrel-embed",
    owned_by="carrel",
    name="WordLlama",
    description=f"embeddings of {DIMENSIONS} numbers",
)
# All token vectors of a text are in memory at once, a kilobyte each.
_MAX_CHARACTERS = 100_000
_MAX_OF_ALL = 5_000_000
"""Characters of a request: seconds of the processor, which others wait for."""


class Embeddings:
    """Embeds texts."""

    def __init__(self, engine: Engine, embedder: Embedder, *, strict: bool = False) -> None:
        """`strict` says that the models answer to their own names only."""
        self._engine = engine
        self._embedder = embedder
        self._strict = strict

    @property
    def models(self) -> list[ModelCard]:
        """The server's own models; none on a platform without weights."""
        if not self._embedder.available:
            return []
        aliases = [] if self._strict else list(EMBEDDING_NAMES)
        return [_OWN_MODEL.model_copy(update={"aliases": aliases})]

    async def create(self, request: EmbeddingRequest, *, seconds: float) -> EmbeddingList:
        """Return the vectors, or time out after `seconds`.

        A model listed by the address is used there, whatever its name.

        Raises:
            ApiError: 400 for an impossible request, 503 if the address failed, 504 if it is late.
        """
        try:
            async with asyncio.timeout(seconds):
                at_address = await self._engine.is_at_address(request.model)
                ask = ask_address(self._engine, request) if at_address else self._ask_own(request)
                vectors, tokens = await ask
        except TimeoutError as error:
            raise ApiError(
                504, f"The vectors took longer than {seconds:g} seconds. Send fewer texts at once."
            ) from error
        return EmbeddingList(
            id=uuid.uuid4().hex,
            model=request.model,
            data=[
                Embedding(embedding=_as_sent(row, request), index=at)
                for at, row in enumerate(vectors)
            ],
            usage=Usage(prompt_tokens=tokens, total_tokens=tokens),
        )

    async def _ask_own(self, request: EmbeddingRequest) -> tuple[list[list[float]], int]:
        """Return the vectors by the server's own weights, and the number of tokens."""
        vendors = not self._strict and is_embedding_name(request.model)
        if not any(vendors or card.answers_to(request.model) for card in self.models):
            raise invalid_model(request.model, self.models)
        for number, text in enumerate(request.texts):
            if len(text) > _MAX_CHARACTERS:
                raise ApiError(
                    400,
                    f"Text {number} has {len(text)} characters; an embedding is made of at most"
                    f" {_MAX_CHARACTERS}. Split it.",
                    param="input",
                )
        if sum(map(len, request.texts)) > _MAX_OF_ALL:
            raise ApiError(
                400,
                f"The texts have more than {_MAX_OF_ALL:,} characters. Send fewer at once.",
                param="input",
            )
        dimension = request.output_dimension or DIMENSIONS
        if dimension > DIMENSIONS:
            raise _unsupported_error("output_dimension", f"The most is {DIMENSIONS}.")
        with embedding_span(_OWN_MODEL.id, len(request.texts)) as observed:
            vectors, tokens = await asyncio.to_thread(self._embed, request.texts, dimension)
            observed.set(dimensions=dimension, prompt_tokens=tokens)
        return vectors, tokens

    def _embed(self, texts: list[str], dimension: int) -> tuple[list[list[float]], int]:
        vectors = self._embedder.embed(texts, dimension)
        assert vectors is not None
        return vectors.tolist(), self._embedder.count_tokens(texts)


async def ask_address(engine: Engine, request: EmbeddingRequest) -> tuple[list[list[float]], int]:
    """Return the vectors of a model at an address, and the number of tokens.

    Raises:
        ApiError: 400, it has none; 503, it does not answer.
    """
    body: dict[str, Any] = {
        "model": request.model,
        "input": request.texts,
        "encoding_format": "float",
    }
    if request.output_dimension is not None:
        body["dimensions"] = request.output_dimension
    with embedding_span(request.model, len(request.texts)) as observed:
        async with engine.session(model=request.model) as session:
            answer = await session.client.embeddings(body)
        vectors, tokens = _read_answer(answer, request)
        observed.set(dimensions=len(vectors[0]) if vectors else 0, prompt_tokens=tokens)
    return vectors, tokens


def _read_answer(
    answer: dict[str, Any], request: EmbeddingRequest
) -> tuple[list[list[float]], int]:
    """Return the vectors in the answer of an address, and the number of tokens."""
    known = {"data": answer.get("data"), "usage": answer.get("usage") or {}}
    try:
        parsed = EmbeddingList.model_validate({"id": "", "model": "", **known})
    except ValidationError as error:
        raise unreachable() from error
    ordered = sorted(parsed.data, key=lambda item: item.index)
    vectors = [
        [float(number) for number in item.embedding]
        for item in ordered
        if not isinstance(item.embedding, str)
    ]
    if len(vectors) != len(request.texts):
        raise unreachable()
    if any(len(row) != (request.output_dimension or len(row)) for row in vectors):
        raise _unsupported_error("output_dimension", "This model has another; leave it out.")
    return vectors, parsed.usage.prompt_tokens


def embedding_span(model: str, texts: int) -> AbstractContextManager[Span]:
    """Return a span around the embedding of texts by a model."""
    return span("embedding", operation="embeddings", model=model, texts=texts)


async def vectors_at_address(engine: Engine, model: str, texts: Sequence[str]) -> list[list[float]]:
    """Return the vectors of a model at an address, never of the server's own weights.

    Raises:
        ApiError: as `ask_address`.
    """
    if not await engine.is_at_address(model):
        raise ApiError(
            400,
            f"No model address lists {model[:80]}, which is to embed. Add one that does, or choose"
            " another embedding model.",
            "invalid_model",
            "1500",
            param="model",
        )
    request = EmbeddingRequest(model=model, input=list(texts))
    return (await ask_address(engine, request))[0]


def _as_sent(vector: Sequence[float], request: EmbeddingRequest) -> list[float] | list[int] | str:
    numbers = _round(vector, request.output_dtype)
    if request.encoding_format == "base64":
        return base64.b64encode(numbers.tobytes()).decode()
    plain: list[float] | list[int] = numbers.tolist()
    return plain


def _round(vector: Sequence[float], kind: OutputType) -> "NDArray[Any]":
    """Return a vector's numbers in this type. Integers are scaled so that the largest is 127."""
    import numpy as np

    exact = np.asarray(vector, "<f4")
    match kind:
        case "float":
            return exact
        case "binary" | "ubinary":
            bits = np.packbits(exact > 0)
            return bits if kind == "ubinary" else (bits.astype(np.int16) - 128).astype(np.int8)
        case "int8" | "uint8":
            whole = np.round(exact * (127 / (np.abs(exact).max() or 1)))
            return whole.astype(np.int8) if kind == "int8" else (whole + 128).astype(np.uint8)


def _unsupported_error(name: str, advice: str) -> ApiError:
    return ApiError(400, f"This server does not support that {name}. {advice}", param=name)
