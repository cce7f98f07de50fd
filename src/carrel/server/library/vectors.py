"""The vectors of libraries, held in memory and compared one by one."""

import threading
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from carrel.server.library.embeddings import DIMENSIONS
from carrel.server.records.tables import chunks, documents

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Ids = NDArray[np.int64]

MIN_SIMILARITY = 0.2
"""Cosine below which two texts have nothing to do with each other."""


@dataclass(frozen=True)
class _Block:
    """The chunks of one document: their ids and their vectors, row by row."""

    ids: "Ids"
    vectors: "Vectors"


@dataclass
class _Library:
    stamp: tuple[Any, ...] = ()
    blocks: dict[tuple[str, int], _Block] = field(default_factory=dict)
    whole: _Block | None = None


class VectorIndex:
    """Finds the chunks nearest to a vector.

    Vectors are read from the database once; when a library's documents have changed, only the
    changed ones are read again.
    """

    def __init__(self) -> None:
        self._libraries: dict[str, _Library] = {}
        self._lock = threading.Lock()

    def nearest(
        self,
        connection: sa.Connection,
        library_id: str,
        vector: "Vectors",
        limit: int,
        document_ids: Collection[str] | None = None,
    ) -> list[tuple[float, int]]:
        """Similarity and id of the nearest chunks of a library, best first; blocking.

        `document_ids` restricts the search to some documents.
        """
        import numpy as np

        with self._lock:
            library = self._fresh(connection, library_id)
            if document_ids is None:
                block = library.whole or _join(list(library.blocks.values()))
                library.whole = block
            else:
                wanted = [block for key, block in library.blocks.items() if key[0] in document_ids]
                block = _join(wanted)
        similarities = block.vectors @ vector
        best = np.argsort(-similarities, kind="stable")[:limit]
        return [
            (float(similarities[row]), int(block.ids[row]))
            for row in best
            if similarities[row] >= MIN_SIMILARITY
        ]

    def _fresh(self, connection: sa.Connection, library_id: str) -> _Library:
        library = self._libraries.setdefault(library_id, _Library())
        stamp = _stamp(connection, library_id)
        if library.stamp == stamp:
            return library
        published = sa.select(documents.c.id, documents.c.indexed_generation).where(
            documents.c.library_id == library_id, documents.c.indexed_generation.is_not(None)
        )
        current = {(row.id, row.indexed_generation) for row in connection.execute(published)}
        library.blocks = {
            key: library.blocks.get(key) or _load(connection, *key) for key in sorted(current)
        }
        library.whole = None
        library.stamp = stamp
        return library


def _stamp(connection: sa.Connection, library_id: str) -> tuple[Any, ...]:
    """Differs after any document of the library was published or deleted."""
    query = sa.select(
        sa.func.count(),
        sa.func.max(documents.c.last_processed_at),
        sa.func.max(documents.c.id),
        sa.func.sum(documents.c.indexed_generation),
    ).where(documents.c.library_id == library_id, documents.c.indexed_generation.is_not(None))
    return tuple(connection.execute(query).one())


def _load(connection: sa.Connection, document_id: str, generation: int) -> _Block:
    import numpy as np

    query = sa.select(chunks.c.id, chunks.c.vector).where(
        chunks.c.document_id == document_id,
        chunks.c.generation == generation,
        chunks.c.vector.is_not(None),
    )
    rows = connection.execute(query).all()
    vectors = np.frombuffer(b"".join(row.vector for row in rows), np.float32)
    return _Block(
        np.array([row.id for row in rows], np.int64), vectors.reshape(len(rows), DIMENSIONS)
    )


def _join(blocks: list[_Block]) -> _Block:
    import numpy as np

    if not blocks:
        return _Block(np.empty(0, np.int64), np.empty((0, DIMENSIONS), np.float32))
    return _Block(
        np.concatenate([block.ids for block in blocks]),
        np.concatenate([block.vectors for block in blocks]),
    )
