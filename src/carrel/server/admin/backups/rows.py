"""The rows of a server's tables: copied and compared, whichever database they are in."""

import hashlib
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import sqlalchemy as sa

from carrel.server.records.sql import plain
from carrel.server.records.sql.postgresql import as_json
from carrel.server.records.sql.tables import metadata, secrets, words, workers

# Counted by the database itself, or each storage's own.
_LEFT_OUT = {words, secrets, workers}
_ROWS = 500
"""Rows in memory at a time."""
IN_PARTS: dict[str, Any] = {"stream_results": True, "yield_per": _ROWS}
"""The options of a connection whose rows come in parts: a table need not fit into memory."""


def tables() -> Iterator[sa.Table]:
    """Return the tables to copy, referenced tables first."""
    return (table for table in metadata.sorted_tables if table not in _LEFT_OUT)


def copy_table(here: sa.Connection, there: sa.Connection, table: sa.Table) -> None:
    """Copy every row of a table to an empty one."""
    every = plain.select(here, table)
    while rows := list(islice(every, _ROWS)):
        plain.insert(there, table, rows)


def digest(connection: sa.Connection, table: sa.Table) -> tuple[int, int]:
    """Return the number of a table's rows and the sum of their hashes, whatever their order."""
    count = total = 0
    for row in plain.select(connection, table):
        hashed = hashlib.sha256(_canonical(table, row)).digest()
        total = (total + int.from_bytes(hashed)) % 2**256
        count += 1
    return count, total


def _canonical(table: sa.Table, row: dict[str, Any]) -> bytes:
    """Return a row in a form that is the same for both databases."""
    values = {}
    for column in table.c:
        value = row[column.name]
        if isinstance(value, bytes):
            value = value.hex()
        elif isinstance(column.type, sa.JSON) and value is not None:
            value = json.loads(value)
        values[column.name] = value
    return as_json(values).encode()
