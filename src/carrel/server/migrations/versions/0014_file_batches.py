"""Documents that were added to a library together.

Revision ID: 0014
"""

import sqlalchemy as sa
from alembic import op

from carrel.server.migrations.constraints import belongs_to

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "file_batches",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("library_id", sa.String(36), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        belongs_to("file_batches", "library_id", "libraries"),
        sa.PrimaryKeyConstraint("id", name="pk_file_batches"),
    )
    op.create_index("ix_file_batches_library_id", "file_batches", ["library_id"])
