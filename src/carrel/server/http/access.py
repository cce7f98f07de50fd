"""Authentication: the API key of a request, and its user."""

import hmac

import sqlalchemy as sa

from carrel.server.errors import InvalidKey
from carrel.server.records.accounts import keys
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.sql.database import Database


class KeyHash:
    """The keyed hash under which an API key is stored.

    A key has 256 random bits, so a slow hash would protect nothing and cost every request.
    """

    def __init__(self, secret: bytes) -> None:
        self._pepper = hmac.digest(secret, b"api keys", "sha256")

    def __call__(self, key: str) -> str:
        return hmac.digest(self._pepper, key.encode(errors="replace"), "sha256").hex()


class Access:
    """Authenticates callers."""

    def __init__(self, database: Database, secret: bytes) -> None:
        self._database = database
        self._hash = KeyHash(secret)

    async def caller(self, authorization: str | None) -> Caller:
        """Return the caller behind an `Authorization` header.

        Raises:
            InvalidKey: the bearer key is missing, unknown or revoked.
        """
        scheme, _, key = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            raise InvalidKey
        hashed = self._hash(key.strip())
        found = await self._database.read(lambda connection: keys.of_hash(connection, hashed))
        if found is None:
            raise InvalidKey
        return Caller(found.organisation_id, found.user_id, found.id)

    async def admit(self, key: str) -> None:
        """Make the data folder's own key the only valid key of its user.

        On first start this makes the organisation and the user as well.
        """
        await self._database.write(lambda connection: self._admit(connection, self._hash(key)))

    def _admit(self, connection: sa.Connection, hashed: str) -> None:
        present = keys.named(connection, keys.OWN)
        if present is not None:
            if keys.of_hash(connection, hashed) == present:
                return
            keys.revoke(connection, present.id)
        keys.add(connection, keys.OWN, organisation=keys.OWN, user=keys.OWN, hash=hashed)

    async def made_on_purpose(self) -> bool:
        """Return whether any key is in force beside the data folder's own."""
        return await self._database.read(keys.made_on_purpose)
