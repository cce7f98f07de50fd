"""Text in queries."""

from typing import Any

import sqlalchemy as sa


def contains(column: sa.Column[Any], text: str) -> sa.ColumnElement[bool]:
    """Return whether a column contains a text, whatever the case of its ASCII letters."""
    return column.icontains(text, autoescape=True)
