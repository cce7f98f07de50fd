"""Makes, lists and revokes API keys, whether or not a server is running."""

import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa

from carrel.server.datadir.folder import FORMAT, DataFolder, FolderLayout
from carrel.server.http.access import KeyHash
from carrel.server.records.accounts import keys
from carrel.server.records.accounts.keys import Key, NewKey
from carrel.server.records.cluster.shared import common_secret
from carrel.server.records.sql.database import make_engine, write
from carrel.server.records.sql.migrate import migrate
from carrel.server.settings import FolderSettings

T = TypeVar("T")

_NAME_CHARACTERS = 100


class BadKeyName(Exception):
    """The name of a key is invalid or unknown; the message says what to do."""


class KeyChain:
    """The API keys of a data folder or of a shared database.

    A running server follows every change at once.
    """

    def __init__(self, data: Path, database: str | None = None) -> None:
        """Open the database, or the folder, making it if need be.

        Raises:
            FolderError: it cannot be used, or a server is migrating it.
            ServerSettingsError: its settings cannot be read.
            SharedDatabaseError: the database cannot be used.
        """
        self._folder = FolderLayout(data)
        shared = database or FolderSettings.load(self._folder.settings_file).database
        if shared is not None:
            self._url = shared
            self._secret = common_secret(shared)
            self._own_key_stays = "The key that the servers have in common cannot be revoked."
            return
        if self._folder.format != FORMAT:
            with DataFolder(data) as folder:
                migrate(folder)
        self._url = self._folder.database_url
        self._secret = self._folder.secret
        self._own_key_stays = (
            "The server's own key cannot be revoked. To change it, delete"
            f" {self._folder.path / 'key'} and start the server again."
        )

    def add(
        self,
        name: str,
        organisation: str,
        user: str,
        *,
        purpose: str | None = None,
        days: int | None = None,
        reads_only: bool = False,
    ) -> tuple[Key, str]:
        """Make a key that ends after `days`; return its listing and the key itself, which is
        not stored.

        Raises:
            BadKeyName: a name is empty, too long or taken.
        """
        name, organisation, user = map(_check, (name, organisation, user))
        new = NewKey(
            name,
            organisation,
            user,
            purpose=None if purpose is None else _check(purpose),
            expires_at=None if days is None else datetime.now(UTC) + timedelta(days=days),
            reads_only=reads_only,
        )
        secret = f"carrel_{secrets.token_urlsafe(32)}"
        hashed = KeyHash(self._secret)(secret)

        def write(connection: sa.Connection) -> Key:
            if name == keys.OWN or keys.find_named(connection, name):
                raise BadKeyName(
                    f"There is a key named {name} already. Choose another name, or revoke it first."
                )
            return keys.add(connection, new, hashed)

        return self._run(write), secret

    def list_all(self) -> Sequence[Key]:
        """Return all keys, revoked ones included, the oldest first."""
        return self._run(keys.list_all)

    def revoke(self, name: str) -> Key:
        """Revoke the key of a name and return its listing.

        Raises:
            BadKeyName: no active key has it, or it is the server's own.
        """

        def write(connection: sa.Connection) -> Key:
            if name == keys.OWN:
                raise BadKeyName(self._own_key_stays)
            found = keys.find_named(connection, name)
            if found is None:
                raise BadKeyName(f"No key named {name} is in force. See: carrel keys list")
            keys.revoke(connection, found.id)
            return found

        return self._run(write)

    def _run(self, work: Callable[[sa.Connection], T]) -> T:
        engine = make_engine(self._url)
        try:
            return write(engine, work)
        finally:
            engine.dispose()


def _check(name: str) -> str:
    name = name.strip()
    if not name or len(name) > _NAME_CHARACTERS or not name.isprintable():
        raise BadKeyName(
            f"A name has 1 to {_NAME_CHARACTERS} printable characters. Choose another."
        )
    return name
