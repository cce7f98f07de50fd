"""pgvector, if a PostgreSQL server has it: a column of the chunks' vectors, which it compares.

The column is computed from the stored bytes, so that nothing else writes it. `carrel migrate`
adds it; without the extension, servers compare vectors in their memory.
"""

import sqlalchemy as sa

_AVAILABLE = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
_PRESENT = """
    SELECT 1 FROM pg_attribute
    WHERE attrelid = 'vectors'::regclass AND attname = 'embedding' AND NOT attisdropped
"""
# The bytes are 16-bit floats, lowest byte first: a sign, five bits of exponent, ten of fraction.
_FUNCTION = """
    CREATE OR REPLACE FUNCTION carrel_embedding(bytes bytea) RETURNS halfvec
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT array_agg(
            (CASE bits & 32768 WHEN 0 THEN 1 ELSE -1 END)
            * (CASE bits & 31744
                WHEN 0 THEN (bits & 1023) / 1024.0::float8 * 2.0::float8 ^ -14
                ELSE (1 + (bits & 1023) / 1024.0::float8)
                    * 2.0::float8 ^ (((bits & 31744) >> 10) - 15)
            END) ORDER BY at
        )::real[]::halfvec
        FROM (
            SELECT at, get_byte(bytes, 2 * at) | (get_byte(bytes, 2 * at + 1) << 8) AS bits
            FROM generate_series(0, length(bytes) / 2 - 1) AS at
        ) AS halves
    $$
"""
# In the row itself: a search reads the vectors of a whole library.
_COLUMN = (
    "ALTER TABLE vectors ADD COLUMN embedding halfvec"
    " GENERATED ALWAYS AS (carrel_embedding(vector)) STORED",
    "ALTER TABLE vectors ALTER COLUMN embedding SET STORAGE PLAIN",
)


def is_present(connection: sa.Connection) -> bool:
    """Return whether the database compares vectors."""
    if connection.dialect.name != "postgresql":
        return False
    return connection.exec_driver_sql(_PRESENT).scalar() is not None


def install(connection: sa.Connection) -> str:
    """Enable the comparison of vectors if the database can, and return a sentence that says so."""
    if is_present(connection):
        return "pgvector compares vectors."
    if connection.exec_driver_sql(_AVAILABLE).scalar() is None:
        return "There is no pgvector here: servers compare vectors in memory."
    try:
        with connection.begin_nested():
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
    except sa.exc.DBAPIError:
        return (
            "This user may not install pgvector: servers compare vectors in memory. Run CREATE"
            " EXTENSION vector; in the database as a superuser, then carrel migrate again."
        )
    if connection.exec_driver_sql("SELECT to_regtype('halfvec')").scalar() is None:
        return "pgvector is older than 0.7: servers compare vectors in memory."
    for statement in (_FUNCTION, *_COLUMN):
        connection.exec_driver_sql(statement)
    return "pgvector compares vectors from now on. Restart servers that run."
