"""Batch jobs: their rows, and the lines of the unfinished ones.

An answer and its count are written in one transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from carrel.server.records import files
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import Conflict
from carrel.server.records.sql.conditions import find, list_after
from carrel.server.records.sql.ids import new_id
from carrel.server.records.sql.tables import batch_inputs, batch_jobs, batch_lines, whole_seconds
from carrel.wire.batches import UNFINISHED, BatchCreate, BatchJob, BatchList, BatchQuery
from carrel.wire.id_lists import IdQuery


@dataclass(frozen=True)
class NewLine:
    """A request: its id, and the place of its bytes in an input."""

    custom_id: str
    input: int
    start: int
    length: int


@dataclass(frozen=True)
class PendingLine(NewLine):
    """A request of a batch, by its number from 0."""

    number: int


@dataclass(frozen=True)
class AnsweredLine:
    """A request's answer as JSON text, with the status of its HTTP answer."""

    number: int
    custom_id: str
    status: int
    response: str


@dataclass(frozen=True)
class Work:
    """A batch to work off."""

    id: str
    caller: Caller
    endpoint: str
    model: str | None
    agent_id: str | None
    visibility: str
    cancelled: bool
    deadline: datetime
    inputs: list[str]
    """The blobs with its requests."""


def create(
    connection: sa.Connection,
    caller: Caller,
    request: BatchCreate,
    *,
    visibility: str,
    inputs: Sequence[str],
    lines: Sequence[NewLine],
) -> BatchJob:
    """Add a batch; `inputs` are the blobs of its lines."""
    id, now = new_id(), datetime.now(UTC)
    connection.execute(
        batch_jobs.insert().values(
            id=id,
            organisation_id=caller.organisation_id,
            user_id=caller.user_id,
            endpoint=request.endpoint,
            input_files=request.input_files or [],
            model=request.model,
            agent_id=request.agent_id,
            metadata=request.metadata,
            visibility=visibility,
            status="QUEUED",
            errors=[],
            created_at=now,
            deadline=now + timedelta(hours=request.timeout_hours),
            total=len(lines),
            succeeded=0,
            failed=0,
        )
    )
    connection.execute(
        batch_inputs.insert(),
        [{"job_id": id, "position": at, "blob": blob} for at, blob in enumerate(inputs)],
    )
    connection.execute(
        batch_lines.insert(),
        [{"job_id": id, "number": at, **vars(line)} for at, line in enumerate(lines)],
    )
    return get(connection, caller, id)


def get(connection: sa.Connection, caller: Caller, id: str) -> BatchJob:
    """Return a batch of the caller's organisation.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    return _job(_find(connection, caller, id))


def page(connection: sa.Connection, caller: Caller, query: BatchQuery) -> BatchList:
    """Return a page of the batches of the caller's organisation."""
    wanted = [batch_jobs.c.organisation_id == caller.organisation_id, *_filters(caller, query)]
    rising = query.order_by == "created"
    order = [
        column.asc() if rising else column.desc()
        for column in (batch_jobs.c.created_at, batch_jobs.c.id)
    ]
    listed = sa.select(batch_jobs).where(*wanted).order_by(*order)
    first = query.page * query.page_size
    if query.metadata:
        # Compared in Python: metadata values have any shape.
        expected = query.metadata.items()
        rows = [
            row
            for row in connection.execute(listed)
            if expected <= (row._mapping["metadata"] or {}).items()
        ]
        total, rows = len(rows), rows[first : first + query.page_size]
    else:
        counted = sa.select(sa.func.count()).select_from(batch_jobs).where(*wanted)
        total = connection.scalar(counted) or 0
        rows = list(connection.execute(listed.limit(query.page_size).offset(first)))
    return BatchList(data=[_job(row) for row in rows], total=total)


def page_after(
    connection: sa.Connection, caller: Caller, query: IdQuery
) -> tuple[list[BatchJob], bool]:
    """Return a page of batches, and whether there are more.

    Raises:
        NotFound: there is no batch of the id `after`.
    """
    wanted = sa.select(batch_jobs).where(batch_jobs.c.organisation_id == caller.organisation_id)
    last = None if query.after is None else _find(connection, caller, query.after)
    rows, more = list_after(connection, batch_jobs, wanted, query, last)
    return [_job(row) for row in rows], more


def cancel(connection: sa.Connection, caller: Caller, id: str) -> BatchJob:
    """End a waiting batch, and ask a running one to end. An ended one does not change.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    row = _find(connection, caller, id)
    if row.status == "QUEUED":
        _end(connection, id, status="CANCELLED")
    elif row.status == "RUNNING":
        connection.execute(
            batch_jobs.update().where(batch_jobs.c.id == id).values(status="CANCELLATION_REQUESTED")
        )
    return get(connection, caller, id)


def delete(connection: sa.Connection, caller: Caller, id: str) -> None:
    """Delete a batch that has ended; its files stay.

    Raises:
        NotFound, or Conflict while it waits or runs.
    """
    if _find(connection, caller, id).status in UNFINISHED:
        raise Conflict("This batch has not ended. Cancel it before you delete it.")
    connection.execute(batch_jobs.delete().where(batch_jobs.c.id == id))


def list_unfinished(connection: sa.Connection) -> list[str]:
    """Return the ids of the batches that wait or run."""
    query = sa.select(batch_jobs.c.id).where(batch_jobs.c.status.in_(UNFINISHED))
    return list(connection.scalars(query))


def begin(connection: sa.Connection, id: str) -> Work | None:
    """Mark a batch as running and return its work, None if it is gone or has ended."""
    row = connection.execute(sa.select(batch_jobs).where(batch_jobs.c.id == id)).one_or_none()
    if row is None or row.status not in UNFINISHED:
        return None
    if row.status == "QUEUED":
        connection.execute(
            batch_jobs.update()
            .where(batch_jobs.c.id == id)
            .values(status="RUNNING", started_at=datetime.now(UTC))
        )
    inputs = sa.select(batch_inputs.c.blob).where(batch_inputs.c.job_id == id)
    return Work(
        id=id,
        caller=Caller(row.organisation_id, row.user_id),
        endpoint=row.endpoint,
        model=row.model,
        agent_id=row.agent_id,
        visibility=row.visibility,
        cancelled=row.status == "CANCELLATION_REQUESTED",
        deadline=row.deadline,
        inputs=list(connection.scalars(inputs.order_by(batch_inputs.c.position))),
    )


def is_cancelled(connection: sa.Connection, id: str) -> bool:
    """Return whether a running batch was asked to end."""
    query = sa.select(batch_jobs.c.status).where(batch_jobs.c.id == id)
    return connection.scalar(query) == "CANCELLATION_REQUESTED"


def next_unanswered(
    connection: sa.Connection, id: str, after: int, limit: int
) -> list[PendingLine]:
    """Return the next lines without an answer, after the number `after`."""
    lines = batch_lines.c
    query = (
        sa.select(lines.custom_id, lines.input, lines.start, lines.length, lines.number)
        .where(lines.job_id == id, lines.number > after, lines.status.is_(None))
        .order_by(lines.number)
        .limit(limit)
    )
    return [PendingLine(*row) for row in connection.execute(query)]


def record(connection: sa.Connection, id: str, number: int, status: int, response: str) -> bool:
    """Write a line's answer, once; return whether the batch goes on."""
    written = connection.execute(
        batch_lines.update()
        .where(
            batch_lines.c.job_id == id,
            batch_lines.c.number == number,
            batch_lines.c.status.is_(None),
        )
        .values(status=status, response=response)
    ).rowcount
    counted = batch_jobs.c.failed if status >= 400 else batch_jobs.c.succeeded
    now = connection.scalar(
        batch_jobs.update()
        .where(batch_jobs.c.id == id)
        .values({counted: counted + written})
        .returning(batch_jobs.c.status)
    )
    return bool(now == "RUNNING")


def next_answered(
    connection: sa.Connection, id: str, *, failed: bool, after: int, limit: int
) -> list[AnsweredLine]:
    """Return the next answered or failed lines after the number `after`."""
    lines = batch_lines.c
    query = (
        sa.select(lines.number, lines.custom_id, lines.status, lines.response)
        .where(
            lines.job_id == id,
            lines.number > after,
            lines.status >= 400 if failed else lines.status < 400,
        )
        .order_by(lines.number)
        .limit(limit)
    )
    return [AnsweredLine(*row) for row in connection.execute(query)]


def finish(
    connection: sa.Connection,
    work: Work,
    *,
    late: bool,
    succeeded: int,
    failed: int,
    errors: list[dict[str, Any]],
    output: dict[str, Any] | None,
    error: dict[str, Any] | None,
) -> str | None:
    """End a batch and return its status, None if it was ended meanwhile.

    `output` and `error` are columns of the files made, for answers and for failures. A batch fails
    when every request failed.
    """
    # Asked again: it may have been cancelled meanwhile.
    current = begin(connection, work.id)
    if current is None:
        return None
    status = "SUCCESS" if succeeded else "FAILED"
    if current.cancelled or late:
        status = "CANCELLED" if current.cancelled else "TIMEOUT_EXCEEDED"
    _end(
        connection,
        work.id,
        status=status,
        succeeded=succeeded,
        failed=failed,
        errors=errors,
        output_file=output and files.insert(connection, work.caller, output).id,
        error_file=error and files.insert(connection, work.caller, error).id,
    )
    return status


def _end(connection: sa.Connection, id: str, **values: Any) -> None:
    connection.execute(
        batch_jobs.update()
        .where(batch_jobs.c.id == id)
        .values(completed_at=datetime.now(UTC), **values)
    )
    for table in (batch_inputs, batch_lines):
        connection.execute(table.delete().where(table.c.job_id == id))


def _find(connection: sa.Connection, caller: Caller, id: str) -> sa.Row[Any]:
    query = sa.select(batch_jobs).where(
        batch_jobs.c.organisation_id == caller.organisation_id, batch_jobs.c.id == id
    )
    return find(connection, query, "batch", id)


def _filters(caller: Caller, query: BatchQuery) -> list[sa.ColumnElement[bool]]:
    columns = batch_jobs.c
    filters: list[sa.ColumnElement[bool]] = []
    if query.model:
        filters.append(columns.model == query.model)
    if query.agent_id:
        filters.append(columns.agent_id == query.agent_id)
    if query.created_after:
        filters.append(columns.created_at > query.created_after)
    if query.created_by_me:
        filters.append(columns.user_id == caller.user_id)
    if query.status:
        filters.append(columns.status.in_(query.status))
    return filters


def _job(row: sa.Row[Any]) -> BatchJob:
    further = {
        "created_at": whole_seconds(row.created_at),
        "started_at": whole_seconds(row.started_at),
        "completed_at": whole_seconds(row.completed_at),
        "total_requests": row.total,
        "completed_requests": row.succeeded + row.failed,
        "succeeded_requests": row.succeeded,
        "failed_requests": row.failed,
    }
    return BatchJob(**{**row._asdict(), **further})
