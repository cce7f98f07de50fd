"""All tables, and the full-text index of the chunks, which 0002 replaces.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

from carrel.server.migrations.tables import create, index

revision = "0001"
down_revision = None

_FULL_TEXT = (
    # The text stays in `chunks`; triggers keep the index in step, cascades included.
    """
    CREATE VIRTUAL TABLE chunks_fts USING fts5(
        text, content='chunks', content_rowid='id',
        tokenize="porter unicode61 remove_diacritics 2"
    )
    """,
    """
    CREATE TRIGGER chunks_fts_insert AFTER INSERT ON chunks BEGIN
        INSERT INTO chunks_fts(rowid, text) VALUES (new.id, new.text);
    END
    """,
    """
    CREATE TRIGGER chunks_fts_delete AFTER DELETE ON chunks BEGIN
        INSERT INTO chunks_fts(chunks_fts, rowid, text) VALUES ('delete', old.id, old.text);
    END
    """,
    """
    CREATE TRIGGER chunks_fts_update AFTER UPDATE OF text ON chunks BEGIN
        INSERT INTO chunks_fts(chunks_fts, rowid, text) VALUES ('delete', old.id, old.text);
        INSERT INTO chunks_fts(rowid, text) VALUES (new.id, new.text);
    END
    """,
)


def upgrade() -> None:
    create(
        "organisations",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
    )
    create(
        "libraries",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("organisation_id", sa.String(36), nullable=False),
        sa.Column("owner_id", sa.String(36), nullable=False),
        sa.Column("owner_type", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text()),
        sa.Column("chunk_size", sa.Integer()),
        sa.Column("emoji", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        organisation_id="organisations",
    )
    index("libraries", "created_at", "organisation_id")
    create(
        "users",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("organisation_id", sa.String(36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        organisation_id="organisations",
    )
    index("users", "organisation_id")
    create(
        "agents",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("organisation_id", sa.String(36), nullable=False),
        sa.Column("owner_id", sa.String(36), nullable=False),
        sa.Column("active_version", sa.Integer(), nullable=False),
        sa.Column("deployment_chat", sa.Boolean(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_agents_owner_id_users"),
        organisation_id="organisations",
    )
    index("agents", "created_at", "organisation_id")
    create(
        "api_keys",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger()),
        sa.UniqueConstraint("hash", name="uq_api_keys_hash"),
        user_id="users",
    )
    index("api_keys", "user_id")
    create(
        "documents",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("library_id", sa.String(36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("blob", sa.String(64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mime_type", sa.Text()),
        sa.Column("extension", sa.Text()),
        sa.Column("uploaded_by_id", sa.String(36), nullable=False),
        sa.Column("uploaded_by_type", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger()),
        sa.Column("attributes", sa.JSON()),
        sa.Column("summary", sa.Text()),
        sa.Column("process_status", sa.String(32), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("indexed_generation", sa.Integer()),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("not_before", sa.BigInteger()),
        sa.Column("error", sa.Text()),
        sa.Column("last_processed_at", sa.BigInteger()),
        sa.Column("number_of_pages", sa.Integer()),
        sa.Column("ocr_blob", sa.String(64)),
        sa.Column("tokens_main", sa.BigInteger()),
        sa.Column("tokens_summary", sa.BigInteger()),
        sa.Column("tokens_total", sa.BigInteger(), server_default="0", nullable=False),
        sa.UniqueConstraint("library_id", "blob", name="uq_documents_library_id_blob"),
        library_id="libraries",
    )
    index("documents", "blob", "created_at", "library_id", "ocr_blob", "process_status")
    create(
        "files",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("organisation_id", sa.String(36), nullable=False),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("blob", sa.String(64), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("sample_type", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("num_lines", sa.BigInteger()),
        sa.Column("mimetype", sa.Text()),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger()),
        organisation_id="organisations",
        user_id="users",
    )
    index("files", "blob", "created_at", "organisation_id", "user_id")
    create(
        "library_shares",
        sa.Column("library_id", sa.String(36), nullable=False),
        sa.Column("share_with_type", sa.String(16), nullable=False),
        sa.Column("share_with_uuid", sa.String(36), nullable=False),
        sa.Column("organisation_id", sa.String(36), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        key=("library_id", "share_with_type", "share_with_uuid"),
        library_id="libraries",
    )
    create(
        "agent_aliases",
        sa.Column("agent_id", sa.String(36), nullable=False),
        sa.Column("alias", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        key=("agent_id", "alias"),
        agent_id="agents",
    )
    create(
        "agent_versions",
        sa.Column("agent_id", sa.String(36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("message", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        key=("agent_id", "number"),
        agent_id="agents",
    )
    create(
        "chunks",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("library_id", sa.String(36), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary()),
        sa.UniqueConstraint(
            "document_id",
            "generation",
            "position",
            name="uq_chunks_document_id_generation_position",
        ),
        document_id="documents",
    )
    index("chunks", "document_id", "library_id")
    create(
        "document_pages",
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("markdown", sa.Text(), nullable=False),
        key=("document_id", "generation", "page"),
        document_id="documents",
    )
    if op.get_context().dialect.name == "sqlite":
        for statement in _FULL_TEXT:
            op.execute(statement)
