"""The blobs that records name."""

import json
from collections.abc import Callable, Collection

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from carrel.server.records.sql.tables import batch_inputs, documents, files, trash_rows

_COLUMNS = (
    files.c.blob,
    documents.c.blob,
    documents.c.ocr_blob,
    batch_inputs.c.blob,
    trash_rows.c.blob,
    trash_rows.c.ocr_blob,
)
"""The columns in which files, documents, unfinished batches and the trash name blobs."""


def count(connection: sa.Connection) -> int:
    """Return the number of different blobs that records name."""
    every = sa.union(*(sa.select(column).where(column.is_not(None)) for column in _COLUMNS))
    return connection.scalar(sa.select(sa.func.count()).select_from(every.subquery())) or 0


def next_hashes(connection: sa.Connection, hash: str, count: int) -> list[str]:
    """Return the next hashes, in order, of blobs that a record names."""
    # Each column gives its own next ones by its index.
    parts = [
        sa.select(column).where(column > hash).distinct().order_by(column).limit(count).subquery()
        for column in _COLUMNS
    ]
    every = sa.union(*(sa.select(part) for part in parts)).subquery()
    [found] = every.c
    return list(connection.scalars(sa.select(found).order_by(found).limit(count)))


def find_named(connection: sa.Connection, hashes: Collection[str]) -> set[str]:
    """Return, of about a thousand hashes, the ones that a record names."""
    among = _among(connection, hashes)
    query = sa.union(*(sa.select(column).where(among(column)) for column in _COLUMNS))
    return set(connection.scalars(query))


def _among(
    connection: sa.Connection, hashes: Collection[str]
) -> Callable[[sa.Column[str]], sa.ColumnElement[bool]]:
    # One parameter, so that drivers keep one statement rather than one of each length.
    if connection.dialect.name == "sqlite":
        each = sa.func.json_each(json.dumps(list(hashes))).table_valued("value")
        return lambda column: column.in_(sa.select(each.c.value))
    every = sa.literal(list(hashes), ARRAY(sa.String))
    return lambda column: column == sa.any_(every)
