"""The embedding model of each library, and the vectors of the next one while it is changed.

Revision ID: 0008
"""

import sqlalchemy as sa
from alembic import op

from carrel.server.migrations.constraints import belongs_to

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    for column in (
        sa.Column("embedding_model", sa.Text(), server_default="carrel-embed", nullable=False),
        sa.Column("embedding_dimensions", sa.Integer(), server_default="256", nullable=False),
        sa.Column("embedding_version", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_embedding_model", sa.Text()),
        sa.Column("next_embedding_dimensions", sa.Integer()),
        sa.Column("embedding_error", sa.Text()),
    ):
        op.add_column("libraries", column)
    big = sa.Integer() if op.get_context().dialect.name == "sqlite" else sa.BigInteger()
    op.create_table(
        "next_vectors",
        sa.Column("chunk_id", big, autoincrement=False, nullable=False),
        sa.Column("vector", sa.LargeBinary()),
        sa.Column("sentences", sa.LargeBinary()),
        belongs_to("next_vectors", "chunk_id", "chunks"),
        sa.PrimaryKeyConstraint("chunk_id", name="pk_next_vectors"),
    )
