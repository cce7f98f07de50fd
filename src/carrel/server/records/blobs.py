"""Which blobs the records name."""

from collections.abc import Collection

import sqlalchemy as sa

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
    if not hashes:
        return set()
    query = sa.union(*(sa.select(column).where(column.in_(hashes)) for column in _COLUMNS))
    return set(connection.scalars(query))
