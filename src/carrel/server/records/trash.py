"""The trash: the rows of deleted items, kept as they were until they expire.

The rows leave their tables, so no list, search or quota includes them. A document's text and index
are deleted at once.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import NotFound
from carrel.server.records.sql import plain
from carrel.server.records.sql.conditions import find, has_expired, is_unexpired
from carrel.server.records.sql.database import purge
from carrel.server.records.sql.tables import (
    agent_aliases,
    agent_versions,
    agents,
    conversation_entries,
    conversations,
    documents,
    files,
    libraries,
    library_shares,
    trash,
    trash_rows,
)
from carrel.wire.trash import TrashItem, TrashKind, TrashList, TrashQuery

# The tables of each kind, its own first, with the column that has the item's id.
_TABLES: dict[TrashKind, tuple[tuple[sa.Table, str], ...]] = {
    "file": ((files, "id"),),
    "document": ((documents, "id"),),
    "library": ((libraries, "id"), (library_shares, "library_id"), (documents, "library_id")),
    "agent": ((agents, "id"), (agent_versions, "agent_id"), (agent_aliases, "agent_id")),
    "conversation": ((conversations, "id"), (conversation_entries, "conversation_id")),
}


def delete(
    connection: sa.Connection,
    caller: Caller,
    kind: TrashKind,
    id: str,
    name: str | None,
    *,
    days: int,
    library_id: str | None = None,
) -> None:
    """Move an item that the caller may delete to the trash for some days.

    With 0 days it is deleted for ever.
    """
    own = _TABLES[kind][0][0]
    # Where rows can be locked, nothing is added below it from here on.
    connection.execute(sa.select(own.c.id).where(own.c.id == id).with_for_update())
    if days:
        now = datetime.now(UTC)
        connection.execute(
            trash.insert().values(
                id=id,
                organisation_id=caller.organisation_id,
                user_id=caller.user_id,
                kind=kind,
                name=name,
                library_id=library_id,
                deleted_at=now,
                expires_at=now + timedelta(days=days),
            )
        )
        _keep_rows(connection, kind, id)
    else:
        purge(connection)
    connection.execute(own.delete().where(own.c.id == id))


def get(connection: sa.Connection, caller: Caller, id: str) -> TrashItem:
    """Return an item that the caller deleted.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    query = sa.select(trash).where(_is_own(caller), trash.c.id == id)
    return _item(find(connection, query, "item in the trash", id))


def page(connection: sa.Connection, caller: Caller, query: TrashQuery) -> TrashList:
    """Return a page of the items that the caller deleted, the last deleted first."""
    wanted = sa.select(trash).where(_is_own(caller))
    rows = connection.execute(
        wanted.order_by(trash.c.deleted_at.desc(), trash.c.id.desc())
        .limit(query.page_size)
        .offset(query.page * query.page_size)
    )
    total = connection.scalar(sa.select(sa.func.count()).select_from(wanted.subquery())) or 0
    return TrashList(data=[_item(row) for row in rows], total=total)


def take(connection: sa.Connection, id: str) -> list[tuple[str, dict[str, Any]]]:
    """Take an item out of the trash; return its rows with the names of their tables."""
    columns = trash_rows.c
    rows = connection.execute(
        sa.select(columns.table, columns.row)
        .where(columns.item_id == id)
        .order_by(columns.position)
    )
    taken = [(row[0], row[1]) for row in rows]
    connection.execute(trash.delete().where(trash.c.id == id))
    return taken


def delete_for_ever(connection: sa.Connection, caller: Caller, id: str) -> None:
    """Remove an item from the trash; garbage collection removes its bytes.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    get(connection, caller, id)
    purge(connection)
    connection.execute(trash.delete().where(trash.c.id == id))


def release(connection: sa.Connection, caller: Caller, kind: TrashKind, id: str) -> None:
    """Free an id for a new item: an item of the caller's trash with this id is deleted for ever.

    Raises:
        NotFound, another deleted it.
    """
    connection.execute(trash.delete().where(_deleter_is(caller), trash.c.id == id))
    if connection.scalar(sa.select(trash.c.id).where(trash.c.id == id)) is not None:
        raise NotFound.of(kind, id)


def empty(connection: sa.Connection, caller: Caller) -> int:
    """Remove everything that the caller deleted from the trash; return the number of items."""
    purge(connection)
    return connection.execute(trash.delete().where(_is_own(caller))).rowcount


def delete_expired(connection: sa.Connection) -> int:
    """Remove expired items from the trash; return their number."""
    removed = connection.execute(trash.delete().where(has_expired(trash))).rowcount
    if removed:
        purge(connection)
    return removed


def _keep_rows(connection: sa.Connection, kind: TrashKind, id: str) -> None:
    kept: list[dict[str, Any]] = []
    for table, column in _TABLES[kind]:
        rows = plain.select(connection, table, table.c[column] == id)
        kept += [
            {
                "item_id": id,
                "position": position,
                "table": table.name,
                "row": row,
                "blob": row.get("blob"),
                "ocr_blob": row.get("ocr_blob"),
            }
            for position, row in enumerate(rows, len(kept))
        ]
    connection.execute(trash_rows.insert(), kept)


def _is_own(caller: Caller) -> sa.ColumnElement[bool]:
    return sa.and_(_deleter_is(caller), is_unexpired(trash))


def _deleter_is(caller: Caller) -> sa.ColumnElement[bool]:
    return sa.and_(
        trash.c.organisation_id == caller.organisation_id, trash.c.user_id == caller.user_id
    )


def _item(row: sa.Row[Any]) -> TrashItem:
    return TrashItem(**row._asdict())
