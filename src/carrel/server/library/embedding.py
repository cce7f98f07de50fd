"""The vectors of a library's texts, by the server's own weights or by a model at an address."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from carrel.server.errors import ApiError
from carrel.server.library.vectors.stored import stored_vectors
from carrel.server.models.vectors.embedder import Embedder
from carrel.server.models.vectors.embeddings import embedding_span
from carrel.server.records.embeddings import StoredVector
from carrel.server.records.sql.tables import OWN_EMBEDDING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

log = logging.getLogger(__name__)

MAX_DIMENSIONS = 2048
"""Longest vector; a longer one does not fit into a row of PostgreSQL."""
_AT_ONCE = 32
"""Texts of one request."""
_SECONDS = 120
_QUERY_SECONDS = 10
"""Time-out of a search's query, after which it goes by words alone."""

AskAddress = Callable[[str, Sequence[str]], Awaitable[list[list[float]]]]
"""The vectors of texts by a model at an address."""


class LibraryEmbedder:
    """Embeds the chunks and the queries of libraries."""

    def __init__(self, own: Embedder, ask_address: AskAddress) -> None:
        self._own = own
        self._ask_address = ask_address

    async def chunks(self, model: str, texts: Sequence[str]) -> list[StoredVector | None]:
        """Return the vectors of chunks, or None where this platform has no vectors of its own.

        Raises:
            ApiError: 400, the model cannot embed them; 429, 503 or 504, not at present.
        """
        if model == OWN_EMBEDDING:
            with embedding_span(model, len(texts)):
                return await asyncio.to_thread(stored_vectors, self._own, texts)
        stored: list[StoredVector | None] = []
        for start in range(0, len(texts), _AT_ONCE):
            vectors = await self._ask(model, texts[start : start + _AT_ONCE], _SECONDS)
            # The model reads a chunk as a whole: its sentences need no vectors of their own.
            stored += [StoredVector(row.astype("e").tobytes(), None) for row in vectors]
        return stored

    async def queries(self, models: set[str], query: str) -> dict[str, "Vectors"]:
        """Return the vector of a query by each model at an address that can embed it now."""

        async def embed_query(model: str) -> "tuple[str, Vectors] | None":
            try:
                return model, (await self._ask(model, [query], _QUERY_SECONDS))[0]
            except ApiError as error:
                log.warning(
                    "%s embeds no query, words alone are searched: %s", model, error.message
                )
                return None

        found = await asyncio.gather(*(embed_query(model) for model in models - {OWN_EMBEDDING}))
        return dict(pair for pair in found if pair is not None)

    async def dimensions(self, model: str) -> int:
        """Return the length of a model's vectors.

        Raises:
            ApiError: as `chunks`.
        """
        [stored] = await self.chunks(model, ["dimensions"])
        if stored is None:
            raise ApiError(400, "This platform has no embedding model of its own.", param="model")
        return len(stored.vector) // 2

    async def _ask(self, model: str, texts: Sequence[str], seconds: float) -> "Vectors":
        import numpy as np

        try:
            async with asyncio.timeout(seconds):
                rows = await self._ask_address(model, texts)
        except TimeoutError as error:
            raise ApiError(
                504, f"{model[:80]} took longer than {seconds:g} seconds for {len(texts)} texts."
            ) from error
        if len({len(row) for row in rows}) != 1 or not 0 < len(rows[0]) <= MAX_DIMENSIONS:
            raise ApiError(
                400,
                f"The vectors of {model[:80]} have no common length from 1 to {MAX_DIMENSIONS}."
                " Choose another embedding model.",
                param="model",
            )
        vectors = np.asarray(rows, np.float32)
        if not np.isfinite(vectors).all():
            raise ApiError(400, f"The vectors of {model[:80]} are not numbers.", param="model")
        # The product of two vectors of length 1 is their similarity.
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, np.float32(1))
        return vectors
