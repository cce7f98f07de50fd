"""Many rows in a server's database, out of one."""

import sqlite3
from pathlib import Path


def multiply(database: Path, table: str, total: int, **new: str) -> None:
    """Makes `total` rows of the one there is, each with its own id and a second older.

    `new` has SQL for columns that must differ; `n` counts the rows.
    """
    new = {"id": "lower(hex(randomblob(16)))", "created_at": "created_at - n * 1000000"} | new
    with sqlite3.connect(database) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        values = ", ".join(new.get(column, column) for column in columns)
        connection.execute(
            f"""
            WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT ?)
            INSERT INTO {table} SELECT {values} FROM {table}, numbers
            """,
            (total - 1,),
        )
    connection.close()
