"""Expiry of rows."""

from datetime import UTC, datetime

import sqlalchemy as sa


def unexpired(table: sa.Table) -> sa.ColumnElement[bool]:
    """Whether a row has not expired."""
    return sa.or_(table.c.expires_at.is_(None), table.c.expires_at > datetime.now(UTC))
