"""Looks for traces of permanently deleted items in records, files, objects and logs."""

import asyncio
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from carrel.server.admin.doctor.findings import Finding, failure, ok, reason_of, warning
from carrel.server.datadir.folder import FolderLayout
from carrel.server.records.sql.database import make_engine
from carrel.server.settings import FolderSettings, ServerSettings, ServerSettingsError

if TYPE_CHECKING:
    from obstore.store import S3Store

_CHUNK = 1 << 20
_PART = "remains"
_IN_USE = "Is it in the trash, or in something else?"
_COLLECTED = "Bytes go deleted_seconds and ten minutes after the last record that names them."


async def find_remains(given: ServerSettings, text: str) -> list[Finding]:
    """Return the places where an id, a hash, or any text, is left on a server, running or not.

    Places that cannot be searched are named.
    """
    folder = FolderLayout(given.data)
    try:
        settings = given.with_folder(FolderSettings.load(folder.settings_file))
    except (ServerSettingsError, OSError) as error:
        return [
            failure(
                "settings", reason_of(error), "They may name a database and a store: mend them."
            )
        ]
    return await asyncio.to_thread(lambda: [*_search(settings, folder, text)])


def _search(settings: ServerSettings, folder: FolderLayout, text: str) -> Iterator[Finding]:
    found = [*_search_folder(folder, text.encode())]
    if settings.database is not None:
        found += _search_records(settings.database, text)
    if settings.blobs is not None:
        found += _search_store(settings.blobs, text)
    yield from found or [ok(_PART, "nothing of it is left")]
    if settings.database is not None:
        yield warning(
            "elsewhere",
            "PostgreSQL's log and freed rows, old versions of objects and backups are not searched",
            "VACUUM frees rows, checkpoints recycle the log. The rest is yours to delete.",
        )


def _search_folder(folder: FolderLayout, wanted: bytes) -> Iterator[Finding]:
    """Search the bytes of every file, with pages that the database has freed, and its log."""
    for path in sorted(folder.path.rglob("*")):
        name = path.relative_to(folder.path)
        if path.is_file() and (wanted in path.name.encode() or _holds(_pieces(path), wanted)):
            advice = _COLLECTED if name.parts[0] in ("blobs", "fetched") else _IN_USE
            yield failure(_PART, f"{name} has it", advice)
    if _search_pages(folder.pages_file, wanted):
        yield failure(_PART, "remembered pages have it", "They go with the bytes.")


def _holds(pieces: Iterable[bytes], wanted: bytes) -> bool:
    end = b""
    for piece in pieces:
        if wanted in (both := end + piece):
            return True
        end = both[-len(wanted) :]
    return False


def _pieces(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while piece := file.read(_CHUNK):
                yield piece
    except OSError:
        return  # It went meanwhile.


def _search_pages(path: Path, wanted: bytes) -> bool:
    """Return whether the compressed cache of read pages has a text."""
    if not path.exists():
        return False
    engine = sa.create_engine(f"sqlite:///file:{path}?mode=ro&uri=true")
    try:
        with engine.connect() as connection:
            rows = connection.execute(sa.text("SELECT content FROM pages"))
            return any(wanted in zlib.decompress(content) for (content,) in rows)
    finally:
        engine.dispose()


def _search_records(url: str, text: str) -> Iterator[Finding]:
    """Search each row of each table, as PostgreSQL writes it."""
    engine = make_engine(url)
    try:
        with engine.connect() as connection:
            inspector = sa.inspect(connection)
            for schema in ("public", "dbos"):
                for table in inspector.get_table_names(schema):
                    rows = f'SELECT count(*) FROM {schema}."{table}" t'
                    query = f"{rows} WHERE strpos(CAST(t AS text), :it) > 0"
                    if count := connection.scalar(sa.text(query), {"it": text}):
                        yield failure(_PART, f"{count} rows of {schema}.{table} have it", _IN_USE)
    finally:
        engine.dispose()


def _search_store(url: str, text: str) -> Iterator[Finding]:
    """Search the key, which is a hash, and the bytes of each object of a store."""
    import obstore
    from obstore.exceptions import BaseError

    from carrel.server.blobs.bucket import Bucket
    from carrel.server.blobs.s3 import open_store

    try:
        store = open_store(Bucket.of(url, os.environ))
        for page in obstore.list(store):
            for key in (item["path"] for item in page):
                if text in key or _holds(_pieces_of_object(store, key), text.encode()):
                    yield failure(_PART, f"the object {key} has it", _COLLECTED)
    except (BaseError, ValueError) as error:
        yield failure(
            "blobs", f"{url} cannot be searched: {reason_of(error)}", "See “carrel doctor”."
        )


def _pieces_of_object(store: "S3Store", key: str) -> Iterator[bytes]:
    import obstore

    try:
        for piece in obstore.get(store, key).stream(_CHUNK):
            yield bytes(piece)
    except FileNotFoundError:
        return  # It went meanwhile.
