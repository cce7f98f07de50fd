"""Users, as they see themselves."""

import sqlalchemy as sa

from carrel.server.records.accounts.caller import Caller
from carrel.server.records.sql.tables import organisations, users
from carrel.wire.users import Organisation, UserIdentity, Workspace


def identity(connection: sa.Connection, caller: Caller) -> UserIdentity:
    """Return the caller. An organisation is one workspace, which has its id and name."""
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
