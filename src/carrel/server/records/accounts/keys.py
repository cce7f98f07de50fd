"""API keys, and the organisations and users they belong to. Only keyed hashes are stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from carrel.server.records.sql.database import take_turns
from carrel.server.records.sql.ids import new_id
from carrel.server.records.sql.tables import Moment, api_keys, organisations, users

OWN = "local"
"""The name of the server's own key, of its user and of its organisation."""


USED_MINUTES = 5
"""The last use of a key is known within so many minutes: not every request writes."""


@dataclass(frozen=True)
class NewKey:
    """The requested properties of a new key."""

    name: str
    organisation: str
    user: str
    purpose: str | None = None
    expires_at: datetime | None = None
    reads_only: bool = False


@dataclass(frozen=True)
class Key:
    """A key as it is listed: everything but the key."""

    id: str
    name: str
    organisation: str
    organisation_id: str
    user: str
    user_id: str
    created_at: datetime
    revoked_at: datetime | None
    purpose: str | None
    expires_at: datetime | None
    used_at: datetime | None
    reads_only: bool


def add(connection: sa.Connection, new: NewKey, hash: str) -> Key:
    """Add a key. Creates its organisation and its user if the names are new."""
    take_turns(connection, "keys")
    id = new_id()
    organisation = _find_or_add(connection, organisations, name=new.organisation)
    user = _find_or_add(connection, users, name=new.user, organisation_id=organisation)
    connection.execute(
        api_keys.insert().values(
            id=id,
            user_id=user,
            name=new.name,
            hash=hash,
            created_at=datetime.now(UTC),
            purpose=new.purpose,
            expires_at=new.expires_at,
            reads_only=new.reads_only,
        )
    )
    return _keys(connection, api_keys.c.id == id)[0]


def list_all(connection: sa.Connection) -> Sequence[Key]:
    """Return all keys, revoked ones included, the oldest first."""
    return _keys(connection, sa.true())


def find_named(connection: sa.Connection, name: str) -> Key | None:
    """Return the key of a name that is in force."""
    found = _keys(connection, api_keys.c.name == name, *_is_valid())
    return found[0] if found else None


def find_by_hash(connection: sa.Connection, hash: str) -> Key | None:
    """Return the key of a hash that is in force."""
    found = connection.execute(_OF_HASH, {"hash": hash, "now": datetime.now(UTC)})
    row = found.mappings().one_or_none()
    return None if row is None else Key(**row)


def revoke(connection: sa.Connection, id: str) -> None:
    """Revoke a key. Items made with it stay."""
    _change(connection, id, revoked_at=datetime.now(UTC))


def has_own_keys(connection: sa.Connection) -> bool:
    """Return whether any key is in force beside the server's own."""
    return bool(_keys(connection, api_keys.c.name != OWN, *_is_valid()))


def note_use(connection: sa.Connection, id: str) -> None:
    """Note that a key was used now."""
    _change(connection, id, used_at=datetime.now(UTC))


def _change(connection: sa.Connection, id: str, **values: datetime) -> None:
    connection.execute(api_keys.update().where(api_keys.c.id == id).values(**values))


def _is_valid(now: Any = None) -> tuple[sa.ColumnElement[bool], ...]:
    ends = api_keys.c.expires_at
    now = datetime.now(UTC) if now is None else now
    return api_keys.c.revoked_at.is_(None), sa.or_(ends.is_(None), ends > now)


def _select_keys(*conditions: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return (
        sa.select(
            *(column for column in api_keys.c if column.name in Key.__dataclass_fields__),
            users.c.organisation_id,
            users.c.name.label("user"),
            organisations.c.name.label("organisation"),
        )
        .select_from(api_keys)
        .join(users, users.c.id == api_keys.c.user_id)
        .join(organisations, organisations.c.id == users.c.organisation_id)
        .where(*conditions)
        .order_by(api_keys.c.created_at, api_keys.c.id)
    )


# Asked with every request: building it takes as long as asking.
_OF_HASH = _select_keys(
    api_keys.c.hash == sa.bindparam("hash"), *_is_valid(sa.bindparam("now", type_=Moment))
)


def _keys(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> Sequence[Key]:
    return [Key(**row) for row in connection.execute(_select_keys(*conditions)).mappings()]


def _find_or_add(connection: sa.Connection, table: sa.Table, **values: str) -> str:
    """Return the id of the row with some values, which is added where there is none."""
    same = (table.c[name] == value for name, value in values.items())
    found = connection.scalar(sa.select(table.c.id).where(*same))
    if found is not None:
        return str(found)
    id = new_id()
    connection.execute(table.insert().values(id=id, created_at=datetime.now(UTC), **values))
    return id
