"""Conversations.

Revision ID: 0004
"""

import sqlalchemy as sa
from alembic import op

from carrel.server.migrations.constraints import belongs_to

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("organisation_id", sa.String(36), nullable=False),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("partner", sa.JSON(), nullable=False),
        sa.Column("name", sa.Text()),
        sa.Column("description", sa.Text()),
        sa.Column("metadata", sa.JSON()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        belongs_to("conversations", "organisation_id", "organisations"),
        belongs_to("conversations", "user_id", "users"),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
    )
    for column in ("organisation_id", "user_id", "created_at"):
        op.create_index(f"ix_conversations_{column}", "conversations", [column])
    op.create_table(
        "conversation_entries",
        sa.Column("conversation_id", sa.String(36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("entry", sa.JSON(), nullable=False),
        belongs_to("conversation_entries", "conversation_id", "conversations"),
        sa.PrimaryKeyConstraint("conversation_id", "position", name="pk_conversation_entries"),
    )
