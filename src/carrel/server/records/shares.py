"""Sharing of libraries: only the owner shares, and only within the organisation."""

from typing import Any

import sqlalchemy as sa

from carrel.server.records import libraries
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import Impossible, NotFound
from carrel.server.records.libraries import Role
from carrel.server.records.sql.tables import library_shares, users
from carrel.wire.libraries import Library, ShareRemoval, ShareRequest, Sharing, SharingList


def get_all(connection: sa.Connection, caller: Caller, library_id: str) -> SharingList:
    """Return the users of a library, its owner first.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    library = libraries.get(connection, caller, library_id)
    query = (
        sa.select(library_shares)
        .where(library_shares.c.library_id == library_id)
        .order_by(library_shares.c.share_with_type, library_shares.c.share_with_uuid)
    )
    shared = [_to_sharing(row) for row in connection.execute(query)]
    return SharingList(data=[_owner(caller, library), *shared])


def put(connection: sa.Connection, caller: Caller, library_id: str, share: ShareRequest) -> Sharing:
    """Share a library, or change the level of someone it is shared with.

    Raises:
        NotFound; NotAllowed for anyone but the owner; Impossible for the owner's own access, or for
            someone who is not in the organisation.
    """
    library = libraries.get(connection, caller, library_id, Role.OWNER)
    _refuse_owner(library, share)
    _refuse_outsider(connection, caller, share)
    connection.execute(library_shares.delete().where(_is(library_id, share)))
    row = connection.execute(
        library_shares.insert()
        .values(
            library_id=library_id,
            share_with_type=share.share_with_type,
            share_with_uuid=share.share_with_uuid,
            organisation_id=caller.organisation_id,
            role=share.level,
        )
        .returning(library_shares)
    ).one()
    return _to_sharing(row)


def delete(
    connection: sa.Connection, caller: Caller, library_id: str, share: ShareRemoval
) -> Sharing:
    """Revoke an access and return it. Only the owner may revoke another user's.

    Raises:
        NotFound; NotAllowed for someone else's access; Impossible for the owner's own.
    """
    own = (share.share_with_type, share.share_with_uuid) == ("User", caller.user_id)
    library = libraries.get(connection, caller, library_id, Role.VIEWER if own else Role.OWNER)
    _refuse_owner(library, share)
    row = connection.execute(
        library_shares.delete().where(_is(library_id, share)).returning(library_shares)
    ).one_or_none()
    if row is None:
        raise NotFound("The library is not shared with them.")
    return _to_sharing(row)


def _is(library_id: str, share: ShareRemoval) -> sa.ColumnElement[bool]:
    return sa.and_(
        library_shares.c.library_id == library_id,
        library_shares.c.share_with_type == share.share_with_type,
        library_shares.c.share_with_uuid == share.share_with_uuid,
    )


def _refuse_owner(library: Library, share: ShareRemoval) -> None:
    if library.owner_id == share.share_with_uuid:
        raise Impossible("The owner's own access cannot be changed or removed.")


def _refuse_outsider(connection: sa.Connection, caller: Caller, share: ShareRequest) -> None:
    organisation = caller.organisation_id
    if share.share_with_type == "User":
        query = sa.select(users.c.organisation_id).where(users.c.id == share.share_with_uuid)
        belongs = connection.scalar(query) == organisation
    else:
        belongs = share.share_with_uuid == organisation
    if not belongs or share.org_id not in (None, organisation):
        raise Impossible("A library can be shared only within its own organisation.")


def _owner(caller: Caller, library: Library) -> Sharing:
    return Sharing(
        library_id=library.id,
        user_id=library.owner_id if library.owner_type == "User" else None,
        org_id=caller.organisation_id,
        role=Role.OWNER.word,
        share_with_type=library.owner_type,
        share_with_uuid=library.owner_id,
    )


def _to_sharing(row: sa.Row[Any]) -> Sharing:
    user = row.share_with_uuid if row.share_with_type == "User" else None
    return Sharing(**row._asdict(), org_id=row.organisation_id, user_id=user)
