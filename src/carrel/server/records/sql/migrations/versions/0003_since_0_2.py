"""All tables and columns since version 0.2: batch jobs, conversations, the trash, several servers
of one database, vectors in a table of their own.

No release has this format yet, so its tables are those of `records.sql.tables`: whoever adds the
next format writes down here what this one made.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op

from carrel.server.records.sql.tables import documents, files, metadata

revision = "0003"
down_revision = "0002"

_NEW_COLUMNS = {
    "api_keys": ("purpose", "expires_at", "used_at", "reads_only"),
    "libraries": (
        "embedding_model",
        "embedding_dimensions",
        "embedding_version",
        "embedding_series",
        "next_embedding_model",
        "next_embedding_dimensions",
        "next_embedding_series",
        "embedding_error",
    ),
}
_VECTORS = """
    INSERT INTO vectors (chunk_id, series, vector, sentences)
    SELECT id, 0, vector, sentences FROM chunks WHERE vector IS NOT NULL
"""


def upgrade() -> None:
    connection = op.get_bind()
    for table, names in _NEW_COLUMNS.items():
        for name in names:
            op.add_column(table, metadata.tables[table].c[name])
    metadata.create_all(connection)
    for index in (*files.indexes, *documents.indexes):
        index.create(connection, checkfirst=True)
    op.drop_index("ix_files_organisation_id", "files")
    op.drop_index("ix_files_created_at", "files")
    chunks = {column["name"] for column in sa.inspect(connection).get_columns("chunks")}
    if "vector" in chunks:
        op.execute(_VECTORS)
        op.drop_column("chunks", "vector")
        op.drop_column("chunks", "sentences")
