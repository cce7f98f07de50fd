"""Quotas of organisations. The trash does not count."""

import sqlalchemy as sa

from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import OverQuota
from carrel.server.records.sql.database import take_turns
from carrel.server.records.sql.tables import documents, files, libraries
from carrel.server.settings import Limits


def check(connection: sa.Connection, caller: Caller, limits: Limits) -> None:
    """Check an organisation's usage against its quotas, after the transaction's own additions.

    Raises:
        OverQuota: it is more than it may keep.
    """
    bytes, number = limits.organisation_bytes, limits.organisation_documents
    if bytes is None and number is None:
        return
    # Of two uploads at once, the later counts the earlier.
    take_turns(connection, f"quota of {caller.organisation_id}")
    of_documents = (
        sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(documents.c.size), 0))
        .join(libraries, libraries.c.id == documents.c.library_id)
        .where(libraries.c.organisation_id == caller.organisation_id)
    )
    count, size = connection.execute(of_documents).one()
    of_files = sa.select(sa.func.coalesce(sa.func.sum(files.c.bytes), 0)).where(
        files.c.organisation_id == caller.organisation_id
    )
    kept = int(size) + int(connection.scalar(of_files) or 0)
    advice = "Delete some, or ask whoever runs the server for more room."
    if number is not None and count > number:
        raise OverQuota(f"Your organisation may keep {number:,} documents. {advice}")
    if bytes is not None and kept > bytes:
        raise OverQuota(f"Your organisation may keep {bytes:,} bytes. {advice}")
