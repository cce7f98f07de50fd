"""The trash.

Revision ID: 0005
"""

import sqlalchemy as sa
from alembic import op

from carrel.server.migrations.constraints import belongs_to

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "trash",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("organisation_id", sa.String(36), nullable=False),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("name", sa.Text()),
        sa.Column("library_id", sa.String(36)),
        sa.Column("deleted_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        belongs_to("trash", "organisation_id", "organisations"),
        belongs_to("trash", "user_id", "users"),
        sa.PrimaryKeyConstraint("id", name="pk_trash"),
    )
    for column in ("organisation_id", "user_id"):
        op.create_index(f"ix_trash_{column}", "trash", [column])
    op.create_table(
        "trash_rows",
        sa.Column("item_id", sa.String(36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("table", sa.String(32), nullable=False),
        sa.Column("row", sa.JSON(), nullable=False),
        belongs_to("trash_rows", "item_id", "trash"),
        sa.PrimaryKeyConstraint("item_id", "position", name="pk_trash_rows"),
    )
