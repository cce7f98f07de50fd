"""The hashes that rows in the trash name, in columns with an index.

Revision ID: 0010
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    sqlite = op.get_context().dialect.name == "sqlite"
    for name in ("blob", "ocr_blob"):
        op.add_column("trash_rows", sa.Column(name, sa.String(64)))
        value = f"json_extract(\"row\", '$.{name}')" if sqlite else f"\"row\"::json ->> '{name}'"
        op.execute(f"UPDATE trash_rows SET {name} = {value}")
        op.create_index(f"ix_trash_rows_{name}", "trash_rows", [name])
