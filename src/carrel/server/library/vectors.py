"""The vectors of libraries: of chunks in memory or by pgvector, of sentences in the database.

A chunk's vector is the mean of its sentences and finds chunks on the topic.
The chunk that answers is found by its sentences, which take ten times the space.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import sqlalchemy as sa

from carrel.server.library.chunking import sentences
from carrel.server.library.pgvector import PgVectors
from carrel.server.models.embedder import Embedder
from carrel.server.records import pgvector
from carrel.server.records.tables import (
    OWN_DIMENSIONS,
    OWN_EMBEDDING,
    chunks,
    documents,
    libraries,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Stored = NDArray[np.float16]
    Ids = NDArray[np.int64]

MIN_SIMILARITY = 0.2
"""Cosine similarity below which two texts are unrelated."""
MAX_CHUNKS = 1_000_000
"""Maximum number of chunks in memory, about 800 MB; libraries are evicted LRU."""

_CANDIDATES = 100
"""Minimum number of chunks that are compared sentence by sentence."""
SENTENCE_DIMENSIONS = 192
"""Dimensions of sentence vectors."""
_SENTENCE_SCALE = 127
# The driver's own statements: the ids are many, and one parameter is read fastest.
_SENTENCES = {
    "sqlite": """
        SELECT id, sentences FROM chunks
        WHERE id IN (SELECT value FROM json_each(?)) AND length(sentences) > 0
    """,
    "postgresql": """
        SELECT id, sentences FROM chunks
        WHERE id IN (SELECT value::bigint FROM json_array_elements_text(%s) AS value)
        AND length(sentences) > 0
    """,
}

_OF_LIBRARY = (
    libraries.c.revision,
    libraries.c.embedding_version,
    libraries.c.embedding_model,
    libraries.c.embedding_dimensions,
)

_COARSE = 64
"""Leading dimensions, used to preselect chunks for the full comparison."""
_COMPARED = 8
"""Oversampling factor of the preselection."""
_AT_ONCE = 500
"""Documents per query."""


class StoredVectors(NamedTuple):
    """The vectors of a chunk and of its sentences as they are stored; None where there are none."""

    chunk: bytes | None
    sentences: bytes | None


def stored_vectors(embedder: Embedder, texts: Sequence[str]) -> list[StoredVectors]:
    """The vectors of chunks with these texts."""
    parts = [sentences(text) for text in texts]
    ends = accumulate(map(len, parts), initial=0)
    whole = embedder.embed(texts)
    single = embedder.embed([sentence for part in parts for sentence in part], SENTENCE_DIMENSIONS)
    if whole is None or single is None:
        return [StoredVectors(None, None)] * len(texts)
    return [
        StoredVectors(vector.astype("e").tobytes(), stored_sentences(single[start:end]))
        for vector, (start, end) in zip(whole, pairwise(ends), strict=True)
    ]


def stored_sentences(vectors: "Vectors") -> bytes:
    """The vectors of a chunk's sentences as they are stored."""
    return bytes((vectors * _SENTENCE_SCALE).round().astype("b").tobytes())


def _nearest_sentences(
    connection: sa.Connection, ids: Collection[int], vector: "Vectors"
) -> dict[int, float]:
    """How similar the nearest sentence of each of some chunks is; blocking."""
    import numpy as np

    query = _SENTENCES[connection.dialect.name]
    rows = connection.exec_driver_sql(query, (json.dumps(list(ids)),)).all()
    if not rows:
        return {}
    stored = np.frombuffer(b"".join(row.sentences for row in rows), np.int8)
    stored = stored.reshape(-1, SENTENCE_DIMENSIONS)
    part = vector[:SENTENCE_DIMENSIONS]
    length = float(np.linalg.norm(part)) or 1.0
    similar = stored.astype(np.float32) @ part / np.float32(length * _SENTENCE_SCALE)
    ends = np.cumsum([len(row.sentences) // SENTENCE_DIMENSIONS for row in rows])
    best = np.maximum.reduceat(similar, np.concatenate([[0], ends[:-1]]))
    return {row.id: float(value) for row, value in zip(rows, best, strict=True)}


class _Matrix:
    """The chunks of one library in the order of their ids: id, document's number and vector."""

    def __init__(self, version: int, dimensions: int, coarse: int) -> None:
        import numpy as np

        self.version = version
        """The version of the library's vectors."""
        self._coarse_dimensions = coarse
        self._chunk_bytes = 2 * dimensions + 4 * coarse
        self.revision = -1
        self.documents: dict[tuple[str, int], int] = {}
        """The documents in it, with the generation of their text, and their numbers."""
        self._next = 0
        self.ids: Ids = np.empty(0, np.int64)
        self._owners: Ids = np.empty(0, np.int64)
        self._vectors: Stored | None = None
        self._coarse: Vectors | None = None

    @property
    def size(self) -> int:
        """Its size in chunks of the server's own model."""
        return len(self.ids) * self._chunk_bytes // (2 * OWN_DIMENSIONS + 4 * _COARSE)

    def nearest(
        self, vector: "Vectors", limit: int, document_ids: Collection[str] | None
    ) -> dict[int, float]:
        """The most similar chunks and their similarity, best first."""
        import numpy as np

        if self._vectors is None or self._coarse is None:
            return {}
        rough = self._coarse @ vector[: self._coarse_dimensions]
        if document_ids is not None:
            owners = [number for (id, _), number in self.documents.items() if id in document_ids]
            rough = np.where(np.isin(self._owners, owners), rough, np.float32(-2))
        compared = min(len(rough), limit * _COMPARED)
        rows = np.argpartition(rough, len(rough) - compared)[-compared:]
        rows = rows[rough[rows] > -2]
        exact = self._vectors[rows].astype(np.float32) @ vector
        best = np.argsort(-exact, kind="stable")[:limit]
        return {int(self.ids[rows[at]]): float(exact[at]) for at in best}

    def similarity(self, ids: Sequence[int], vector: "Vectors") -> dict[int, float]:
        """The similarity of some chunks; those without vectors are left out."""
        import numpy as np

        if self._vectors is None or not len(self.ids):
            return {}
        rows = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        exact = self._vectors[rows].astype(np.float32) @ vector
        return {
            id: float(similarity)
            for id, row, similarity in zip(ids, rows, exact, strict=True)
            if self.ids[row] == id
        }

    def remove(self, gone: Iterable[tuple[str, int]]) -> None:
        """Removes documents."""
        import numpy as np

        numbers = [self.documents.pop(key) for key in gone]
        if numbers and self._vectors is not None and self._coarse is not None:
            kept = ~np.isin(self._owners, numbers)
            self.ids, self._owners = self.ids[kept], self._owners[kept]
            self._vectors, self._coarse = self._vectors[kept], self._coarse[kept]

    def add(self, new: Sequence[tuple[str, int]], rows: Sequence[sa.Row[Any]]) -> None:
        """Adds documents with their chunks' rows of document_id, id and vector."""
        import numpy as np

        for key in new:
            self.documents[key] = self._next
            self._next += 1
        if not rows:
            return
        numbers = {id: self.documents[id, generation] for id, generation in new}
        owners = np.array([numbers[row.document_id] for row in rows], np.int64)
        ids = np.array([row.id for row in rows], np.int64)
        vectors = np.frombuffer(b"".join(row.vector for row in rows), np.float16)
        vectors = vectors.reshape(len(rows), -1)
        coarse = vectors[:, : self._coarse_dimensions].astype(np.float32)
        if self._vectors is not None and self._coarse is not None:
            ids = np.concatenate([self.ids, ids])
            owners = np.concatenate([self._owners, owners])
            vectors = np.concatenate([self._vectors, vectors])
            coarse = np.concatenate([self._coarse, coarse])
        order = np.argsort(ids, kind="stable")
        self.ids, self._owners = ids[order], owners[order]
        self._vectors, self._coarse = vectors[order], coarse[order]


def _new_matrix(row: Any) -> _Matrix:
    if row is None:
        return _Matrix(0, OWN_DIMENSIONS, _COARSE)
    # The leading dimensions of other models tell too little.
    own = row.embedding_model == OWN_EMBEDDING
    dimensions = row.embedding_dimensions
    return _Matrix(row.embedding_version, dimensions, _COARSE if own else dimensions)


class ChunkVectors(Protocol):
    """Compares the vectors of chunks."""

    def nearest(
        self,
        connection: sa.Connection,
        library_id: str,
        vector: "Vectors",
        limit: int,
        document_ids: Collection[str] | None = None,
        also: Sequence[int] = (),
    ) -> dict[int, float]:
        """The nearest chunks of a library and those in `also`, with their similarity; blocking.

        `document_ids` restricts the first to some documents.
        """

    def warm(self, connection: sa.Connection) -> bool:
        """Prepares the first comparison; whether there are any vectors. Blocking."""


class VectorIndex:
    """Finds the chunks nearest to a vector."""

    def __init__(self) -> None:
        self._kind: ChunkVectors | None = None

    def nearest(
        self,
        connection: sa.Connection,
        library_id: str,
        vector: "Vectors",
        limit: int,
        document_ids: Collection[str] | None = None,
        also: Sequence[int] = (),
    ) -> dict[int, float]:
        """The nearest chunks of a library and their similarity, best first; blocking.

        A chunk is as similar as its nearest sentence. `document_ids` restricts the search to some
        documents. The chunks in `also` get their similarity too, wherever they rank.
        """
        near = self._chunks(connection).nearest(
            connection, library_id, vector, max(limit, _CANDIDATES), document_ids, also
        )
        near |= _nearest_sentences(connection, near.keys(), vector)
        best = sorted(near, key=lambda id: (-near[id], id))
        return {id: near[id] for id in best if near[id] >= MIN_SIMILARITY}

    def warm(self, connection: sa.Connection) -> bool:
        """Prepares the first search; returns whether there is anything to find. Blocking."""
        return self._chunks(connection).warm(connection)

    def _chunks(self, connection: sa.Connection) -> ChunkVectors:
        if self._kind is None:
            self._kind = PgVectors() if pgvector.present(connection) else MemoryVectors()
        return self._kind


class MemoryVectors:
    """The vectors of chunks in memory.

    A library's vectors are read from the database when they are first needed; after a change
    only the changed documents are read again.
    """

    def __init__(self) -> None:
        self._matrices: OrderedDict[str, _Matrix] = OrderedDict()
        self._lock = threading.Lock()

    def nearest(
        self,
        connection: sa.Connection,
        library_id: str,
        vector: "Vectors",
        limit: int,
        document_ids: Collection[str] | None = None,
        also: Sequence[int] = (),
    ) -> dict[int, float]:
        """The nearest chunks of a library and those in `also`; blocking."""
        with self._lock:
            matrix = self._fresh(connection, library_id)
            near = matrix.nearest(vector, limit, document_ids)
            further = [id for id in also if id not in near]
            return near | (matrix.similarity(further, vector) if further else {})

    def warm(self, connection: sa.Connection) -> bool:
        """Preloads vectors of the most recently changed libraries while there is room; blocking.

        Returns whether any were loaded.
        """
        newest = (
            sa.select(documents.c.library_id)
            .where(documents.c.indexed_generation.is_not(None))
            .group_by(documents.c.library_id)
            .order_by(sa.func.max(documents.c.last_processed_at).desc())
        )
        for library_id in connection.scalars(newest).all():
            with self._lock:
                self._fresh(connection, library_id)
            if self._held >= MAX_CHUNKS:
                break
        return self._held > 0

    @property
    def _held(self) -> int:
        return sum(matrix.size for matrix in self._matrices.values())

    def _fresh(self, connection: sa.Connection, library_id: str) -> _Matrix:
        wanted = sa.select(*_OF_LIBRARY).where(libraries.c.id == library_id)
        row = connection.execute(wanted).one_or_none()
        matrix = self._matrices.get(library_id)
        if matrix is None or (row is not None and matrix.version != row.embedding_version):
            matrix = self._matrices[library_id] = _new_matrix(row)
        self._matrices.move_to_end(library_id)
        if row is not None and matrix.revision != row.revision:
            self._update(connection, library_id, matrix)
            matrix.revision = row.revision
            self._forget()
        return matrix

    def _update(self, connection: sa.Connection, library_id: str, matrix: _Matrix) -> None:
        published = sa.select(documents.c.id, documents.c.indexed_generation).where(
            documents.c.library_id == library_id, documents.c.indexed_generation.is_not(None)
        )
        current = {(row.id, row.indexed_generation) for row in connection.execute(published)}
        matrix.remove(matrix.documents.keys() - current)
        new = sorted(current - matrix.documents.keys())
        rows: list[sa.Row[Any]] = []
        for start in range(0, len(new), _AT_ONCE):
            some = new[start : start + _AT_ONCE]
            query = sa.select(chunks.c.document_id, chunks.c.id, chunks.c.vector).where(
                chunks.c.document_id.in_([id for id, _ in some]), chunks.c.vector.is_not(None)
            )
            rows += connection.execute(query)
        if new:
            matrix.add(new, rows)

    def _forget(self) -> None:
        while len(self._matrices) > 1 and self._held > MAX_CHUNKS:
            self._matrices.popitem(last=False)
