"""Constraints of the tables that migrations make, named as the tables' own are."""

import sqlalchemy as sa


def belongs_to(table: str, column: str, owners: str) -> sa.ForeignKeyConstraint:
    """Return a foreign key to a row's owner that deletes the row with it."""
    name = f"fk_{table}_{column}_{owners}"
    return sa.ForeignKeyConstraint([column], [f"{owners}.id"], name=name, ondelete="CASCADE")
