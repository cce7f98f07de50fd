"""Disk space of a shared database that only a delete may use: a table that is dropped for it."""

import logging
from contextlib import suppress

import sqlalchemy as sa

from carrel.server.datadir.reserve import DiskReserve

log = logging.getLogger(__name__)

RESERVE_BYTES = 8 * 2**20
_ROW_BYTES = 1980
"""Four rows fill a page; a longer one would be compressed."""


class TableReserve:
    """A table that is dropped when a delete finds the database's disk full.

    A drop only marks rows of the catalog, so it needs no new page.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def take(self) -> None:
        """Take the space where the database allows it and has it; blocking."""
        rows = f"SELECT repeat('-', {_ROW_BYTES}) FROM generate_series(1, {RESERVE_BYTES // 2048})"
        with suppress(sa.exc.DBAPIError), self._engine.begin() as connection:
            connection.execute(sa.text(f"CREATE TABLE IF NOT EXISTS carrel_reserve AS {rows}"))

    def release(self) -> bool:
        """Give the space back; return whether there was any."""
        with suppress(sa.exc.DBAPIError), self._engine.begin() as connection:
            connection.execute(sa.text("DROP TABLE carrel_reserve"))
            log.warning("the disk is full: a delete uses the reserve of %d bytes", RESERVE_BYTES)
            return True
        return False


Reserve = DiskReserve | TableReserve
"""Space that a server reserves on the disk of its records."""
