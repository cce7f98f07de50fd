"""Which blobs the records name."""

import json
from collections.abc import Callable, Collection

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from carrel.server.records.tables import batch_inputs, documents, files, trash_rows

_COLUMNS = (
    files.c.blob,
    documents.c.blob,
    documents.c.ocr_blob,
    batch_inputs.c.blob,
    trash_rows.c.blob,
    trash_rows.c.ocr_blob,
)
"""Where a file, a document, an unfinished batch and the trash name blobs."""


def live(connection: sa.Connection) -> set[str]:
    """The hashes of every blob that a record names."""
    query = sa.union(*(sa.select(column) for column in _COLUMNS))
    return {hash for hash in connection.scalars(query) if hash is not None}


def named(connection: sa.Connection, hashes: Collection[str]) -> set[str]:
    """Those of some hashes, a thousand or so, that a record names."""
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
