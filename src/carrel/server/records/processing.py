"""How far the processing of a document is: its status, its pages and its chunks.

A document's processing has a generation, raised by every new start. What an older one still
wants to write is refused, and a new one's text replaces the old in one transaction.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from carrel.server.records.tables import chunks, document_pages, documents, libraries

UNFINISHED = ("todo", "in_progress", "waiting_for_capacity")
"""The statuses that are not final."""


class Superseded(Exception):
    """The document is gone, or is being processed anew: this processing has no use any more."""


@dataclass(frozen=True)
class Job:
    """One processing of one document."""

    document_id: str
    generation: int


@dataclass(frozen=True)
class Source:
    """What a processing starts from."""

    blob: str
    mime_type: str | None
    chunk_size: int | None


@dataclass(frozen=True)
class Outcome:
    """What a processing found out about its document."""

    pages: int
    tokens: int
    ocr_blob: str | None


def restart(connection: sa.Connection, document_id: str) -> Job:
    """Starts a new generation; the text of the old one stays until the new one is published."""
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


def begin(connection: sa.Connection, job: Job) -> Source:
    """Marks the document as being worked on.

    Raises:
        Superseded: there is nothing to do.
    """
    _set(connection, job, process_status="in_progress")
    return source(connection, job)


def source(connection: sa.Connection, job: Job) -> Source:
    """What this processing starts from.

    Raises:
        Superseded: it has no use any more.
    """
    query = (
        sa.select(documents.c.blob, documents.c.mime_type, libraries.c.chunk_size)
        .join(libraries)
        .where(_current(job))
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        raise Superseded
    return Source(row.blob, row.mime_type, row.chunk_size)


def save_pages(connection: sa.Connection, job: Job, pages: Iterable[tuple[int, str]]) -> None:
    """Stores the pages of this generation, each a number and its Markdown."""
    _require_current(connection, job)
    connection.execute(document_pages.delete().where(*_of(document_pages, job)))
    rows = [
        {
            "document_id": job.document_id,
            "generation": job.generation,
            "page": number,
            "markdown": markdown,
        }
        for number, markdown in pages
    ]
    if rows:
        connection.execute(document_pages.insert(), rows)


def pages(connection: sa.Connection, job: Job) -> list[tuple[int, str]]:
    """The stored pages of this generation."""
    query = sa.select(document_pages.c.page, document_pages.c.markdown)
    query = query.where(*_of(document_pages, job)).order_by(document_pages.c.page)
    return [(row.page, row.markdown) for row in connection.execute(query)]


def save_chunks(connection: sa.Connection, job: Job, new: Sequence[tuple[int, str]]) -> None:
    """Stores the chunks of this generation in their order, each a page number and its text."""
    _require_current(connection, job)
    connection.execute(chunks.delete().where(*_of(chunks, job)))
    library_id = connection.scalar(
        sa.select(documents.c.library_id).where(documents.c.id == job.document_id)
    )
    rows = [
        {
            "document_id": job.document_id,
            "library_id": library_id,
            "generation": job.generation,
            "position": position,
            "page": page,
            "text": text,
        }
        for position, (page, text) in enumerate(new)
    ]
    if rows:
        connection.execute(chunks.insert(), rows)


def chunk_texts(connection: sa.Connection, job: Job) -> list[tuple[int, str]]:
    """The stored chunks of this generation: id and text, in their order."""
    query = sa.select(chunks.c.id, chunks.c.text).where(*_of(chunks, job))
    return [(row.id, row.text) for row in connection.execute(query.order_by(chunks.c.position))]


def save_vectors(connection: sa.Connection, job: Job, vectors: Iterable[tuple[int, bytes]]) -> None:
    """Stores the vectors of chunks, each a chunk's id and its vector's bytes."""
    _require_current(connection, job)
    update = chunks.update().where(chunks.c.id == sa.bindparam("chunk_id"))
    rows = [{"chunk_id": id, "vector": vector} for id, vector in vectors]
    if rows:
        connection.execute(update.values(vector=sa.bindparam("vector")), rows)


def publish(connection: sa.Connection, job: Job, outcome: Outcome) -> None:
    """Makes this generation the searchable one, removes the others, and ends the processing.

    Its tokens are added to the document's total, once however often this step is repeated.
    """
    published = documents.c.indexed_generation.is_not_distinct_from(job.generation)
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
    _remove(connection, job.document_id, keep=job.generation)


def postpone(connection: sa.Connection, job: Job, error: str, seconds: float) -> None:
    """Counts an attempt that failed; the next is due in so many seconds."""
    _set(
        connection,
        job,
        process_status="todo",
        attempts=documents.c.attempts + 1,
        error=error,
        not_before=datetime.now(UTC) + timedelta(seconds=seconds),
    )


def fail(connection: sa.Connection, job: Job, error: str) -> None:
    """Ends the processing without a result; the text of the generation before stays."""
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
    _remove(connection, job.document_id, keep=indexed)


def attempts(connection: sa.Connection, job: Job) -> int:
    """How many attempts of this processing have failed.

    Raises:
        Superseded: it has no use any more.
    """
    failed: int | None = connection.scalar(sa.select(documents.c.attempts).where(_current(job)))
    if failed is None:
        raise Superseded
    return failed


def unfinished(connection: sa.Connection) -> list[Job]:
    """Every processing that has not come to its end."""
    query = sa.select(documents.c.id, documents.c.generation)
    query = query.where(documents.c.process_status.in_(UNFINISHED)).order_by(documents.c.not_before)
    return [Job(row.id, row.generation) for row in connection.execute(query)]


def _current(job: Job) -> sa.ColumnElement[bool]:
    return sa.and_(
        documents.c.id == job.document_id,
        documents.c.generation == job.generation,
        documents.c.process_status.in_(UNFINISHED),
    )


def _require_current(connection: sa.Connection, job: Job) -> None:
    if connection.scalar(sa.select(documents.c.id).where(_current(job))) is None:
        raise Superseded


def _set(connection: sa.Connection, job: Job, **values: Any) -> None:
    if connection.execute(documents.update().where(_current(job)).values(**values)).rowcount == 0:
        raise Superseded


def _of(table: sa.Table, job: Job) -> tuple[sa.ColumnElement[bool], ...]:
    return table.c.document_id == job.document_id, table.c.generation == job.generation


def _remove(connection: sa.Connection, document_id: str, keep: int | None) -> None:
    for table in (chunks, document_pages):
        others = table.delete().where(table.c.document_id == document_id)
        if keep is not None:
            others = others.where(table.c.generation != keep)
        connection.execute(others)
