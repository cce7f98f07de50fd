"""Who is calling: the API key of a request, and the person it belongs to."""

import hmac
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from carrel.server.errors import Unauthorized
from carrel.server.records import tables
from carrel.server.records.database import Database
from carrel.server.records.ids import new_id

_OWN_KEY = "local"


@dataclass(frozen=True)
class Caller:
    """A user of an organisation."""

    organisation_id: str
    user_id: str


class Access:
    """The API keys of a server. Only their keyed hashes are stored."""

    def __init__(self, database: Database, secret: bytes) -> None:
        self._database = database
        self._pepper = hmac.digest(secret, b"api keys", "sha256")

    async def caller(self, authorization: str | None) -> Caller:
        """The caller behind an `Authorization` header.

        Raises:
            Unauthorized: there is no bearer key, or no such key, or it was revoked.
        """
        scheme, _, key = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            raise Unauthorized
        hashed = self._hash(key.strip())
        query = (
            sa.select(tables.api_keys.c.hash, tables.users.c.organisation_id, tables.users.c.id)
            .join(tables.users)
            .where(tables.api_keys.c.hash == hashed, tables.api_keys.c.revoked_at.is_(None))
        )
        row = await self._database.read(lambda connection: connection.execute(query).one_or_none())
        if row is None or not hmac.compare_digest(row.hash, hashed):
            raise Unauthorized
        return Caller(row.organisation_id, row.id)

    async def admit(self, key: str) -> None:
        """Makes the data folder's own key the one good key of its user.

        On first start this makes the organisation and the user as well.
        """
        await self._database.write(lambda connection: self._admit(connection, self._hash(key)))

    def _admit(self, connection: sa.Connection, hashed: str) -> None:
        now = datetime.now(UTC)
        keys = tables.api_keys
        own = sa.and_(keys.c.name == _OWN_KEY, keys.c.revoked_at.is_(None))
        if connection.scalar(sa.select(keys.c.id).where(own, keys.c.hash == hashed)):
            return
        user_id = connection.scalar(sa.select(tables.users.c.id)) or _seed(connection, now)
        connection.execute(keys.update().where(own).values(revoked_at=now))
        connection.execute(
            keys.insert().values(
                id=new_id(), user_id=user_id, name=_OWN_KEY, hash=hashed, created_at=now
            )
        )

    def _hash(self, key: str) -> str:
        return hmac.digest(self._pepper, key.encode(errors="replace"), "sha256").hex()


def _seed(connection: sa.Connection, now: datetime) -> str:
    organisation_id, user_id = new_id(), new_id()
    connection.execute(
        tables.organisations.insert().values(id=organisation_id, name="local", created_at=now)
    )
    connection.execute(
        tables.users.insert().values(
            id=user_id, organisation_id=organisation_id, name="local", created_at=now
        )
    )
    return user_id
