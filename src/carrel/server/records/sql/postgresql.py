"""PostgreSQL: shared by several servers, written by many connections at a time."""

import json
import math
import re
from functools import cache
from typing import Any

import sqlalchemy as sa

WRITERS, READERS = 6, 6
READING = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
"""The options of a connection that only reads."""

CONFLICTS = {
    "40001",  # serialization failure
    "40P01",  # deadlock
    "23505",  # unique violation: another added the same row
    "23503",  # foreign key violation: another deleted the row it belongs to
}
"""The states of a transaction that another has overtaken: run again, it sees the other's work."""

FULL = "53100"
"""The state of the error of a full disk."""
AWAY = {
    None,  # there is no connection, or it broke off
    "57P01",  # it is shut down
    "57P02",  # it crashed
    "57P03",  # it starts
}
"""The states of a database that does not answer now."""

_CONNECT_SECONDS = 10
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


def make_engine(url: sa.URL) -> sa.Engine:
    """Return an engine for a database of a PostgreSQL server.

    Values that PostgreSQL cannot store are replaced: NUL in a text by U+FFFD, NaN in JSON by null.
    """
    engine = sa.create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=WRITERS + READERS,
        max_overflow=0,
        # A connection that the server closed, at a restart or a failover, is replaced.
        pool_pre_ping=True,
        json_serializer=as_json,
        # They hold texts of documents, which no log tells.
        hide_parameters=True,
        connect_args={"connect_timeout": _CONNECT_SECONDS, "application_name": "carrel"},
    )

    @sa.event.listens_for(engine, "connect")
    def _connect(connection: Any, record: object) -> None:
        connection.adapters.register_dumper(str, _text_dumper())

    return engine


def as_json(value: Any) -> str:
    """Return JSON as PostgreSQL keeps it."""
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value))
    return _NUL.sub(r"\1\\ufffd", text)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_finite(member) for member in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@cache
def _text_dumper() -> Any:
    # Imported only where it is used.
    from psycopg.types.string import StrDumperUnknown

    class TextDumper(StrDumperUnknown):
        def dump(self, obj: str) -> Any:
            return super().dump(obj.replace("\0", "\ufffd"))

    return TextDumper
