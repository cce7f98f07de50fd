"""The vectors of chunks in PostgreSQL, compared there by pgvector."""

from collections.abc import Collection
from functools import partial

import sqlalchemy as sa

from carrel.server.library.vectors.nearest import Finish, Nearest
from carrel.server.records.sql.tables import vectors

_SIMILARITY = "SELECT chunk_id AS id, -(embedding <#> %s::halfvec) AS similarity FROM vectors"
# "+ 0" keeps the order of ids from being taken for that of the answer.
_NEAREST = (
    f"{_SIMILARITY} WHERE chunk_id BETWEEN %s AND %s AND series = %s {{among}}"
    " ORDER BY embedding <#> %s::halfvec, chunk_id + 0 LIMIT %s"
)
_AMONG = "AND chunk_id IN (SELECT id FROM chunks WHERE document_id = ANY(%s))"
_OF_SOME = f"{_SIMILARITY} WHERE chunk_id = ANY(%s) AND series = %s"


class PgVectors:
    """Compares every chunk of a library with a vector; nothing is kept in memory."""

    def begin(self, connection: sa.Connection, asked: Nearest) -> Finish:
        """Return what compares the chunks: a connection does one thing at a time."""
        return partial(self._nearest, connection, asked)

    def _nearest(
        self, connection: sa.Connection, asked: Nearest, also: Collection[int]
    ) -> dict[int, float]:
        library, vector = asked.library, str(asked.vector.tolist())
        among = [] if asked.document_ids is None else [list(asked.document_ids)]
        query = _NEAREST.format(among=_AMONG if among else "")
        values = (vector, *library.area, library.series, *among, vector, asked.limit)
        near = _similar(connection, query, values)
        further = [id for id in also if id not in near]
        if further:
            near |= _similar(connection, _OF_SOME, (vector, further, library.series))
        return near

    def warm(self, connection: sa.Connection) -> bool:
        """Return whether there are vectors; blocking."""
        return connection.scalar(sa.select(sa.exists(sa.select(vectors.c.chunk_id)))) or False


def _similar(connection: sa.Connection, query: str, values: tuple[object, ...]) -> dict[int, float]:
    return {row.id: row.similarity for row in connection.exec_driver_sql(query, values)}
