"""An index in the order of a library's list, with all that counting it needs.

Revision ID: 0012
"""

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_index(
        "ix_documents_listed", "documents", ["library_id", "created_at", "id", "expires_at"]
    )
