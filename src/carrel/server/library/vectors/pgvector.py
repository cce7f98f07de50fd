"""The vectors of chunks in PostgreSQL, compared there by pgvector."""

import sqlalchemy as sa

from carrel.server.library.vectors.nearest import Nearest
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

    def nearest(self, connection: sa.Connection, asked: Nearest) -> dict[int, float]:
        """Return the nearest chunks, and the chunks in `also`; blocking."""
        library, vector = asked.library, str(asked.vector.tolist())
        among = [] if asked.document_ids is None else [list(asked.document_ids)]
        query = _NEAREST.format(among=_AMONG if among else "")
        values = (vector, *library.area, library.series, *among, vector, asked.limit)
        near = _similar(connection, query, values)
        further = [id for id in asked.also if id not in near]
        if further:
            near |= _similar(connection, _OF_SOME, (vector, further, library.series))
        return near

    def warm(self, connection: sa.Connection) -> bool:
        """Return whether there are vectors; blocking."""
        return connection.scalar(sa.select(sa.exists(sa.select(vectors.c.chunk_id)))) or False


def _similar(connection: sa.Connection, query: str, values: tuple[object, ...]) -> dict[int, float]:
    return {row.id: row.similarity for row in connection.exec_driver_sql(query, values)}
