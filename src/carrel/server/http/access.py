"""Authentication: the API key of a request, and its user."""

import asyncio
import hmac
import logging
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from carrel.server.errors import InvalidKey
from carrel.server.records.accounts import keys
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.accounts.keys import Key
from carrel.server.records.sql.database import Database

log = logging.getLogger(__name__)


class KeyHash:
    """The keyed hash under which an API key is stored.

    A key has 256 random bits, so a slow hash would protect nothing and cost every request.
    """

    def __init__(self, secret: bytes) -> None:
        pepper = hmac.digest(secret, b"api keys", "sha256")
        self._empty = hmac.new(pepper, digestmod="sha256")

    def __call__(self, key: str) -> str:
        # `hmac.digest` gives other threads the interpreter, which the request waits for again.
        hashed = self._empty.copy()
        hashed.update(key.encode(errors="replace"))
        return hashed.hexdigest()


class Access:
    """Authenticates callers."""

    def __init__(self, database: Database, secret: bytes) -> None:
        self._database = database
        self._hash = KeyHash(secret)
        self._known: dict[str, Key] = {}
        """The keys that were asked for in one version of the database, by their hashes."""
        self._version: int | None = None
        self._used: dict[str, datetime] = {}
        """When each key's use was last recorded, even if that failed."""
        self._noting: set[asyncio.Task[None]] = set()

    async def caller(self, authorization: str | None) -> Caller:
        """Return the caller behind an `Authorization` header.

        Raises:
            InvalidKey: the bearer key is missing, unknown, revoked or has ended.
        """
        scheme, _, key = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            raise InvalidKey
        found = await self._find(self._hash(key.strip()))
        if found is None:
            raise InvalidKey
        self._note_use(found)
        return Caller(found.organisation_id, found.user_id, found.id, found.reads_only)

    async def _find(self, hashed: str) -> Key | None:
        """Return the key of a hash that is in force, from memory as long as no record changed."""
        version = self._database.version()
        if version is None or version != self._version:
            self._known, self._version = {}, version
        known = self._known
        found = known.get(hashed)
        if found is None:
            found = await self._database.read(keys.find_by_hash, hashed)
            if found is not None:
                known[hashed] = found
        elif found.expires_at is not None and found.expires_at <= datetime.now(UTC):
            return None
        return found

    def _note_use(self, key: Key) -> None:
        """Record a key's use in the background, at intervals: no request waits for it."""
        now = datetime.now(UTC)
        last = max(filter(None, (key.used_at, self._used.get(key.id))), default=None)
        if last is not None and now - last < timedelta(minutes=keys.USED_MINUTES):
            return
        self._used[key.id] = now
        noting = asyncio.create_task(self._write_use(key.id))
        self._noting.add(noting)
        noting.add_done_callback(self._noting.discard)

    async def _write_use(self, id: str) -> None:
        try:
            await self._database.write(keys.note_use, id)
        except Exception as failure:
            log.warning("the use of a key was not noted: %s", type(failure).__name__)

    async def admit(self, key: str) -> None:
        """Make the data folder's own key the only valid key of its user.

        On first start this makes the organisation and the user as well.
        """
        await self._database.write(lambda connection: self._admit(connection, self._hash(key)))

    def _admit(self, connection: sa.Connection, hashed: str) -> None:
        present = keys.find_named(connection, keys.OWN)
        if present is not None:
            if keys.find_by_hash(connection, hashed) == present:
                return
            keys.revoke(connection, present.id)
        keys.add(connection, keys.NewKey(keys.OWN, keys.OWN, keys.OWN), hashed)

    async def has_own_keys(self) -> bool:
        """Return whether a key was added that is in force, besides the data folder's own."""
        return await self._database.read(keys.has_own_keys)
