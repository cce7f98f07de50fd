"""Looks for traces of permanently deleted items in records, files and logs."""

import asyncio
import zlib
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from carrel.server.admin.doctor.findings import Finding, failure, ok
from carrel.server.datadir.folder import FolderLayout
from carrel.server.records.sql.database import make_engine
from carrel.server.settings import ServerSettings

_CHUNK = 1 << 20


async def find_remains(settings: ServerSettings, text: str) -> list[Finding]:
    """Return the places where an id, or any text, is left on a server, running or not."""
    folder = FolderLayout(settings.data)
    found = await asyncio.to_thread(lambda: [*_in_folder(folder, text.encode())])
    if settings.database is not None:
        found += await asyncio.to_thread(lambda: [*_in_records(settings.database or "", text)])
    return found or [ok("remains", "nothing of it is left")]


def _in_folder(folder: FolderLayout, wanted: bytes) -> Iterator[Finding]:
    """Look through the bytes of every file: also pages that a database has freed, and its log."""
    for path in sorted(folder.path.rglob("*")):
        if not path.is_file() or not _holds(path, wanted):
            continue
        name = path.relative_to(folder.path)
        if name.parts[0] in ("blobs", "fetched"):
            advice = (
                "Bytes go deleted_seconds and ten minutes after the last record that names them."
            )
            yield failure("remains", f"{name} has it", advice)
        else:
            yield failure("remains", f"{name} has it", "Is it in the trash, or in something else?")
    if _in_pages(folder.pages_file, wanted):
        yield failure("remains", "remembered pages have it", "They go with the bytes.")


def _holds(path: Path, wanted: bytes) -> bool:
    try:
        with path.open("rb") as file:
            end = b""
            while chunk := file.read(_CHUNK):
                if wanted in end + chunk:
                    return True
                end = chunk[-len(wanted) :]
    except OSError:
        return False  # It went meanwhile.
    return False


def _in_pages(path: Path, wanted: bytes) -> bool:
    """Look through the pages that were read, which are compressed."""
    if not path.exists():
        return False
    engine = sa.create_engine(f"sqlite:///file:{path}?mode=ro&uri=true")
    try:
        with engine.connect() as connection:
            rows = connection.execute(sa.text("SELECT content FROM pages"))
            return any(wanted in zlib.decompress(content) for (content,) in rows)
    finally:
        engine.dispose()


def _in_records(url: str, text: str) -> Iterator[Finding]:
    """Look through each row of each table, as PostgreSQL writes it."""
    engine = make_engine(url)
    try:
        with engine.connect() as connection:
            inspector = sa.inspect(connection)
            for schema in ("public", "dbos"):
                for table in inspector.get_table_names(schema):
                    rows = f'SELECT count(*) FROM {schema}."{table}" t'
                    query = f"{rows} WHERE strpos(CAST(t AS text), :it) > 0"
                    if count := connection.scalar(sa.text(query), {"it": text}):
                        said = f"{count} rows of {schema}.{table} have it"
                        yield failure("remains", said, "Is it in the trash, or in something else?")
    finally:
        engine.dispose()
