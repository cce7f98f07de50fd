"""Vectors of texts, for callers: from the model's address, or from the server's own weights."""

import asyncio
import base64
import struct
import uuid
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from carrel.server.errors import ApiError
from carrel.server.library.embeddings import DIMENSIONS, Embedder
from carrel.server.models.address import unreachable
from carrel.server.models.engine import Engine, invalid_model
from carrel.wire.completions import Usage
from carrel.wire.embeddings import Embedding, EmbeddingList, EmbeddingRequest
from carrel.wire.models import ModelCard

_OWN_MODEL = ModelCard(
    id="carrel-embed",
    owned_by="carrel",
    name="WordLlama",
    description=f"embeddings of {DIMENSIONS} numbers",
    aliases=["mistral-embed"],
)
# A text's tokens all have their vectors in memory at once, a kilobyte each.
_MAX_CHARACTERS = 100_000


class Embeddings:
    """Turns texts into vectors."""

    def __init__(self, engine: Engine, embedder: Embedder) -> None:
        self._engine = engine
        self._embedder = embedder

    @property
    def models(self) -> list[ModelCard]:
        """The models of the server's own; none where the platform has no weights."""
        return [_OWN_MODEL] if self._embedder.available else []

    async def create(self, request: EmbeddingRequest, *, seconds: float) -> EmbeddingList:
        """The vectors, within so many seconds.

        A model that the address lists embeds there, whatever its name.

        Raises:
            ApiError: 400 for what cannot be done, 503 if the address failed, 504 if it is late.
        """
        if request.output_dtype != "float":
            raise _not_supported("output_dtype", "Leave it out, and round the numbers yourself.")
        try:
            async with asyncio.timeout(seconds):
                at_address = await self._engine.at_address(request.model)
                vectors, tokens = await (self._ask(request) if at_address else self._own(request))
        except TimeoutError:
            raise ApiError(
                504, f"The vectors took longer than {seconds:g} seconds. Send fewer texts at once."
            ) from None
        as_sent = _base64 if request.encoding_format == "base64" else list
        return EmbeddingList(
            id=uuid.uuid4().hex,
            model=request.model,
            data=[Embedding(embedding=as_sent(row), index=at) for at, row in enumerate(vectors)],
            usage=Usage(prompt_tokens=tokens, total_tokens=tokens),
        )

    async def _ask(self, request: EmbeddingRequest) -> tuple[list[list[float]], int]:
        """Vectors and tokens by the model's address."""
        body: dict[str, Any] = {
            "model": request.model,
            "input": request.texts,
            "encoding_format": "float",
        }
        if request.output_dimension is not None:
            body["dimensions"] = request.output_dimension
        async with self._engine.session() as session:
            answer = await session.client.embeddings(body)
        known = {"data": answer.get("data"), "usage": answer.get("usage") or {}}
        try:
            parsed = EmbeddingList.model_validate({"id": "", "model": "", **known})
        except ValidationError:
            raise unreachable() from None
        ordered = sorted(parsed.data, key=lambda item: item.index)
        vectors = [item.embedding for item in ordered if not isinstance(item.embedding, str)]
        if len(vectors) != len(request.texts):
            raise unreachable()
        if any(len(row) != (request.output_dimension or len(row)) for row in vectors):
            raise _not_supported("output_dimension", "This model has another; leave it out.")
        return vectors, parsed.usage.prompt_tokens

    async def _own(self, request: EmbeddingRequest) -> tuple[list[list[float]], int]:
        """Vectors and tokens by the server's own weights."""
        if not any(request.model in (card.id, *(card.aliases or ())) for card in self.models):
            raise invalid_model(request.model, self.models)
        for number, text in enumerate(request.texts):
            if len(text) > _MAX_CHARACTERS:
                raise ApiError(
                    400,
                    f"Text {number} has {len(text)} characters; an embedding is made of at most"
                    f" {_MAX_CHARACTERS}. Split it.",
                    param="input",
                )
        dimension = request.output_dimension or DIMENSIONS
        if dimension > DIMENSIONS:
            raise _not_supported("output_dimension", f"The most is {DIMENSIONS}.")
        return await asyncio.to_thread(self._embed, request.texts, dimension)

    def _embed(self, texts: list[str], dimension: int) -> tuple[list[list[float]], int]:
        vectors = self._embedder.embed(texts, dimension)
        assert vectors is not None
        return vectors.tolist(), self._embedder.count_tokens(texts)


def _base64(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _not_supported(name: str, advice: str) -> ApiError:
    return ApiError(400, f"This server does not support that {name}. {advice}", param=name)
