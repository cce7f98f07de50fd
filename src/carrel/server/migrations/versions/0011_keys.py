"""A key's purpose, end and last use, and whether it only reads.

Revision ID: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("purpose", sa.Text))
    op.add_column("api_keys", sa.Column("expires_at", sa.BigInteger))
    op.add_column("api_keys", sa.Column("used_at", sa.BigInteger))
    op.add_column(
        "api_keys", sa.Column("reads_only", sa.Boolean, nullable=False, server_default=sa.false())
    )
