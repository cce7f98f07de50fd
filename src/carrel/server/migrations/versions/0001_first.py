"""All tables, and the full-text index of the chunks, which 0002 replaces.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

from carrel.server.migrations.constraints import belongs_to

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
    op.create_table(
        "organisations",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_organisations"),
    )
    op.create_table(
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
        belongs_to("libraries", "organisation_id", "organisations"),
        sa.PrimaryKeyConstraint("id", name="pk_libraries"),
    )
    op.create_index("ix_libraries_created_at", "libraries", ["created_at"])
    op.create_index("ix_libraries_organisation_id", "libraries", ["organisation_id"])
    op.create_table(
        "users",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("organisation_id", sa.String(36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        belongs_to("users", "organisation_id", "organisations"),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
    )
    op.create_index("ix_users_organisation_id", "users", ["organisation_id"])
    op.create_table(
        "agents",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("organisation_id", sa.String(36), nullable=False),
        sa.Column("owner_id", sa.String(36), nullable=False),
        sa.Column("active_version", sa.Integer(), nullable=False),
        sa.Column("deployment_chat", sa.Boolean(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        belongs_to("agents", "organisation_id", "organisations"),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_agents_owner_id_users"),
        sa.PrimaryKeyConstraint("id", name="pk_agents"),
    )
    op.create_index("ix_agents_created_at", "agents", ["created_at"])
    op.create_index("ix_agents_organisation_id", "agents", ["organisation_id"])
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger()),
        belongs_to("api_keys", "user_id", "users"),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.UniqueConstraint("hash", name="uq_api_keys_hash"),
    )
    op.create_index("ix_api_keys_user_id", "api_keys", ["user_id"])
    op.create_table(
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
        belongs_to("documents", "library_id", "libraries"),
        sa.PrimaryKeyConstraint("id", name="pk_documents"),
        sa.UniqueConstraint("library_id", "blob", name="uq_documents_library_id_blob"),
    )
    op.create_index("ix_documents_blob", "documents", ["blob"])
    op.create_index("ix_documents_created_at", "documents", ["created_at"])
    op.create_index("ix_documents_library_id", "documents", ["library_id"])
    op.create_index("ix_documents_ocr_blob", "documents", ["ocr_blob"])
    op.create_index("ix_documents_process_status", "documents", ["process_status"])
    op.create_table(
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
        belongs_to("files", "organisation_id", "organisations"),
        belongs_to("files", "user_id", "users"),
        sa.PrimaryKeyConstraint("id", name="pk_files"),
    )
    op.create_index("ix_files_blob", "files", ["blob"])
    op.create_index("ix_files_created_at", "files", ["created_at"])
    op.create_index("ix_files_organisation_id", "files", ["organisation_id"])
    op.create_index("ix_files_user_id", "files", ["user_id"])
    op.create_table(
        "library_shares",
        sa.Column("library_id", sa.String(36), nullable=False),
        sa.Column("share_with_type", sa.String(16), nullable=False),
        sa.Column("share_with_uuid", sa.String(36), nullable=False),
        sa.Column("organisation_id", sa.String(36), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        belongs_to("library_shares", "library_id", "libraries"),
        sa.PrimaryKeyConstraint(
            "library_id", "share_with_type", "share_with_uuid", name="pk_library_shares"
        ),
    )
    op.create_table(
        "agent_aliases",
        sa.Column("agent_id", sa.String(36), nullable=False),
        sa.Column("alias", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        belongs_to("agent_aliases", "agent_id", "agents"),
        sa.PrimaryKeyConstraint("agent_id", "alias", name="pk_agent_aliases"),
    )
    op.create_table(
        "agent_versions",
        sa.Column("agent_id", sa.String(36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("message", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        belongs_to("agent_versions", "agent_id", "agents"),
        sa.PrimaryKeyConstraint("agent_id", "number", name="pk_agent_versions"),
    )
    op.create_table(
        "chunks",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("library_id", sa.String(36), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary()),
        belongs_to("chunks", "document_id", "documents"),
        sa.PrimaryKeyConstraint("id", name="pk_chunks"),
        sa.UniqueConstraint(
            "document_id",
            "generation",
            "position",
            name="uq_chunks_document_id_generation_position",
        ),
    )
    op.create_index("ix_chunks_document_id", "chunks", ["document_id"])
    op.create_index("ix_chunks_library_id", "chunks", ["library_id"])
    op.create_table(
        "document_pages",
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("markdown", sa.Text(), nullable=False),
        belongs_to("document_pages", "document_id", "documents"),
        sa.PrimaryKeyConstraint("document_id", "generation", "page", name="pk_document_pages"),
    )
    if op.get_context().dialect.name == "sqlite":
        for statement in _FULL_TEXT:
            op.execute(statement)
