"""The caller of a request, whose rows are read and written."""

from dataclasses import dataclass, field

import sqlalchemy as sa

from carrel.server.records.sql.tables import organisations, users
from carrel.wire.users import Organisation, UserIdentity, Workspace


@dataclass(frozen=True)
class Caller:
    """A user of an organisation."""

    organisation_id: str
    user_id: str
    key_id: str = field(default="", compare=False)
    """The API key of the request; empty where none was sent."""
    reads_only: bool = field(default=False, compare=False)
    """Whether the key may change nothing."""


def identify(connection: sa.Connection, caller: Caller) -> UserIdentity:
    """Return the caller, with the organisation as the one workspace."""
    row = connection.execute(
        sa.select(users.c.name, organisations.c.name.label("organisation"))
        .join(organisations, organisations.c.id == users.c.organisation_id)
        .where(users.c.id == caller.user_id)
    ).one()
    return UserIdentity(
        id=caller.user_id,
        first_name=row.name,
        organization=Organisation(id=caller.organisation_id, name=row.organisation),
        workspace=Workspace(id=caller.organisation_id, name=row.organisation),
    )
