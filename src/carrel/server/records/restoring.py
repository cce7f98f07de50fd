"""Restores items of the trash to their place."""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from carrel.server.records import libraries, trash
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import Conflict, NotFound
from carrel.server.records.libraries import Role
from carrel.server.records.processing import Job
from carrel.server.records.sql import plain
from carrel.server.records.sql.tables import documents, metadata
from carrel.server.records.sql.tables import libraries as library_table
from carrel.server.records.sql.tables import trash as trash_table
from carrel.wire.trash import TrashItem

Enqueue = Callable[[sa.Connection, Job], None]


def restore(connection: sa.Connection, caller: Caller, id: str, enqueue: Enqueue) -> TrashItem:
    """Restore an item that the caller deleted; its documents are indexed again.

    Raises:
        NotFound; NotAllowed for a document of a library that the caller may not change any more;
            Conflict if the library is gone, or has the same document again.
    """
    item = trash.get(connection, caller, id)
    if item.library_id is not None:
        _require_library(connection, caller, item.library_id)
    for name, row in trash.take(connection, id):
        table = metadata.tables[name]
        if table is documents:
            _require_free(connection, row)
            row = _to_be_indexed(row)
        elif table is library_table:
            row = {**row, "number": libraries.next_number(connection)}
        plain.insert(connection, table, [row])
        if table is documents:
            enqueue(connection, Job(row["id"], row["generation"]))
    return item


def _require_library(connection: sa.Connection, caller: Caller, library_id: str) -> None:
    try:
        libraries.require(connection, caller, library_id, Role.EDITOR)
    except NotFound:
        in_trash = sa.select(trash_table.c.name).where(trash_table.c.id == library_id)
        next_step = (
            "Restore the library first."
            if connection.execute(in_trash).first()
            else "It cannot be restored."
        )
        raise Conflict(f"The document's library was deleted. {next_step}") from None


def _require_free(connection: sa.Connection, row: dict[str, Any]) -> None:
    same = sa.select(documents.c.name).where(
        documents.c.library_id == row["library_id"], documents.c.blob == row["blob"]
    )
    name = connection.scalar(same)
    if name is not None:
        raise Conflict(f"The library has this document again, as {name[:80]!r}.")


def _to_be_indexed(row: dict[str, Any]) -> dict[str, Any]:
    """Return a document's row, changed to wait for indexing without counting its tokens twice."""
    generation = row["generation"] + 1
    summarised = row["summarised_generation"]
    current = summarised is not None and summarised == row["indexed_generation"]
    return {
        **row,
        "process_status": "todo",
        "generation": generation,
        "indexed_generation": None,
        "summarised_generation": generation if current else None,
        "attempts": 0,
        "error": None,
        "tokens_total": row["tokens_total"] - (row["tokens_main"] or 0),
    }
