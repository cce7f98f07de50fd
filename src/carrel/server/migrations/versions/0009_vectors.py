"""Vectors in a table of their own, so that a change of models rewrites no chunk.

Revision ID: 0009
"""

import sqlalchemy as sa
from alembic import op

from carrel.server.migrations.constraints import belongs_to

revision = "0009"
down_revision = "0008"

_ANSWERING = """
    INSERT INTO vectors (chunk_id, series, vector, sentences)
    SELECT id, 0, vector, sentences FROM chunks WHERE vector IS NOT NULL
"""
_NEXT = """
    INSERT INTO vectors (chunk_id, series, vector, sentences)
    SELECT chunk_id, 1, vector, sentences FROM next_vectors WHERE vector IS NOT NULL
"""


def upgrade() -> None:
    sqlite = op.get_context().dialect.name == "sqlite"
    for name, first in (("embedding_series", "0"), ("next_embedding_series", "1")):
        column = sa.Column(name, sa.Integer(), server_default=first, nullable=False)
        op.add_column("libraries", column)
    op.create_table(
        "vectors",
        sa.Column(
            "chunk_id",
            sa.Integer() if sqlite else sa.BigInteger(),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("series", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("sentences", sa.LargeBinary()),
        belongs_to("vectors", "chunk_id", "chunks"),
        sa.PrimaryKeyConstraint("chunk_id", "series", name="pk_vectors"),
    )
    op.execute(_ANSWERING)
    op.execute(_NEXT)
    op.drop_table("next_vectors")
    if not sqlite:
        # pgvector's column is made anew of the vectors in their new place.
        op.execute("ALTER TABLE chunks DROP COLUMN IF EXISTS embedding")
    op.drop_column("chunks", "vector")
    op.drop_column("chunks", "sentences")
