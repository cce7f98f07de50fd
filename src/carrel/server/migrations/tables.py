"""Creation of tables, with constraints and indexes named as the tables' own are."""

from typing import Any

import sqlalchemy as sa
from alembic import op


def create(
    table: str,
    *items: sa.Column[Any] | sa.Constraint,
    key: tuple[str, ...] = ("id",),
    **owners: str,
) -> None:
    """Create a table; `owners` maps columns to the tables whose rows own its rows.

    A row is deleted with its owner.
    """
    references = (
        sa.ForeignKeyConstraint(
            [column], [f"{owner}.id"], name=f"fk_{table}_{column}_{owner}", ondelete="CASCADE"
        )
        for column, owner in owners.items()
    )
    primary = sa.PrimaryKeyConstraint(*key, name=f"pk_{table}")
    op.create_table(table, *items, *references, primary)


def index(table: str, *columns: str) -> None:
    """Index each of some columns of a table."""
    for column in columns:
        op.create_index(f"ix_{table}_{column}", table, [column])
