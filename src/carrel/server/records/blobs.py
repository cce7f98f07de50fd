"""Which blobs the records name."""

import sqlalchemy as sa

from carrel.server.records.tables import batch_inputs, documents, files


def live(connection: sa.Connection) -> set[str]:
    """The hashes of every blob that a file, a document or an unfinished batch names."""
    columns = (files.c.blob, documents.c.blob, documents.c.ocr_blob, batch_inputs.c.blob)
    query = sa.union(*(sa.select(column) for column in columns))
    return {hash for hash in connection.scalars(query) if hash is not None}
