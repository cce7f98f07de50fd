"""The processing of a document: its status, its pages and its chunks.

A document's processing has a generation, incremented by each start. Writes of an older one
are refused, and a new one's text replaces the old in one transaction. Only
searchable text has chunks.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self

import sqlalchemy as sa

from carrel.server.records import embeddings
from carrel.server.records.documents import FIRST_GENERATION
from carrel.server.records.embeddings import StoredVector
from carrel.server.records.sql.tables import (
    CHUNKS_PER_LIBRARY,
    OWN_EMBEDDING,
    chunks,
    document_pages,
    document_words,
    documents,
    libraries,
)

UNFINISHED = ("todo", "in_progress", "waiting_for_capacity")
"""The statuses that are not final."""

# Built once: every document runs them. A list of statuses would be expanded each time.
_CURRENT = sa.and_(
    documents.c.id == sa.bindparam("job_document"),
    documents.c.generation == sa.bindparam("job_generation"),
    sa.or_(*(documents.c.process_status == status for status in UNFINISHED)),
)
_SOURCE = (
    sa.select(
        documents.c.blob,
        documents.c.mime_type,
        documents.c.size,
        libraries.c.chunk_size,
        documents.c.library_id,
        libraries.c.embedding_model,
        # Only the trash leaves a result without indexed text.
        sa.case((documents.c.indexed_generation.is_(None), documents.c.ocr_blob)),
    )
    .join(libraries)
    .where(_CURRENT)
)
_ATTEMPTS = sa.select(documents.c.attempts).where(_CURRENT)
# Locked where rows can be: the document stays current until the transaction ends, and documents
# of a library are published one after another.
_DOCUMENT = sa.select(documents.c.indexed_generation).where(_CURRENT).with_for_update()
_WITH_LIBRARY = (
    sa.select(
        documents.c.indexed_generation,
        libraries.c.number,
        libraries.c.embedding_model,
        libraries.c.embedding_dimensions,
        libraries.c.embedding_series,
        libraries.c.next_embedding_model,
    )
    .join(libraries)
    .where(_CURRENT)
    .with_for_update()
)
_NEWEST_CHUNK = sa.select(sa.func.max(chunks.c.id)).where(
    chunks.c.id.between(sa.bindparam("first"), sa.bindparam("last"))
)


class Superseded(Exception):
    """The document was deleted or is being processed again: this processing is obsolete."""


class Job(NamedTuple):
    """One processing of one document, and its key in the queue."""

    document_id: str
    generation: int

    @classmethod
    def of(cls, key: Sequence[str | int]) -> Self:
        """Return the job of a key, whose parts may be text."""
        document_id, generation = key
        return cls(str(document_id), int(generation))


@dataclass(frozen=True)
class ProcessingInput:
    """The input of a processing.

    `ocr_blob` is the stored OCR result of a restored document, which is not read again.
    """

    blob: str
    mime_type: str | None
    size: int
    chunk_size: int | None
    library_id: str
    embedding_model: str
    ocr_blob: str | None


@dataclass(frozen=True)
class PageRow:
    """A page as it was read: its number, its Markdown, and their positions on the page."""

    page: int
    markdown: str
    layout: dict[str, Any] | None


@dataclass(frozen=True)
class ChunkText:
    """A passage of a page, the unit of search results."""

    page: int
    text: str
    segmented: str | None
    layout: dict[str, Any] | None


@dataclass(frozen=True)
class ProcessingOutcome:
    """The result of a processing; `words` are the distinct words of the text.

    The vectors, one a chunk, are those of `embedding_model`, None where it did not answer.
    """

    pages: int
    tokens: int
    ocr_blob: str | None
    chunks: Sequence[ChunkText]
    words: Sequence[str]
    vectors: Sequence[StoredVector | None]
    embedding_model: str = OWN_EMBEDDING


@dataclass(frozen=True)
class Unsummarised:
    """A searchable document without a summary, and the beginning of its text."""

    document_id: str
    generation: int
    text: str


def restart(connection: sa.Connection, document_id: str) -> Job:
    """Start a new generation; the text of the old one stays until the new one is published."""
    generation = connection.execute(
        documents.update()
        .where(documents.c.id == document_id)
        .values(
            generation=documents.c.generation + 1,
            process_status="todo",
            attempts=0,
            error=None,
            not_before=datetime.now(UTC),
        )
        .returning(documents.c.generation)
    ).scalar_one()
    return Job(document_id, generation)


def begin(connection: sa.Connection, job: Job) -> None:
    """Mark the document as being worked on.

    Raises:
        Superseded: there is nothing to do.
    """
    _set(connection, job, process_status="in_progress")


def source(connection: sa.Connection, job: Job) -> ProcessingInput:
    """Return the input of this processing.

    Raises:
        Superseded: it is obsolete.
    """
    row = _select_current(connection, _SOURCE, job)
    return ProcessingInput(*row)


def save_pages(connection: sa.Connection, job: Job, pages: Iterable[PageRow]) -> None:
    """Store the pages of this generation."""
    _select_current(connection, _DOCUMENT, job)
    _replace_pages(connection, job, pages)


def pages(connection: sa.Connection, job: Job) -> list[PageRow]:
    """Return the stored pages of this generation."""
    columns = document_pages.c
    query = sa.select(columns.page, columns.markdown, columns.layout)
    rows = connection.execute(query.where(*_is_page_of(job)).order_by(columns.page))
    return [PageRow(*row) for row in rows]


def publish(
    connection: sa.Connection, job: Job, outcome: ProcessingOutcome, pages: Sequence[PageRow] = ()
) -> bool:
    """Make this generation the searchable one, remove the others, and end the processing.

    `pages` are those that are not stored yet. Returns whether a model at an address is to embed
    its chunks yet. Its tokens are added to the document's total once, also when this step is
    repeated.

    Raises:
        Superseded: it is obsolete.
    """
    row = _select_current(connection, _WITH_LIBRARY, job)
    if pages:
        _replace_pages(connection, job, pages)
    published = documents.c.indexed_generation.is_not_distinct_from(job.generation)
    if row.indexed_generation is not None:
        for table in (chunks, document_words):
            connection.execute(table.delete().where(table.c.document_id == job.document_id))
    lacking = _add_chunks(connection, job.document_id, row, outcome)
    _set(
        connection,
        job,
        process_status="done",
        indexed_generation=job.generation,
        error=None,
        not_before=None,
        last_processed_at=datetime.now(UTC),
        number_of_pages=outcome.pages,
        ocr_blob=outcome.ocr_blob,
        tokens_main=outcome.tokens,
        tokens_total=documents.c.tokens_total + sa.case((published, 0), else_=outcome.tokens),
    )
    if job.generation != FIRST_GENERATION:
        _remove_pages(connection, job.document_id, keep=job.generation)
    return lacking


def next_unsummarised(
    connection: sa.Connection, before: datetime, characters: int
) -> Unsummarised | None:
    """Return the document processed first that lacks a summary, if processed `before`.

    Includes about `characters` of its text.
    """
    waiting = (
        sa.select(documents.c.id, documents.c.indexed_generation)
        .where(
            documents.c.process_status == "done",
            documents.c.last_processed_at < before,
            documents.c.summarised_generation.is_distinct_from(documents.c.indexed_generation),
        )
        .order_by(documents.c.last_processed_at)
        .limit(1)
    )
    row = connection.execute(waiting).one_or_none()
    if row is None:
        return None
    text = ""
    query = sa.select(chunks.c.text).where(chunks.c.document_id == row.id)
    for part in connection.scalars(query.order_by(chunks.c.position).limit(characters // 100)):
        text = f"{text}{part}\n\n"
        if len(text) >= characters:
            break
    return Unsummarised(row.id, row.indexed_generation, text[:characters])


def save_summary(
    connection: sa.Connection, waiting: Unsummarised, summary: str | None, tokens: int
) -> None:
    """Store a summary and its token usage, unless the text has changed since."""
    connection.execute(
        documents.update()
        .where(
            documents.c.id == waiting.document_id,
            documents.c.indexed_generation == waiting.generation,
        )
        .values(
            summary=summary,
            summarised_generation=waiting.generation,
            tokens_summary=tokens,
            tokens_total=documents.c.tokens_total + tokens,
        )
    )


def postpone(connection: sa.Connection, job: Job, error: str, seconds: float) -> None:
    """Count a failed attempt; the next is due after the given seconds."""
    _set(
        connection,
        job,
        process_status="todo",
        attempts=documents.c.attempts + 1,
        error=error,
        not_before=datetime.now(UTC) + timedelta(seconds=seconds),
    )


def fail(connection: sa.Connection, job: Job, error: str) -> None:
    """End the processing without a result; the previous generation's text stays."""
    _set(
        connection,
        job,
        process_status="error",
        attempts=documents.c.attempts + 1,
        error=error,
        not_before=None,
        last_processed_at=datetime.now(UTC),
    )
    indexed = connection.scalar(
        sa.select(documents.c.indexed_generation).where(documents.c.id == job.document_id)
    )
    _remove_pages(connection, job.document_id, keep=indexed)


def cancel(connection: sa.Connection, library_id: str, ids: Collection[str]) -> None:
    """End the first processing of documents that have no text yet; they stay without one."""
    those = (
        documents.c.library_id == library_id,
        documents.c.id.in_(ids),
        documents.c.process_status.in_(UNFINISHED),
        documents.c.indexed_generation.is_(None),
    )
    ended = connection.scalars(
        documents.update()
        .where(*those)
        .values(
            process_status="missing_content",
            error="It was cancelled before it was read. Process it again.",
            not_before=None,
            last_processed_at=datetime.now(UTC),
        )
        .returning(documents.c.id)
    ).all()
    for id in ended:
        _remove_pages(connection, id, keep=None)


def attempts(connection: sa.Connection, job: Job) -> int:
    """Return the number of failed attempts of this processing.

    Raises:
        Superseded: it is obsolete.
    """
    return int(_select_current(connection, _ATTEMPTS, job).attempts)


def list_unfinished(connection: sa.Connection) -> list[Job]:
    """Return every unfinished processing."""
    query = sa.select(documents.c.id, documents.c.generation)
    query = query.where(documents.c.process_status.in_(UNFINISHED)).order_by(documents.c.not_before)
    return [Job(row.id, row.generation) for row in connection.execute(query)]


def oldest_unfinished_seconds(connection: sa.Connection) -> float:
    """Return the age of the document that has waited longest since its upload; 0 without one."""
    query = sa.select(sa.func.min(documents.c.created_at, type_=documents.c.created_at.type))
    oldest = connection.scalar(query.where(documents.c.process_status.in_(UNFINISHED)))
    return 0.0 if oldest is None else (datetime.now(UTC) - oldest).total_seconds()


def _select_current(connection: sa.Connection, query: sa.Select[*tuple[Any, ...]], job: Job) -> Any:
    """Return the row of a query about a document that is current."""
    row = connection.execute(query, _keys(job)).one_or_none()
    if row is None:
        raise Superseded
    return row


def _set(connection: sa.Connection, job: Job, **values: Any) -> None:
    change = documents.update().where(_CURRENT).values(**values)
    if connection.execute(change, _keys(job)).rowcount == 0:
        raise Superseded


def _keys(job: Job) -> dict[str, Any]:
    return {"job_document": job.document_id, "job_generation": job.generation}


def _is_page_of(job: Job) -> tuple[sa.ColumnElement[bool], ...]:
    columns = document_pages.c
    return columns.document_id == job.document_id, columns.generation == job.generation


def _replace_pages(connection: sa.Connection, job: Job, pages: Iterable[PageRow]) -> None:
    connection.execute(document_pages.delete().where(*_is_page_of(job)))
    rows = [{**job._asdict(), **vars(page)} for page in pages]
    if rows:
        connection.execute(document_pages.insert(), rows)


def _add_chunks(
    connection: sa.Connection, document_id: str, row: Any, outcome: ProcessingOutcome
) -> bool:
    """Add the chunks of a document to its library, which is described by `row`."""
    first = row.number * CHUNKS_PER_LIBRARY
    # It may have turned to another model meanwhile, or its model to vectors of another length.
    length = 2 * row.embedding_dimensions
    unlike = row.embedding_model != outcome.embedding_model or any(
        len(stored.vector) != length for stored in outcome.vectors if stored is not None
    )
    area = {"first": first, "last": first + CHUNKS_PER_LIBRARY - 1}
    start = (connection.scalar(_NEWEST_CHUNK, area) or first) + 1
    rows = [
        {"id": start + position, "document_id": document_id, "position": position, **vars(chunk)}
        for position, chunk in enumerate(outcome.chunks)
    ]
    if rows:
        connection.execute(chunks.insert(), rows)
    present = {
        start + position: stored
        for position, stored in enumerate(outcome.vectors)
        if stored is not None and not unlike
    }
    embeddings.insert(connection, row.embedding_series, present)
    words = {"document_id": document_id, "words": list(outcome.words)}
    connection.execute(document_words.insert().values(words))
    if row.next_embedding_model is not None:
        return bool(rows)
    own = row.embedding_model == OWN_EMBEDDING and not unlike
    return not own and len(present) < len(rows)


def _remove_pages(connection: sa.Connection, document_id: str, keep: int | None) -> None:
    columns = document_pages.c
    others = document_pages.delete().where(columns.document_id == document_id)
    if keep is not None:
        others = others.where(columns.generation != keep)
    connection.execute(others)
