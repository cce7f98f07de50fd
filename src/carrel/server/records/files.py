"""Files: rows that name a blob."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from carrel.server.records import trash
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import NotFound
from carrel.server.records.sql.conditions import comes_after, contains, has_expired, not_expired
from carrel.server.records.sql.tables import files, whole_seconds
from carrel.wire.files import File, FileList, FileQuery


@dataclass(frozen=True)
class StoredFile:
    """A file's public face, and where its bytes are."""

    file: File
    blob: str

    @property
    def mimetype(self) -> str:
        return self.file.mimetype or "application/octet-stream"


def insert(connection: sa.Connection, caller: Caller, values: dict[str, Any]) -> File:
    """Add a file of the caller's organisation; `values` are columns of the table."""
    row = connection.execute(
        files.insert()
        .values(organisation_id=caller.organisation_id, user_id=caller.user_id, **values)
        .returning(files)
    ).one()
    return _file(row)


def get(connection: sa.Connection, caller: Caller, id: str) -> StoredFile:
    """Return a file the caller may see.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    query = sa.select(files).where(_visible(caller), files.c.id == id)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound.of("file", id)
    return StoredFile(_file(row), row.blob)


def get_signed(connection: sa.Connection, id: str) -> StoredFile | None:
    """Return the file of a signed address, if it still exists."""
    query = sa.select(files).where(not_expired(files), files.c.id == id)
    row = connection.execute(query).one_or_none()
    return None if row is None else StoredFile(_file(row), row.blob)


def delete(connection: sa.Connection, caller: Caller, id: str, trash_days: int) -> None:
    """Move a file the caller may see to the trash.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    name = get(connection, caller, id).file.filename
    trash.delete(connection, caller, "file", id, name, days=trash_days)


def delete_expired(connection: sa.Connection) -> int:
    """Delete expired files; return their number."""
    return connection.execute(files.delete().where(has_expired(files))).rowcount


def page(connection: sa.Connection, caller: Caller, query: FileQuery) -> FileList:
    """Return a page of the files the caller may see, newest first.

    Raises:
        NotFound: there is no file to come after.
    """
    wanted = [_visible(caller), *_filters(query)]
    following = []
    if query.after is not None:
        last = sa.select(files).where(_visible(caller), files.c.id == query.after)
        row = connection.execute(last).one_or_none()
        if row is None:
            raise NotFound.of("file", query.after)
        following.append(comes_after(files, row))
    rows = connection.execute(
        sa.select(files)
        .where(*wanted, *following)
        .order_by(files.c.created_at.desc(), files.c.id.desc())
        .limit(query.page_size + 1)
        .offset(query.page * query.page_size)
    ).all()
    data = [_file(row) for row in rows[: query.page_size]]
    total = None
    if query.include_total:
        total = connection.scalar(sa.select(sa.func.count()).select_from(files).where(*wanted))
    return FileList(data=data, total=total, has_more=len(rows) > query.page_size)


def _filters(query: FileQuery) -> list[sa.ColumnElement[bool]]:
    filters: list[sa.ColumnElement[bool]] = []
    several: tuple[tuple[sa.Column[Any], Sequence[str] | None], ...] = (
        (files.c.sample_type, query.sample_type),
        (files.c.source, query.source),
        (files.c.mimetype, query.mimetypes),
    )
    filters += [column.in_(values) for column, values in several if values]
    if query.purpose:
        filters.append(files.c.purpose == query.purpose)
    if query.search:
        filters.append(contains(files.c.filename, query.search))
    return filters


def _visible(caller: Caller) -> sa.ColumnElement[bool]:
    return sa.and_(
        files.c.organisation_id == caller.organisation_id,
        sa.or_(files.c.visibility == "workspace", files.c.user_id == caller.user_id),
        not_expired(files),
    )


def _file(row: sa.Row[Any]) -> File:
    moments = {
        "created_at": whole_seconds(row.created_at),
        "expires_at": whole_seconds(row.expires_at),
    }
    return File(**{**row._asdict(), **moments})
