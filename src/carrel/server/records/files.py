"""Files: rows that name a blob."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter

from carrel.server.records import trash
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import NotFound
from carrel.server.records.sql.conditions import (
    NOW,
    comes_after,
    contains,
    find,
    has_expired,
    is_unexpired,
)
from carrel.server.records.sql.tables import Moment, files
from carrel.wire.files import File, FileList, FileQuery

_FIELDS = [name for name in File.model_fields if name in files.c]
# A moment is in whole seconds in the interface.
_COLUMNS = [
    (sa.type_coerce(column, sa.BigInteger) // 1_000_000).label(column.name)
    if isinstance(column.type, Moment)
    else column
    for column in (files.c[name] for name in _FIELDS)
]
_SEEN = sa.and_(
    files.c.organisation_id == sa.bindparam("organisation"),
    sa.or_(files.c.visibility == "workspace", files.c.user_id == sa.bindparam("user")),
    is_unexpired(files, NOW),
)
# Building them takes as long as asking.
_PAGE = (
    sa.select(*_COLUMNS)
    .where(_SEEN)
    .order_by(files.c.created_at.desc(), files.c.id.desc())
    .limit(sa.bindparam("most"))
    .offset(sa.bindparam("first"))
)
_TOTAL = sa.select(sa.func.count()).select_from(files).where(_SEEN)
_FILES = TypeAdapter(list[File])


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
        .returning(*_COLUMNS)
    )
    return File(**row.mappings().one())


def get(connection: sa.Connection, caller: Caller, id: str) -> StoredFile:
    """Return a file the caller may see.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    found = _find(connection, _SEEN, id, **_as_seen_by(caller))
    if found is None:
        raise NotFound.of("file", id)
    return found


def get_signed(connection: sa.Connection, id: str) -> StoredFile | None:
    """Return the file of a signed address, if it still exists."""
    return _find(connection, is_unexpired(files), id)


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
    seen, filters = _as_seen_by(caller), _filters(query)
    page, total = _PAGE, None
    if filters:
        page = page.where(*filters)
    if query.after is not None:
        place = sa.select(files.c.created_at, files.c.id).where(_SEEN, files.c.id == query.after)
        last = find(connection, place.params(seen), "file", query.after)
        page = page.where(comes_after(files, last))
    bounds = {"most": query.page_size + 1, "first": query.page * query.page_size}
    rows = connection.execute(page, seen | bounds).all()
    has_more = len(rows) > query.page_size
    if query.include_total:
        total = connection.scalar(_TOTAL.where(*filters) if filters else _TOTAL, seen)
    data = [dict(zip(_FIELDS, row, strict=True)) for row in rows[: query.page_size]]
    return FileList(data=_FILES.validate_python(data), total=total, has_more=has_more)


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


def _as_seen_by(caller: Caller) -> dict[str, Any]:
    """Return the parameters of `_SEEN`."""
    return {
        "organisation": caller.organisation_id,
        "user": caller.user_id,
        "now": datetime.now(UTC),
    }


def _find(
    connection: sa.Connection, condition: sa.ColumnElement[bool], id: str, **parameters: Any
) -> StoredFile | None:
    query = sa.select(*_COLUMNS, files.c.blob).where(condition, files.c.id == id)
    row = connection.execute(query, parameters).mappings().one_or_none()
    return None if row is None else StoredFile(File(**row), row["blob"])
