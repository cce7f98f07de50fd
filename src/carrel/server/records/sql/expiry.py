"""Expiry of rows."""

from datetime import UTC, datetime

import sqlalchemy as sa


def expired(table: sa.Table) -> sa.ColumnElement[bool]:
    """Return whether a row has expired."""
    gone: sa.ColumnElement[bool] = table.c.expires_at <= datetime.now(UTC)
    return gone


def unexpired(table: sa.Table) -> sa.ColumnElement[bool]:
    """Return whether a row has not expired."""
    return sa.or_(table.c.expires_at.is_(None), table.c.expires_at > datetime.now(UTC))
