"""Indexes of the rows that expire, and of the documents without a summary.

Revision ID: 0007
"""

from alembic import op

revision = "0007"
down_revision = "0006"

# IS DISTINCT FROM is not in every SQLite.
_DISTINCT = {"sqlite": "IS NOT", "postgresql": "IS DISTINCT FROM"}


def upgrade() -> None:
    for table in ("files", "documents"):
        op.execute(
            f"CREATE INDEX ix_{table}_expires_at ON {table} (expires_at)"
            " WHERE expires_at IS NOT NULL"
        )
    distinct = _DISTINCT[op.get_context().dialect.name]
    op.execute(
        "CREATE INDEX ix_documents_unsummarised ON documents (last_processed_at)"
        f" WHERE summarised_generation {distinct} indexed_generation"
    )
