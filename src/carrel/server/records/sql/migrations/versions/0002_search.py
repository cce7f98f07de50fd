"""Search by ranges of ids, words for misspellings, places on the page.

Chunks are derived: they are dropped here, and every document is processed anew.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

from carrel.server.records.sql.schema import TRIGGERS
from carrel.server.records.sql.tables import chunks, document_words, metadata, words

revision = "0002"
down_revision = "0001"

_BEFORE = (
    "DROP TRIGGER chunks_fts_insert",
    "DROP TRIGGER chunks_fts_delete",
    "DROP TRIGGER chunks_fts_update",
    "DROP TABLE chunks_fts",
)
_NUMBERS = """
    UPDATE libraries SET number = numbered.number
    FROM (SELECT id, row_number() OVER (ORDER BY created_at, id) AS number FROM libraries)
        AS numbered
    WHERE numbered.id = libraries.id
"""
_PROCESS_ANEW = """
    UPDATE documents SET process_status = 'todo', generation = generation + 1, attempts = 0,
        not_before = last_processed_at
    WHERE process_status = 'done'
"""


def upgrade() -> None:
    for statement in _BEFORE:
        op.execute(statement)
    op.drop_table("chunks")
    for name in ("number", "revision"):
        column = sa.Column(name, sa.Integer(), server_default="0", nullable=False)
        op.add_column("libraries", column)
    op.execute(_NUMBERS)
    op.create_index("ix_libraries_number", "libraries", ["number"], unique=True)
    op.add_column("documents", sa.Column("summarised_generation", sa.Integer()))
    op.create_index(
        "ix_documents_library_id_indexed_generation_id",
        "documents",
        ["library_id", "indexed_generation", "id"],
    )
    op.add_column("document_pages", sa.Column("layout", sa.JSON()))
    metadata.create_all(op.get_bind(), tables=[chunks, document_words, words])
    for statement in TRIGGERS["sqlite"]:
        op.execute(statement)
    op.execute(_PROCESS_ANEW)
