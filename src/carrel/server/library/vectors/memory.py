"""The vectors of chunks in memory, compared there."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from carrel.server.library.vectors.nearest import Finish, Nearest
from carrel.server.records import embeddings
from carrel.server.records.embeddings import SearchedLibrary
from carrel.server.records.sql.tables import (
    OWN_DIMENSIONS,
    OWN_EMBEDDING,
    chunks,
    documents,
    vectors,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Stored = NDArray[np.float16]
    Ids = NDArray[np.int64]

MAX_CHUNKS = 1_000_000
"""Maximum number of chunks in memory, about 800 MB; libraries are evicted LRU."""

_COARSE = 64
"""Leading dimensions, used to preselect chunks for the full comparison."""
_COMPARED = 8
"""Oversampling factor of the preselection."""
_AT_ONCE = 500
"""Documents per query."""
_THREADS = 4
"""As many as read the database."""


class _Chunks(NamedTuple):
    """The chunks of one library in the order of their ids. Arrays are replaced, never changed: a
    thread goes on with those that it has.
    """

    ids: "Ids"
    owners: "Ids"
    """The numbers of their documents."""
    vectors: "Stored"
    coarse: "Vectors"
    """The leading dimensions, each with all chunks: that way they are multiplied fastest."""

    def nearest(
        self, vector: "Vectors", limit: int, owners: Collection[int] | None
    ) -> dict[int, float]:
        """Return the most similar chunks, of some documents, and their similarity, best first."""
        import numpy as np

        if not len(self.ids):
            return {}
        rough = vector[: len(self.coarse)] @ self.coarse
        if owners is not None:
            # The least similarity is -1.
            rough = np.where(np.isin(self.owners, list(owners)), rough, np.float32(-2))
        compared = min(len(rough), limit * _COMPARED)
        rows = np.argpartition(rough, len(rough) - compared)[-compared:]
        rows = rows[rough[rows] > -2]
        exact = _floats(self.vectors[rows]) @ vector
        best = np.argsort(-exact, kind="stable")[:limit]
        return dict(zip(self.ids[rows[best]].tolist(), exact[best].tolist(), strict=True))

    def similarity(self, ids: Sequence[int], vector: "Vectors") -> dict[int, float]:
        """Return the similarity of some chunks; chunks without vectors are left out."""
        import numpy as np

        if not ids or not len(self.ids):
            return {}
        rows = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        exact = _floats(self.vectors[rows]) @ vector
        known = self.ids[rows] == ids
        return dict(zip(self.ids[rows[known]].tolist(), exact[known].tolist(), strict=True))

    def take(self, rows: "Ids") -> "_Chunks":
        """Return some of the chunks, or all in another order."""
        coarse = self.coarse.take(rows, axis=1)
        return _Chunks(self.ids[rows], self.owners[rows], self.vectors[rows], coarse)


def _floats(halves: "Stored") -> "Vectors":
    """Return finite numbers as floats, several times as fast as numpy: the bits are moved to their
    places, and the difference of the exponents is made up.
    """
    import numpy as np

    bits = halves.view(np.int16).astype(np.int32) << 13
    # The bits of the sign were spread.
    return (bits & np.int32(~0x70000000)).view(np.float32) * np.float32(2**112)


class _Matrix:
    """The chunks of one library, and which documents are in it."""

    def __init__(self, version: int, dimensions: int, coarse: int) -> None:
        import numpy as np

        self.version = version
        """The version of the library's vectors."""
        self._chunk_bytes = 2 * dimensions + 4 * coarse
        self.revision = -1
        self.documents: dict[tuple[str, int], int] = {}
        """The documents in it, with the generation of their text, and their numbers."""
        self._next = 0
        self.chunks = _Chunks(
            np.empty(0, np.int64),
            np.empty(0, np.int64),
            np.empty((0, dimensions), np.float16),
            np.empty((coarse, 0), np.float32),
        )

    @property
    def size(self) -> int:
        """The memory that it takes, in chunks of the server's own model."""
        return len(self.chunks.ids) * self._chunk_bytes // (2 * OWN_DIMENSIONS + 4 * _COARSE)

    def numbers(self, document_ids: Collection[str]) -> list[int]:
        """Return the numbers of some documents."""
        return [number for (id, _), number in self.documents.items() if id in document_ids]

    def remove(self, gone: Iterable[tuple[str, int]]) -> None:
        """Remove documents."""
        import numpy as np

        numbers = [self.documents.pop(key) for key in gone]
        if numbers:
            self.chunks = self.chunks.take(np.flatnonzero(~np.isin(self.chunks.owners, numbers)))

    def add(self, new: Sequence[tuple[str, int]], rows: Sequence[sa.Row[Any]]) -> None:
        """Add documents with their chunks' rows of document_id, id and vector."""
        import numpy as np

        for key in new:
            self.documents[key] = self._next
            self._next += 1
        if not rows:
            return
        numbers = {id: self.documents[id, generation] for id, generation in new}
        before = self.chunks
        vectors = np.frombuffer(b"".join(row.vector for row in rows), np.float16)
        vectors = vectors.reshape(len(rows), -1)
        coarse = vectors.T[: len(before.coarse)].astype(np.float32)
        owners = [numbers[row.document_id] for row in rows]
        together = _Chunks(
            np.concatenate([before.ids, np.array([row.id for row in rows], np.int64)]),
            np.concatenate([before.owners, np.array(owners, np.int64)]),
            np.concatenate([before.vectors, vectors]),
            np.concatenate([before.coarse, coarse], axis=1),
        )
        self.chunks = together.take(np.argsort(together.ids, kind="stable"))


class MemoryVectors:
    """The vectors of chunks in memory.

    A library's vectors are read from the database when they are first needed; after a change
    only the changed documents are read again.
    """

    def __init__(self) -> None:
        self._matrices: OrderedDict[str, _Matrix] = OrderedDict()
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(_THREADS, "vectors")

    def begin(self, connection: sa.Connection, asked: Nearest) -> Finish:
        """Begin to compare chunks with a vector, in a thread: numpy lets another do its work."""
        with self._lock:
            matrix = self._fresh(connection, asked.library)
            chunks, among = matrix.chunks, asked.document_ids
            owners = None if among is None else matrix.numbers(among)
        nearest = self._threads.submit(chunks.nearest, asked.vector, asked.limit, owners)

        def finish(also: Collection[int]) -> dict[int, float]:
            near = nearest.result()
            return near | chunks.similarity([id for id in also if id not in near], asked.vector)

        return finish

    def warm(self, connection: sa.Connection) -> bool:
        """Preload the vectors of the most recently changed libraries while there is room; blocking.

        Returns whether any were loaded.
        """
        newest = (
            sa.select(documents.c.library_id)
            .where(documents.c.indexed_generation.is_not(None))
            .group_by(documents.c.library_id)
            .order_by(sa.func.max(documents.c.last_processed_at).desc())
        )
        for library_id in connection.scalars(newest).all():
            [library] = embeddings.find_searched(connection, [library_id])
            with self._lock:
                self._fresh(connection, library)
            if self._size >= MAX_CHUNKS:
                break
        return self._size > 0

    @property
    def _size(self) -> int:
        return sum(matrix.size for matrix in self._matrices.values())

    def _fresh(self, connection: sa.Connection, library: SearchedLibrary) -> _Matrix:
        matrix = self._matrices.get(library.id)
        if matrix is None or matrix.version != library.version:
            # The leading dimensions of other models tell too little.
            coarse = _COARSE if library.model == OWN_EMBEDDING else library.dimensions
            matrix = self._matrices[library.id] = _Matrix(
                library.version, library.dimensions, coarse
            )
        self._matrices.move_to_end(library.id)
        if matrix.revision != library.revision:
            self._update(connection, library, matrix)
            matrix.revision = library.revision
            while len(self._matrices) > 1 and self._size > MAX_CHUNKS:
                self._matrices.popitem(last=False)
        return matrix

    def _update(self, connection: sa.Connection, library: SearchedLibrary, matrix: _Matrix) -> None:
        published = sa.select(documents.c.id, documents.c.indexed_generation).where(
            documents.c.library_id == library.id, documents.c.indexed_generation.is_not(None)
        )
        current = {(row.id, row.indexed_generation) for row in connection.execute(published)}
        matrix.remove(matrix.documents.keys() - current)
        new = sorted(current - matrix.documents.keys())
        rows: list[sa.Row[Any]] = []
        for start in range(0, len(new), _AT_ONCE):
            some = new[start : start + _AT_ONCE]
            query = sa.select(chunks.c.document_id, chunks.c.id, vectors.c.vector).join(vectors)
            of_some = chunks.c.document_id.in_([id for id, _ in some])
            rows += connection.execute(query.where(of_some, vectors.c.series == library.series))
        if new:
            matrix.add(new, rows)
