"""Common parts of queries: a text in a column, a place in a list, an attribute, an expiry."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from carrel.server.records.errors import NotFound
from carrel.server.records.sql.tables import Moment
from carrel.wire.id_lists import IdQuery

NOW = sa.bindparam("now", type_=Moment)
"""The present moment as a parameter, for a statement that is built once."""


def contains(column: sa.Column[Any], text: str) -> sa.ColumnElement[bool]:
    """Return whether a column contains a text, whatever the case of its ASCII letters."""
    return column.icontains(text, autoescape=True)


def comes_after(table: sa.Table, row: Any, *, newest_first: bool = True) -> sa.ColumnElement[bool]:
    """Return whether a row comes after one with a `created_at` and an `id`, in their order."""
    columns = table.c.created_at, table.c.id
    place = sa.tuple_(*columns)
    there = sa.tuple_(sa.literal(row.created_at, columns[0].type), sa.literal(row.id))
    return place < there if newest_first else place > there


def list_after(
    connection: sa.Connection, table: sa.Table, listed: sa.Select[Any], query: IdQuery, last: Any
) -> tuple[Sequence[sa.Row[Any]], bool]:
    """Return the rows of a list after the row `last`, if any, and whether there are more."""
    if last is not None:
        listed = listed.where(comes_after(table, last, newest_first=query.newest_first))
    direction = sa.desc if query.newest_first else sa.asc
    order = direction(table.c.created_at), direction(table.c.id)
    # One more than asked for says whether there are more.
    rows = connection.execute(listed.order_by(*order).limit(query.limit + 1)).all()
    return rows[: query.limit], len(rows) > query.limit


def find(connection: sa.Connection, query: sa.Select[Any], kind: str, id: str) -> sa.Row[Any]:
    """Return the one row of a query.

    Raises:
        NotFound: there is none, of this kind and id.
    """
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound.of(kind, id)
    return row


def has_expired(table: sa.Table) -> sa.ColumnElement[bool]:
    """Return whether a row has expired."""
    gone: sa.ColumnElement[bool] = table.c.expires_at <= datetime.now(UTC)
    return gone


def is_unexpired(
    table: sa.Table, now: sa.BindParameter[datetime] | None = None
) -> sa.ColumnElement[bool]:
    """Return whether a row has not expired, by now or by the moment that a parameter has."""
    moment = datetime.now(UTC) if now is None else now
    return sa.or_(table.c.expires_at.is_(None), table.c.expires_at > moment)


def has_attribute(
    connection: sa.Connection, column: sa.Column[Any], name: str, value: Any
) -> sa.ColumnElement[bool]:
    """Return whether the object in a JSON column has an attribute with a value or lists it.

    A list matches any of its members. Objects and null never match.
    """
    asked = value if isinstance(value, list) else [value]
    values = [item for item in asked if _is_plain(item)]
    if connection.dialect.name == "postgresql":
        # A list contains each of its members.
        attribute = sa.cast(column, JSONB)[name]
        return sa.or_(
            sa.false(), *(attribute.contains(sa.literal(value, JSONB)) for value in values)
        )
    each = sa.func.json_each(column).table_valued("key", "value", "type")
    member = sa.func.json_each(each.c.value).table_valued("value")
    in_list = sa.and_(
        each.c.type == "array",
        sa.exists(sa.select(member.c.value).where(member.c.value.in_(values))),
    )
    return sa.exists(
        sa.select(each.c.key).where(each.c.key == name, sa.or_(each.c.value.in_(values), in_list))
    )


def _is_plain(value: Any) -> bool:
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return isinstance(value, (float, str))
