"""All tables and columns since version 0.2: batch jobs, conversations, the trash, several servers
of one database, vectors in a table of their own.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op

from carrel.server.migrations.tables import create, index

revision = "0003"
down_revision = "0002"

# IS DISTINCT FROM is not in every SQLite.
_DISTINCT = {"sqlite": "IS NOT", "postgresql": "IS DISTINCT FROM"}

_VECTORS = """
    INSERT INTO vectors (chunk_id, series, vector, sentences)
    SELECT id, 0, vector, sentences FROM chunks WHERE vector IS NOT NULL
"""


def upgrade() -> None:
    _add_batch_jobs()
    _add_conversations()
    _add_trash()
    _add_servers()
    _add_embeddings()
    _add_indexes()
    for column in (
        sa.Column("purpose", sa.Text()),
        sa.Column("expires_at", sa.BigInteger()),
        sa.Column("used_at", sa.BigInteger()),
        sa.Column("reads_only", sa.Boolean(), nullable=False, server_default=sa.false()),
    ):
        op.add_column("api_keys", column)


def _add_batch_jobs() -> None:
    create(
        "batch_jobs",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("organisation_id", sa.String(36), nullable=False),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("input_files", sa.JSON(), nullable=False),
        sa.Column("model", sa.Text()),
        sa.Column("agent_id", sa.Text()),
        sa.Column("metadata", sa.JSON()),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("errors", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger()),
        sa.Column("completed_at", sa.BigInteger()),
        sa.Column("deadline", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("succeeded", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("output_file", sa.String(36)),
        sa.Column("error_file", sa.String(36)),
        organisation_id="organisations",
        user_id="users",
    )
    index("batch_jobs", "organisation_id", "user_id", "status", "created_at")
    create(
        "batch_inputs",
        sa.Column("job_id", sa.String(36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("blob", sa.String(64), nullable=False),
        key=("job_id", "position"),
        job_id="batch_jobs",
    )
    index("batch_inputs", "blob")
    create(
        "batch_lines",
        sa.Column("job_id", sa.String(36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("custom_id", sa.Text(), nullable=False),
        sa.Column("input", sa.Integer(), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("response", sa.Text()),
        key=("job_id", "number"),
        job_id="batch_jobs",
    )
    create(
        "file_batches",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("library_id", sa.String(36), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        library_id="libraries",
    )
    index("file_batches", "library_id")


def _add_conversations() -> None:
    create(
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
        organisation_id="organisations",
        user_id="users",
    )
    index("conversations", "organisation_id", "user_id", "created_at")
    create(
        "conversation_entries",
        sa.Column("conversation_id", sa.String(36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("entry", sa.JSON(), nullable=False),
        key=("conversation_id", "position"),
        conversation_id="conversations",
    )


def _add_trash() -> None:
    create(
        "trash",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("organisation_id", sa.String(36), nullable=False),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("name", sa.Text()),
        sa.Column("library_id", sa.String(36)),
        sa.Column("deleted_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        organisation_id="organisations",
        user_id="users",
    )
    index("trash", "organisation_id", "user_id")
    create(
        "trash_rows",
        sa.Column("item_id", sa.String(36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("table", sa.String(32), nullable=False),
        sa.Column("row", sa.JSON(), nullable=False),
        sa.Column("blob", sa.String(64)),
        sa.Column("ocr_blob", sa.String(64)),
        key=("item_id", "position"),
        item_id="trash",
    )
    index("trash_rows", "blob", "ocr_blob")


def _add_servers() -> None:
    """Add the common secrets of the servers of one database, and their signs of life."""
    create(
        "secrets",
        sa.Column("name", sa.String(32), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        key=("name",),
    )
    create(
        "workers",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        key=("name",),
    )


def _add_embeddings() -> None:
    """Move the vectors to a table with room for those of a library's next model."""
    for column in (
        sa.Column("embedding_model", sa.Text(), server_default="carrel-embed", nullable=False),
        sa.Column("embedding_dimensions", sa.Integer(), server_default="256", nullable=False),
        sa.Column("embedding_version", sa.Integer(), server_default="0", nullable=False),
        sa.Column("embedding_series", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_embedding_model", sa.Text()),
        sa.Column("next_embedding_dimensions", sa.Integer()),
        sa.Column("next_embedding_series", sa.Integer(), server_default="1", nullable=False),
        sa.Column("embedding_error", sa.Text()),
    ):
        op.add_column("libraries", column)
    # SQLite has one kind of integer only.
    big = sa.Integer() if op.get_context().dialect.name == "sqlite" else sa.BigInteger()
    create(
        "vectors",
        sa.Column("chunk_id", big, autoincrement=False, nullable=False),
        sa.Column("series", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("sentences", sa.LargeBinary()),
        key=("chunk_id", "series"),
        chunk_id="chunks",
    )
    op.execute(_VECTORS)
    op.drop_column("chunks", "vector")
    op.drop_column("chunks", "sentences")


def _add_indexes() -> None:
    """Index the rows that expire, documents without a summary, and lists in their order."""
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
    # With all columns that counting the lists needs.
    op.create_index(
        "ix_documents_listed", "documents", ["library_id", "created_at", "id", "expires_at"]
    )
    op.create_index(
        "ix_files_listed",
        "files",
        ["organisation_id", "created_at", "id", "visibility", "user_id", "expires_at"],
    )
    op.drop_index("ix_files_organisation_id", "files")
    op.drop_index("ix_files_created_at", "files")
