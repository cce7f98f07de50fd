"""The tables. The document row is the truth about a document: queue, chunks and index follow it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

OWN_EMBEDDING, OWN_DIMENSIONS = "carrel-embed", 256
"""The server's own embedding model."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Moment(sa.types.TypeDecorator[datetime]):
    """A point in time, kept as whole microseconds since 1970 in UTC: exact and sortable."""

    impl = sa.BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> int | None:
        return None if value is None else (value - EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, dialect: Any) -> datetime | None:
        return None if value is None else self.of(value)

    @staticmethod
    def of(microseconds: int) -> datetime:
        """Return the moment that is kept as a number."""
        return EPOCH + timedelta(microseconds=microseconds)


def whole_seconds(moment: datetime | None) -> int | None:
    """Return a moment in whole seconds since 1970, as in the interface."""
    return None if moment is None else int(moment.timestamp())


# Beyond the range of PostgreSQL's integers; SQLite has one kind only, whose name is significant.
BigId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _reference(name: str, target: str, *, index: bool = True) -> sa.Column[Any]:
    return sa.Column(name, sa.ForeignKey(target, ondelete="CASCADE"), nullable=False, index=index)


def _partial_index(name: str, column: str, those: str, in_sqlite: str | None = None) -> sa.Index:
    """Return an index of a few of the rows."""
    return sa.Index(
        name, column, postgresql_where=sa.text(those), sqlite_where=sa.text(in_sqlite or those)
    )


def _expiry_index(table: str) -> sa.Index:
    return _partial_index(f"ix_{table}_expires_at", "expires_at", "expires_at IS NOT NULL")


organisations = sa.Table(
    "organisations",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
)

users = sa.Table(
    "users",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    _reference("organisation_id", "organisations.id"),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
)

api_keys = sa.Table(
    "api_keys",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    _reference("user_id", "users.id"),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False, unique=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("revoked_at", Moment),
    # What it is for, in words.
    sa.Column("purpose", sa.Text),
    sa.Column("expires_at", Moment),
    # Within `keys.USED_MINUTES`.
    sa.Column("used_at", Moment),
    sa.Column("reads_only", sa.Boolean, nullable=False, server_default=sa.false()),
)

files = sa.Table(
    "files",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    # Indexed by `ix_files_listed`.
    _reference("organisation_id", "organisations.id", index=False),
    _reference("user_id", "users.id"),
    sa.Column("filename", sa.Text, nullable=False),
    sa.Column("blob", sa.String(64), nullable=False, index=True),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("sample_type", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("num_lines", sa.BigInteger),
    sa.Column("mimetype", sa.Text),
    sa.Column("visibility", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("expires_at", Moment),
    sa.Index(
        "ix_files_listed",
        *("organisation_id", "created_at", "id", "visibility", "user_id", "expires_at"),
    ),
    _expiry_index("files"),
)

agents = sa.Table(
    "agents",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    _reference("organisation_id", "organisations.id"),
    sa.Column("owner_id", sa.ForeignKey("users.id"), nullable=False),
    sa.Column("active_version", sa.Integer, nullable=False),
    sa.Column("deployment_chat", sa.Boolean, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False, index=True),
    sa.Column("updated_at", Moment, nullable=False),
)

agent_versions = sa.Table(
    "agent_versions",
    metadata,
    sa.Column("agent_id", sa.ForeignKey("agents.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    # description, instructions, tools, handoffs, metadata, completion_args, guardrails
    sa.Column("settings", sa.JSON, nullable=False),
    sa.Column("message", sa.Text),
    sa.Column("created_at", Moment, nullable=False),
)

agent_aliases = sa.Table(
    "agent_aliases",
    metadata,
    sa.Column("agent_id", sa.ForeignKey("agents.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("alias", sa.String(64), primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
)

libraries = sa.Table(
    "libraries",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    _reference("organisation_id", "organisations.id"),
    sa.Column("owner_id", sa.String(36), nullable=False),
    sa.Column("owner_type", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("description", sa.Text),
    sa.Column("chunk_size", sa.Integer),
    sa.Column("emoji", sa.Text),
    sa.Column("created_at", Moment, nullable=False, index=True),
    sa.Column("updated_at", Moment, nullable=False),
    # First chunk id, a multiple of `CHUNKS_PER_LIBRARY`: a search in a library
    # is a search in a range of ids.
    sa.Column("number", sa.Integer, nullable=False, index=True, unique=True),
    # Incremented when searchable text is added, changed or removed.
    sa.Column("revision", sa.Integer, nullable=False, server_default="0"),
    # The model of the series that answers; the version is incremented when its vectors change.
    sa.Column("embedding_model", sa.Text, nullable=False, server_default=OWN_EMBEDDING),
    sa.Column(
        "embedding_dimensions", sa.Integer, nullable=False, server_default=str(OWN_DIMENSIONS)
    ),
    sa.Column("embedding_version", sa.Integer, nullable=False, server_default="0"),
    sa.Column("embedding_series", sa.Integer, nullable=False, server_default="0"),
    # The model that is to take its place; its series gets a new number with each change.
    sa.Column("next_embedding_model", sa.Text),
    sa.Column("next_embedding_dimensions", sa.Integer),
    sa.Column("next_embedding_series", sa.Integer, nullable=False, server_default="1"),
    sa.Column("embedding_error", sa.Text),
)

library_shares = sa.Table(
    "library_shares",
    metadata,
    sa.Column("library_id", sa.ForeignKey("libraries.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("share_with_type", sa.String(16), primary_key=True),
    sa.Column("share_with_uuid", sa.String(36), primary_key=True),
    sa.Column("organisation_id", sa.String(36), nullable=False),
    sa.Column("role", sa.Text, nullable=False),
)

documents = sa.Table(
    "documents",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    _reference("library_id", "libraries.id"),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("blob", sa.String(64), nullable=False, index=True),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("mime_type", sa.Text),
    sa.Column("extension", sa.Text),
    sa.Column("uploaded_by_id", sa.String(36), nullable=False),
    sa.Column("uploaded_by_type", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False, index=True),
    sa.Column("expires_at", Moment),
    sa.Column("attributes", sa.JSON),
    sa.Column("summary", sa.Text),
    sa.Column("process_status", sa.String(32), nullable=False, index=True),
    # Incremented by each (re)processing: late steps of an older one are refused.
    sa.Column("generation", sa.Integer, nullable=False),
    # The generation whose text is searchable; null before the first is done.
    sa.Column("indexed_generation", sa.Integer),
    # The generation that was summarised, or whose summary was given up.
    sa.Column("summarised_generation", sa.Integer),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    sa.Column("not_before", Moment),
    sa.Column("error", sa.Text),
    sa.Column("last_processed_at", Moment),
    sa.Column("number_of_pages", sa.Integer),
    # The blob of the OCR result as JSON, for documents that went through OCR.
    sa.Column("ocr_blob", sa.String(64), index=True),
    sa.Column("tokens_main", sa.BigInteger),
    sa.Column("tokens_summary", sa.BigInteger),
    sa.Column("tokens_total", sa.BigInteger, nullable=False, server_default="0"),
    sa.UniqueConstraint("library_id", "blob"),
    sa.Index(None, "library_id", "indexed_generation", "id"),
    sa.Index("ix_documents_listed", "library_id", "created_at", "id", "expires_at"),
    _expiry_index("documents"),
    _partial_index(
        "ix_documents_unsummarised",
        "last_processed_at",
        "summarised_generation IS DISTINCT FROM indexed_generation",
        "summarised_generation IS NOT indexed_generation",
    ),
)

# Documents that were added together, by the files that they came from.
file_batches = sa.Table(
    "file_batches",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    _reference("library_id", "libraries.id"),
    # The ids of the files by those of the documents.
    sa.Column("files", sa.JSON, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
)

document_pages = sa.Table(
    "document_pages",
    metadata,
    sa.Column("document_id", sa.ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("generation", sa.Integer, primary_key=True),
    sa.Column("page", sa.Integer, primary_key=True),
    sa.Column("markdown", sa.Text, nullable=False),
    # Positions on the page of parts of the Markdown, where known.
    sa.Column("layout", sa.JSON),
)

CHUNKS_PER_LIBRARY = 2**32
"""The ids of a library's chunks are a range, so that an index finds them without a join."""

chunks = sa.Table(
    "chunks",
    metadata,
    # The row id of the full-text indexes; only searchable text has chunks.
    sa.Column("id", BigId, primary_key=True, autoincrement=False),
    _reference("document_id", "documents.id"),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("page", sa.Integer, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    # The text cut into words and pairs of characters, where its script has no spaces.
    sa.Column("segmented", sa.Text),
    # As in a page, for this part of it.
    sa.Column("layout", sa.JSON),
    sa.UniqueConstraint("document_id", "position"),
)

# The vectors of chunks in series: one of a library answers, the next grows beside it, and those
# of neither are removed in the background.
vectors = sa.Table(
    "vectors",
    metadata,
    sa.Column(
        "chunk_id",
        BigId,
        sa.ForeignKey("chunks.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    sa.Column("series", sa.Integer, primary_key=True, autoincrement=False),
    # 16-bit floats.
    sa.Column("vector", sa.LargeBinary, nullable=False),
    # The vectors of its sentences, one after another, each of 8-bit integers.
    sa.Column("sentences", sa.LargeBinary),
)

# The distinct words of a document's searchable text; triggers count them in `words`.
document_words = sa.Table(
    "document_words",
    metadata,
    sa.Column("document_id", sa.ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("words", sa.JSON, nullable=False),
)

words = sa.Table(
    "words",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    # Compared character by character, as SQLite does.
    sa.Column(
        "word",
        sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
        nullable=False,
        unique=True,
    ),
    sa.Column("documents", sa.Integer, nullable=False),
)

batch_jobs = sa.Table(
    "batch_jobs",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    _reference("organisation_id", "organisations.id"),
    _reference("user_id", "users.id"),
    sa.Column("endpoint", sa.Text, nullable=False),
    # The ids of the files as sent; the bytes are those of `batch_inputs`.
    sa.Column("input_files", sa.JSON, nullable=False),
    sa.Column("model", sa.Text),
    sa.Column("agent_id", sa.Text),
    sa.Column("metadata", sa.JSON),
    # Of the files that it makes.
    sa.Column("visibility", sa.Text, nullable=False),
    sa.Column("status", sa.String(32), nullable=False, index=True),
    sa.Column("errors", sa.JSON, nullable=False),
    sa.Column("created_at", Moment, nullable=False, index=True),
    sa.Column("started_at", Moment),
    sa.Column("completed_at", Moment),
    sa.Column("deadline", Moment, nullable=False),
    sa.Column("total", sa.Integer, nullable=False),
    sa.Column("succeeded", sa.Integer, nullable=False),
    sa.Column("failed", sa.Integer, nullable=False),
    sa.Column("output_file", sa.String(36)),
    sa.Column("error_file", sa.String(36)),
)

# An unfinished batch keeps its bytes and its answers here; a finished one has files.
batch_inputs = sa.Table(
    "batch_inputs",
    metadata,
    sa.Column("job_id", sa.ForeignKey("batch_jobs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("blob", sa.String(64), nullable=False, index=True),
)

batch_lines = sa.Table(
    "batch_lines",
    metadata,
    sa.Column("job_id", sa.ForeignKey("batch_jobs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("custom_id", sa.Text, nullable=False),
    # Where its bytes are: the input's position, and the place in it.
    sa.Column("input", sa.Integer, nullable=False),
    sa.Column("start", sa.BigInteger, nullable=False),
    sa.Column("length", sa.Integer, nullable=False),
    # The answer, null before there is one.
    sa.Column("status", sa.Integer),
    sa.Column("response", sa.Text),
)

conversations = sa.Table(
    "conversations",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    _reference("organisation_id", "organisations.id"),
    _reference("user_id", "users.id"),
    # agent_id and agent_version; or model, instructions and tools; completion_args
    sa.Column("partner", sa.JSON, nullable=False),
    sa.Column("name", sa.Text),
    sa.Column("description", sa.Text),
    sa.Column("metadata", sa.JSON),
    sa.Column("created_at", Moment, nullable=False, index=True),
    sa.Column("updated_at", Moment, nullable=False),
)

conversation_entries = sa.Table(
    "conversation_entries",
    metadata,
    sa.Column(
        "conversation_id",
        sa.ForeignKey("conversations.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("entry", sa.JSON, nullable=False),
)

# Deleted items, under their own ids.
trash = sa.Table(
    "trash",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    _reference("organisation_id", "organisations.id"),
    _reference("user_id", "users.id"),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("name", sa.Text),
    sa.Column("library_id", sa.String(36)),
    sa.Column("deleted_at", Moment, nullable=False),
    sa.Column("expires_at", Moment, nullable=False),
)

# Their rows, in the order in which they go back.
trash_rows = sa.Table(
    "trash_rows",
    metadata,
    sa.Column("item_id", sa.ForeignKey("trash.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("table", sa.String(32), nullable=False),
    sa.Column("row", sa.JSON, nullable=False),
    # Of the row, where it has them.
    sa.Column("blob", sa.String(64), index=True),
    sa.Column("ocr_blob", sa.String(64), index=True),
)

# What the servers of one database have in common; a server alone keeps them in its folder.
secrets = sa.Table(
    "secrets",
    metadata,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

# The processes that take jobs from the database, with their last sign of life.
workers = sa.Table(
    "workers",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("seen_at", Moment, nullable=False),
)
