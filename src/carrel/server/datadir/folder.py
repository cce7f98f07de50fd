"""The data folder of a server, with its lock."""

import json
import os
import platform
import secrets
import sqlite3
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from carrel.system.atomic import sync_folder, write_private
from carrel.system.locking import Locked, lock_file

FORMAT = 3
"""The folder format of this version; equals the number of its Alembic revision."""


def new_secret() -> str:
    """Return a new pepper for the hashes of API keys, as text."""
    return secrets.token_hex(32)


class FolderError(Exception):
    """The data folder cannot be used; the message names the reason and the next step."""


class FolderInUse(FolderError):
    """Another server has the folder."""


class FolderLayout:
    """The paths in a data folder; reading takes no lock."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.database_file = self.path / "carrel.db"
        """The SQLite database."""
        self.database_url = f"sqlite:///{self.database_file}"
        """The address of the database, as SQLAlchemy takes it."""
        self.blob_folder = self.path / "blobs"
        """The folder of stored bytes."""
        self.reserve_file = self.path / "reserve"
        """The disk space kept for deletes."""
        self.pages_file = self.path / "pages.db"
        """The cache of read pages; lost entries are read again."""
        self.fetched_folder = self.path / "fetched"
        """Short-lived copies of fetched documents."""
        self.log_folder = self.path / "log"
        """The folder of the rotating log."""
        self.settings_file = self.path / "settings.toml"
        """The settings of the folder, TOML."""
        self.signing_file = self.path / "signing.json"
        """The signing keys."""
        self.server_file = self.path / "server.json"
        """The announcement of the running server: its address and key."""
        self._port_file = self.path / "port"
        self._format_file = self.path / "format"

    @property
    def secret(self) -> bytes:
        """The pepper of API key hashes; it never leaves the folder."""
        return bytes.fromhex((self.path / "secret").read_text("ascii"))

    @property
    def name(self) -> str:
        """The name that tells this server from others with the same secrets; it never changes."""
        return (self.path / "name").read_text("utf-8").strip()

    @property
    def api_key(self) -> str:
        """The server's own API key."""
        return (self.path / "key").read_text("ascii").strip()

    @property
    def secrets(self) -> dict[str, str]:
        """The server's own API key and the pepper of key hashes, by the names of their files."""
        return {name: (self.path / name).read_text("ascii").strip() for name in ("key", "secret")}

    @property
    def port(self) -> int:
        """The last port, reused so that signed addresses survive a restart; 0 for none."""
        try:
            port = int(self._port_file.read_text("ascii"))
        except (OSError, ValueError):
            return 0
        return port if 0 < port < 2**16 else 0

    @port.setter
    def port(self, number: int) -> None:
        if number != self.port:
            write_private(self._port_file, f"{number}\n")

    @property
    def format(self) -> int:
        """The format the folder is in; 0 before its first migration."""
        try:
            return int(self._format_file.read_text("ascii"))
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except ValueError as error:
            raise FolderError(
                f"{self._format_file} does not hold a number: {self.path} is not a Carrel data"
                " folder, or it is damaged. Choose another with --data."
            ) from error

    @format.setter
    def format(self, number: int) -> None:
        write_private(self._format_file, f"{number}\n")


class DataFolder(FolderLayout):
    """A server's data folder, locked while it is open."""

    def __init__(self, path: Path) -> None:
        """Create the folder if it is missing, lock it, check its format and create its keys.

        Raises:
            FolderInUse: another server runs on it.
            FolderError: its format is newer than this version, or it cannot be written.
        """
        super().__init__(path)
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = lock_file(self.path / "lock")
        except Locked as error:
            raise FolderInUse(self._explain_lock()) from error
        except OSError as error:
            reason = "it is a file" if self.path.is_file() else error.strerror
            raise FolderError(
                f"The data folder {self.path} cannot be used: {reason}. Choose another with --data."
            ) from error
        try:
            if self.format > FORMAT:
                raise FolderError(
                    f"The data folder {self.path} has format {self.format}; this version of Carrel"
                    f" knows formats up to {FORMAT}. Install a newer Carrel, or choose another"
                    " folder with --data."
                )
            self.log_folder.mkdir(mode=0o700, exist_ok=True)
            self._keep("key", f"carrel_{secrets.token_urlsafe(32)}")
            self._keep("secret", new_secret())
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def back_up(self) -> Path:
        """Copy the database to `backups/` and return the copy's path."""
        folder = self.path / "backups"
        folder.mkdir(mode=0o700, exist_ok=True)
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        copy = folder / f"carrel-format{self.format}-{stamp}.db"
        part = copy.with_suffix(".part")
        part.unlink(missing_ok=True)
        source, target = sqlite3.connect(self.database_file), sqlite3.connect(part)
        try:
            source.backup(target)
        finally:
            source.close()
            target.close()
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.chmod(0o600)
        part.replace(copy)
        sync_folder(folder)
        return copy

    def put_secrets(self, values: Mapping[str, str]) -> None:
        """Exchange the folder's secrets for others."""
        for name, value in values.items():
            if value != self.secrets[name]:
                write_private(self.path / name, value)

    def share(self, agree: Callable[[dict[str, str]], dict[str, str]]) -> None:
        """Replace the folder's secrets with those shared by all servers of the database.

        Its server gets a name among them.
        """
        self._keep("name", f"{platform.node() or 'server'}-{secrets.token_hex(4)}")
        self.put_secrets(agree(self.secrets))

    def announce(self, url: str) -> dict[str, Any]:
        """Announce in the folder that a server answers at `url` and return the announcement."""
        address = {"url": url, "api_key": self.api_key, "pid": os.getpid()}
        write_private(self.server_file, json.dumps(address))
        return address

    def close(self) -> None:
        """Remove the announcement and release the lock."""
        if not self._lock.closed:
            self.server_file.unlink(missing_ok=True)
            self._lock.close()

    def _keep(self, name: str, fresh: str) -> None:
        path = self.path / name
        if not path.exists():
            write_private(path, fresh)

    def _explain_lock(self) -> str:
        try:
            running = json.loads(self.server_file.read_text("utf-8"))
            where = f"at {running['url']} (process {running['pid']})"
        except (OSError, ValueError, KeyError):
            where = "and is just starting"
        return f"A server already runs on {self.path} {where}. Use it, or choose another --data."
