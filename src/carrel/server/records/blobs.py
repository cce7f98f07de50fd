"""Which blobs the records name."""

import sqlalchemy as sa

from carrel.server.records.tables import batch_inputs, documents, files, trash_rows


def live(connection: sa.Connection) -> set[str]:
    """The hashes of every blob that a file, a document, an unfinished batch or the trash names."""
    columns = (files.c.blob, documents.c.blob, documents.c.ocr_blob, batch_inputs.c.blob)
    deleted = (trash_rows.c.row["blob"].as_string(), trash_rows.c.row["ocr_blob"].as_string())
    query = sa.union(*(sa.select(column) for column in (*columns, *deleted)))
    return {hash for hash in connection.scalars(query) if hash is not None}
