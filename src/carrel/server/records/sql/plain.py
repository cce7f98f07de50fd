"""Rows as plain values, the same in every database: to be kept, or carried to another.

A moment is a number, JSON is its text, a truth value is one.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from carrel.server.records.sql.tables import Moment


def select(
    connection: sa.Connection, table: sa.Table, *conditions: sa.ColumnElement[bool]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table that meet the conditions, in the order of their keys."""
    columns = [_plain(column).label(column.name) for column in table.c]
    query = sa.select(*columns).where(*conditions).order_by(*table.primary_key)
    for row in connection.execute(query).mappings():
        yield dict(row)


def insert(connection: sa.Connection, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
    """Add rows to a table; a column that a row lacks has its default."""
    if rows:
        connection.execute(table.insert(), [_to_types(table, row) for row in rows])


def _plain(column: sa.Column[Any]) -> sa.ColumnElement[Any]:
    if isinstance(column.type, Moment):
        return sa.type_coerce(column, sa.BigInteger)
    return sa.cast(column, sa.Text) if isinstance(column.type, sa.JSON) else column


def _to_types(table: sa.Table, row: dict[str, Any]) -> dict[str, Any]:
    typed = dict(row)
    for column in table.c:
        if column.name not in row:
            continue
        value = row[column.name]
        if value is None:
            # A JSON column would keep None as the JSON value null.
            typed[column.name] = sa.null() if isinstance(column.type, sa.JSON) else None
        elif isinstance(column.type, Moment):
            typed[column.name] = Moment.of(value)
        elif isinstance(column.type, sa.JSON):
            typed[column.name] = _parse(value)
    return typed


def _parse(text: str) -> Any:
    value = json.loads(text)
    return sa.JSON.NULL if value is None else value
