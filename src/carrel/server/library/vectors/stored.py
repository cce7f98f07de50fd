"""The vectors of libraries: of chunks in memory or by pgvector, of sentences in the database.

A chunk's vector is the mean of its sentences' vectors and finds chunks on the topic. Its sentences'
vectors, ten times the space, then find the chunk that answers.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import sqlalchemy as sa

from carrel.server.library.chunking import sentences
from carrel.server.library.vectors.memory import MemoryVectors
from carrel.server.library.vectors.nearest import Finish, Nearest
from carrel.server.library.vectors.pgvector import PgVectors
from carrel.server.models.vectors.embedder import Embedder
from carrel.server.records.embeddings import StoredVector
from carrel.server.records.sql import pgvector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

MIN_SIMILARITY = 0.2
"""Cosine similarity below which two texts are unrelated."""

_CANDIDATES = 100
"""Minimum number of chunks that are compared sentence by sentence."""
SENTENCE_DIMENSIONS = 192
"""Dimensions of sentence vectors."""
_SENTENCE_SCALE = 127
"""Vectors of sentences are stored as signed bytes."""
# The driver's own statements: the ids are many, and one parameter is read fastest.
_SENTENCES = {
    "sqlite": """
        SELECT chunk_id, sentences FROM vectors
        WHERE chunk_id IN (SELECT value FROM json_each(?)) AND series = ?
        AND length(sentences) > 0
    """,
    "postgresql": """
        SELECT chunk_id, sentences FROM vectors
        WHERE chunk_id IN (SELECT value::bigint FROM json_array_elements_text(%s) AS value)
        AND series = %s AND length(sentences) > 0
    """,
}


def stored_vectors(embedder: Embedder, texts: Sequence[str]) -> list[StoredVector | None]:
    """Return the vectors of chunks with these texts, None for each on a platform without any."""
    parts = [sentences(text) for text in texts]
    ends = accumulate(map(len, parts), initial=0)
    whole = embedder.embed(texts)
    single = embedder.embed([sentence for part in parts for sentence in part], SENTENCE_DIMENSIONS)
    if whole is None or single is None:
        return [None] * len(texts)
    return [
        StoredVector(vector.astype("e").tobytes(), stored_sentences(single[start:end]))
        for vector, (start, end) in zip(whole, pairwise(ends), strict=True)
    ]


def stored_sentences(vectors: "Vectors") -> bytes:
    """Return the vectors of a chunk's sentences as they are stored."""
    return bytes((vectors * _SENTENCE_SCALE).round().astype("b").tobytes())


def _nearest_sentences(
    connection: sa.Connection, asked: Nearest, ids: Collection[int]
) -> dict[int, float]:
    """Return the similarity of each chunk's nearest sentence; blocking."""
    import numpy as np

    query = _SENTENCES[connection.dialect.name]
    values = json.dumps(list(ids)), asked.library.series
    rows = connection.exec_driver_sql(query, values).all()
    if not rows:
        return {}
    chunks, parts = zip(*rows, strict=True)
    stored = np.frombuffer(b"".join(parts), np.int8)
    stored = stored.reshape(-1, SENTENCE_DIMENSIONS)
    part = asked.vector[:SENTENCE_DIMENSIONS]
    length = float(np.linalg.norm(part)) or 1.0
    similar = stored.astype(np.float32) @ part / np.float32(length * _SENTENCE_SCALE)
    ends = np.cumsum([len(part) // SENTENCE_DIMENSIONS for part in parts])
    best = np.maximum.reduceat(similar, np.concatenate([[0], ends[:-1]]))
    return dict(zip(chunks, best.tolist(), strict=True))


class VectorIndex:
    """Finds the chunks nearest to a vector."""

    def __init__(self) -> None:
        self._kind: MemoryVectors | PgVectors | None = None

    def begin(self, connection: sa.Connection, asked: Nearest) -> Finish:
        """Begin to compare chunks with a vector; blocks until the rest can be done in a thread.

        A chunk is as similar as its nearest sentence.
        """
        widened = replace(asked, limit=max(asked.limit, _CANDIDATES))
        compare = self._choose(connection).begin(connection, widened)

        def finish(also: Collection[int]) -> dict[int, float]:
            near = compare(also)
            near |= _nearest_sentences(connection, asked, near.keys())
            best = sorted(near, key=lambda id: (-near[id], id))
            return {id: near[id] for id in best if near[id] >= MIN_SIMILARITY}

        return finish

    def warm(self, connection: sa.Connection) -> bool:
        """Prepare the first search and return whether there is anything to find. Blocking."""
        return self._choose(connection).warm(connection)

    def _choose(self, connection: sa.Connection) -> MemoryVectors | PgVectors:
        if self._kind is None:
            self._kind = PgVectors() if pgvector.is_present(connection) else MemoryVectors()
        return self._kind
