"""An index in the order of an organisation's files, with all that counting them needs.

Revision ID: 0013
"""

from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_index(
        "ix_files_listed",
        "files",
        ["organisation_id", "created_at", "id", "visibility", "user_id", "expires_at"],
    )
    op.drop_index("ix_files_organisation_id", "files")
    op.drop_index("ix_files_created_at", "files")
