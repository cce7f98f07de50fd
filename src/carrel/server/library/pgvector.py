"""The vectors of chunks in PostgreSQL, compared there by pgvector."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import sqlalchemy as sa

from carrel.server.records.tables import CHUNKS_PER_LIBRARY, chunks, libraries

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_SIMILARITY = "SELECT id, -(embedding <#> %s::halfvec) AS similarity FROM chunks"
# "+ 0" keeps the order of ids from being taken for that of the answer.
_NEAREST = (
    f"{_SIMILARITY} WHERE id BETWEEN %s AND %s AND embedding IS NOT NULL {{among}}"
    " ORDER BY embedding <#> %s::halfvec, id + 0 LIMIT %s"
)
_AMONG = "AND document_id = ANY(%s)"
_OF_SOME = f"{_SIMILARITY} WHERE id = ANY(%s) AND embedding IS NOT NULL"


class PgVectors:
    """Compares every chunk of a library with a vector; nothing is kept in memory."""

    def nearest(
        self,
        connection: sa.Connection,
        library_id: str,
        vector: "Vector",
        limit: int,
        document_ids: Collection[str] | None = None,
        also: Sequence[int] = (),
    ) -> dict[int, float]:
        """The nearest chunks of a library and their similarity; blocking."""
        number = connection.scalar(
            sa.select(libraries.c.number).where(libraries.c.id == library_id)
        )
        if number is None:
            return {}
        area = number * CHUNKS_PER_LIBRARY, (number + 1) * CHUNKS_PER_LIBRARY - 1
        asked = str(vector.tolist())
        among = [] if document_ids is None else [list(document_ids)]
        query = _NEAREST.format(among=_AMONG if among else "")
        values = (asked, *area, *among, asked, limit)
        near = _similar(connection, query, values)
        further = [id for id in also if id not in near]
        if further:
            near |= _similar(connection, _OF_SOME, (asked, further))
        return near

    def warm(self, connection: sa.Connection) -> bool:
        """Whether there are vectors; blocking."""
        return connection.scalar(sa.select(sa.exists(sa.select(chunks.c.id)))) or False


def _similar(connection: sa.Connection, query: str, values: tuple[object, ...]) -> dict[int, float]:
    return {row.id: row.similarity for row in connection.exec_driver_sql(query, values)}
