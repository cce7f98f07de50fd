"""A database of synced folders: their files and the documents that hold their contents.

It survives crashes. If it is lost, the next sync reads all files again and matches them with the
library by hash.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass
from io import BufferedWriter
from pathlib import Path
from typing import Any, NamedTuple, Self

from carrel.sync.contents import Content
from carrel.sync.errors import SyncError
from carrel.sync.plan import Known
from carrel.sync.scan import Stat
from carrel.system.locking import Locked, lock_file

FORMAT = 4

_SCHEMA = """
CREATE TABLE folders (
    id INTEGER PRIMARY KEY,
    service TEXT NOT NULL, library_id TEXT NOT NULL, path TEXT NOT NULL,
    settings TEXT NOT NULL,
    synced_at REAL,
    documents INTEGER, newest TEXT,
    done INTEGER, total INTEGER, watched INTEGER NOT NULL DEFAULT 0,
    UNIQUE (service, library_id, path)
);
CREATE TABLE files (
    folder_id INTEGER NOT NULL REFERENCES folders ON DELETE CASCADE,
    path TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (folder_id, path)
) WITHOUT ROWID;
CREATE TABLE documents (
    folder_id INTEGER NOT NULL REFERENCES folders ON DELETE CASCADE,
    hash TEXT NOT NULL, document_id TEXT, name TEXT NOT NULL, own INTEGER NOT NULL,
    named INTEGER NOT NULL,
    PRIMARY KEY (folder_id, hash)
) WITHOUT ROWID;
"""

_ADDED = {
    2: ("folders ADD COLUMN newest TEXT",),
    3: (
        # This matches no file's time, so each file is read once more.
        "files ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0",
        "documents ADD COLUMN named INTEGER NOT NULL DEFAULT 1",
    ),
    4: (
        "folders ADD COLUMN done INTEGER",
        "folders ADD COLUMN total INTEGER",
        "folders ADD COLUMN watched INTEGER NOT NULL DEFAULT 0",
    ),
}
"""Columns added by each format version."""


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """The options of a folder's sync.

    `delete` deletes documents of deleted files; `delete_excluded` also those of excluded files.
    `include` and `exclude` are patterns as in `.gitignore`.
    """

    delete: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    delete_excluded: bool = False


class SyncedFolder(NamedTuple):
    """A folder synced with a library.

    `synced_at` is the end of the last sync, in seconds since 1970; `reached` has the done and total
    files of a later, interrupted sync, (0, 0) during its comparison; `watched` marks a watch that
    nobody stopped.
    """

    id: int
    library_id: str
    path: Path
    settings: SyncSettings
    synced_at: float | None
    reached: tuple[int, int] | None = None
    watched: bool = False


class LibraryMark(NamedTuple):
    """A library's document count and newest document; any addition or deletion changes the mark.

    On a service that does not list the newest first, only the count reveals changes.
    """

    documents: int
    newest: str | None


class Ledger:
    """The ledger in its folder. Use it from one thread; several processes may share it."""

    def __init__(self, home: Path) -> None:
        """Open the ledger in a folder.

        Raises:
            SyncError: the ledger cannot be opened.
        """
        self._home = home
        with self._explain_errors():
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._database = sqlite3.connect(home / "ledger.db", isolation_level=None)
            try:
                self._database.executescript(
                    # A power cut may lose the last entries; the library can restore them.
                    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
                )
                self._prepare()
            except BaseException:
                self._database.close()
                raise

    def _prepare(self) -> None:
        with self._transaction():
            format = self._database.execute("PRAGMA user_version").fetchone()[0]
            if format > FORMAT:
                raise SyncError(
                    f"The record of synced folders in {self._home} is of a newer version of "
                    "Carrel. Use that version."
                )
            if format == 0:
                for statement in _SCHEMA.split(";"):
                    self._database.execute(statement)
            else:
                for added in range(format + 1, FORMAT + 1):
                    for column in _ADDED[added]:
                        self._database.execute(f"ALTER TABLE {column}")
            if format != FORMAT:
                self._database.execute(f"PRAGMA user_version={FORMAT}")

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Folders

    def folders(self, service: str) -> list[SyncedFolder]:
        """Return the folders synced with a service's libraries, sorted by path."""
        rows = self._rows(
            f"SELECT {_FOLDER} FROM folders"
            # A ledger without options comes from a preview: no sync has run yet.
            " WHERE service = ? AND settings <> '{}' ORDER BY path, id",
            service,
        )
        return [_folder(*row) for row in rows]

    def folder(self, service: str, library_id: str, path: Path) -> SyncedFolder:
        """Return the folder's entry, created if missing.

        An empty `library_id` stands for a library still to be created; the entry passes to the
        first library with which the folder is synced.
        """
        key = (service, library_id, str(path))
        self._write(
            "UPDATE OR IGNORE folders SET library_id = ?2"
            " WHERE service = ?1 AND library_id = '' AND path = ?3",
            *key,
        )
        self._write(
            "INSERT INTO folders (service, library_id, path, settings) VALUES (?, ?, ?, '{}')"
            " ON CONFLICT DO NOTHING",
            *key,
        )
        [row] = self._rows(
            f"SELECT {_FOLDER} FROM folders WHERE service = ? AND library_id = ? AND path = ?", *key
        )
        return _folder(*row)

    def record_start(self, folder: SyncedFolder, settings: SyncSettings) -> None:
        """Record the start of a folder's sync with its options; `record_end` records its end."""
        text = json.dumps(asdict(settings))
        self._write(
            "UPDATE folders SET settings = ?, done = 0, total = 0 WHERE id = ?", text, folder.id
        )

    def reach(self, folder: SyncedFolder, done: int, total: int) -> None:
        """Record the number of files done by a running sync."""
        self._write("UPDATE folders SET done = ?, total = ? WHERE id = ?", done, total, folder.id)

    def record_end(self, folder: SyncedFolder, at: float) -> None:
        """Record the complete end of a sync."""
        self._write(
            "UPDATE folders SET synced_at = ?, done = NULL, total = NULL WHERE id = ?",
            at,
            folder.id,
        )

    def watch(self, folder_id: int, watched: bool) -> None:
        """Record whether to watch a folder, also after the next start."""
        self._write("UPDATE folders SET watched = ? WHERE id = ?", watched, folder_id)

    def lock_watch(self, folder: SyncedFolder) -> BufferedWriter:
        """Keep other processes from watching the folder until the result is closed.

        Raises:
            SyncError: another process is watching it.
        """
        return self._lock(folder, "watch.lock", "watched")

    def is_busy(self, folder: SyncedFolder) -> bool:
        """Return whether a process syncs or watches the folder now."""
        try:
            self.lock(folder).close()
            self.lock_watch(folder).close()
        except SyncError:
            return True
        return False

    def forget(self, folder: SyncedFolder) -> None:
        """Forget a folder; its documents stay in the library."""
        self._write("DELETE FROM folders WHERE id = ?", folder.id)

    def lock(self, folder: SyncedFolder) -> BufferedWriter:
        """Lock the folder against other processes until the result is closed.

        Raises:
            SyncError: another process is syncing it.
        """
        return self._lock(folder, "lock", "synced")

    def _lock(self, folder: SyncedFolder, ending: str, what: str) -> BufferedWriter:
        try:
            with self._explain_errors():
                return lock_file(self._home / f"{folder.id}.{ending}")
        except Locked as error:
            raise SyncError(
                f"{folder.path} is being {what} already, by another command or window. "
                "Stop that one first."
            ) from error

    # A folder's library

    def mark(self, folder: SyncedFolder) -> LibraryMark | None:
        """Return the library's mark from the folder's last complete sync, or None."""
        [(count, newest)] = self._rows(
            "SELECT documents, newest FROM folders WHERE id = ?", folder.id
        )
        return None if count is None else LibraryMark(count, newest)

    def set_mark(self, folder: SyncedFolder, mark: LibraryMark | None) -> None:
        values = (None, None) if mark is None else mark
        self._write("UPDATE folders SET documents = ?, newest = ? WHERE id = ?", *values, folder.id)

    # A folder's files

    def files(self, folder: SyncedFolder) -> dict[str, Content]:
        """Return the last seen files by path."""
        rows = self._rows(
            "SELECT path, hash, size, mtime_ns, ctime_ns FROM files WHERE folder_id = ?", folder.id
        )
        return {path: Content(Stat(*stat), hash) for path, hash, *stat in rows}

    def set_files(
        self, folder: SyncedFolder, old: Mapping[str, Content], new: Mapping[str, Content]
    ) -> None:
        """Record the current files; write only differences from `old`."""
        gone = [(folder.id, path) for path in old.keys() - new.keys()]
        changed = [
            (folder.id, path, *astuple(content.stat), content.hash)
            for path, content in new.items()
            if old.get(path) != content
        ]
        if not gone and not changed:
            return
        with self._explain_errors(), self._transaction():
            self._database.executemany("DELETE FROM files WHERE folder_id = ? AND path = ?", gone)
            self._database.executemany(
                "REPLACE INTO files (folder_id, path, size, mtime_ns, ctime_ns, hash)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                changed,
            )

    # A folder's documents

    def documents(self, folder: SyncedFolder) -> dict[str, Known]:
        """Return the documents that hold the folder's contents by hash."""
        rows = self._rows(
            "SELECT hash, document_id, name, own, named FROM documents"
            " WHERE folder_id = ? AND document_id IS NOT NULL",
            folder.id,
        )
        return {
            hash: Known(id, name, bool(own), bool(named)) for hash, id, name, own, named in rows
        }

    def unconfirmed_uploads(self, folder: SyncedFolder) -> frozenset[str]:
        """Return the hashes of uploads that started but have no recorded end."""
        rows = self._rows(
            "SELECT hash FROM documents WHERE folder_id = ? AND document_id IS NULL", folder.id
        )
        return frozenset(hash for (hash,) in rows)

    def begin(self, folder: SyncedFolder, hash: str, name: str) -> None:
        """Record an upload before it starts."""
        self._write(
            "REPLACE INTO documents (folder_id, hash, document_id, name, own, named)"
            " VALUES (?, ?, NULL, ?, 1, 0)",
            folder.id,
            hash,
            name,
        )

    def put(self, folder: SyncedFolder, hash: str, known: Known) -> None:
        """Record a document."""
        self._write(
            "REPLACE INTO documents (folder_id, hash, document_id, name, own, named)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            folder.id,
            hash,
            *astuple(known),
        )

    def drop(self, folder: SyncedFolder, hashes: Iterable[str]) -> None:
        """Remove the records of documents that are no longer in the library."""
        with self._explain_errors(), self._transaction():
            self._database.executemany(
                "DELETE FROM documents WHERE folder_id = ? AND hash = ?",
                [(folder.id, hash) for hash in hashes],
            )

    # SQLite

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        with self._explain_errors():
            return self._database.execute(statement, values).fetchall()

    def _write(self, statement: str, *values: Any) -> None:
        with self._explain_errors():
            self._database.execute(statement, values)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        # IMMEDIATE takes the lock at once: only one of two processes makes or migrates the tables.
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise SyncError(
                f"The record of synced folders in {self._home} cannot be used: {reason}. "
                "Mend that, then sync again: nothing is uploaded twice."
            ) from error


_FOLDER = "id, library_id, path, settings, synced_at, done, total, watched"


def _folder(
    id: int,
    library_id: str,
    path: str,
    settings: str,
    at: float | None,
    done: int | None,
    total: int | None,
    watched: int,
) -> SyncedFolder:
    stored: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in json.loads(settings).items()
    }
    reached = None if done is None or total is None else (done, total)
    return SyncedFolder(
        id, library_id, Path(path), SyncSettings(**stored), at, reached, bool(watched)
    )
