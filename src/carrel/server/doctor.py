"""Looks at every part of a server, whether or not it runs, and says what to mend."""

import asyncio
import getpass
import json
import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

import httpx
import sqlalchemy as sa

from carrel.locking import Locked, lock_file
from carrel.server import shared
from carrel.server.folder import FORMAT, FolderError, FolderLayout
from carrel.server.heartbeat import SILENT_SECONDS
from carrel.server.records import blobs as blob_records
from carrel.server.records import workers
from carrel.server.records.migrate import revision
from carrel.server.records.tables import api_keys, documents
from carrel.server.settings import FolderSettings, ServerSettings, ServerSettingsError

if TYPE_CHECKING:
    from carrel.server.blobs.bucket import Bucket

State = Literal["ok", "warning", "failed"]

_LITTLE_BYTES, _LEAST_BYTES = 5_000_000_000, 500_000_000
_SKEW_SECONDS, _MOST_SKEW_SECONDS = 5, 60
"""Object stores refuse signatures that are 15 minutes off; leases and expiry feel less."""
_ANSWER_SECONDS = 10
_READ_SECONDS = 60
_WAITS_SECONDS = 3600
_MOST_CONNECTIONS = 17
"""Connections of one process."""


@dataclass(frozen=True)
class Finding:
    """The state of a part, in words, and what to do if it is not well."""

    part: str
    state: State
    said: str
    advice: str = ""


def ok(part: str, said: str) -> Finding:
    """A part that is well."""
    return Finding(part, "ok", said)


def warning(part: str, said: str, advice: str) -> Finding:
    """A part that works, but needs attention."""
    return Finding(part, "warning", said, advice)


def failed(part: str, said: str, advice: str) -> Finding:
    """A part that does not work."""
    return Finding(part, "failed", said, advice)


Check = Callable[[ServerSettings], Awaitable[list[Finding]]]


async def examine(given: ServerSettings) -> AsyncIterator[Finding]:
    """The findings about a server with these settings, part by part."""
    folder = FolderLayout(given.data)
    try:
        settings = given.with_folder(FolderSettings.load(folder.settings_file))
    except ServerSettingsError as error:
        yield failed("settings", str(error), "The server does not start before.")
        settings = given
    except OSError as error:
        yield failed("settings", _why(error), f"Make {folder.settings_file} readable.")
        settings = given
    else:
        there = folder.settings_file.exists()
        yield ok("settings", f"{folder.settings_file}" if there else "defaults, no settings.toml")
    for part, check in _CHECKS.items():
        try:
            for finding in await check(settings):
                yield finding
        except Exception as error:
            # A broken part must not hide the others.
            yield failed(
                part, f"the check itself failed: {_why(error)}", "Report this as a defect."
            )


async def _data_folder(settings: ServerSettings) -> list[Finding]:
    folder, part = FolderLayout(settings.data), "data folder"
    path = folder.path
    if not path.exists():
        above = next(parent for parent in path.parents if parent.exists())
        if not os.access(above, os.W_OK | os.X_OK):
            return [
                failed(part, f"{path} cannot be made", f"Make {above} writable, or use --data.")
            ]
        return [warning(part, f"{path} is not there yet", "The first “carrel serve” makes it.")]
    if not path.is_dir():
        return [failed(part, f"{path} is a file", "Choose another folder with --data.")]
    try:
        with _scratch(path) as probe:
            probe.write_bytes(b"x")
    except OSError as error:
        advice = f"Give it to the server's user: chown -R {_user()} {path}"
        return [failed(part, f"{path} cannot be written: {_why(error)}", advice)]
    found = []
    try:
        present = folder.format
    except FolderError as error:
        return [failed(part, str(error), "Restore a backup: carrel restore.")]
    if present > FORMAT:
        said = f"{path} has format {present}; this version knows formats up to {FORMAT}"
        return [failed(part, said, "Install a newer Carrel.")]
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        advice = f"It holds keys: chmod 700 {path}"
        found.append(warning(part, f"{path} is open to other users ({mode:04o})", advice))
    else:
        # The folder of a server that shares a database has no records.
        format = f", format {present}" if present else ""
        found.append(ok(part, f"{path}, writable{format}"))
    for name in ("key", "secret"):
        file = path / name
        if not file.exists():
            continue
        if not os.access(file, os.R_OK) or not file.read_text("utf-8", "replace").strip():
            advice = f"Restore {file} from a backup: without the secret no key is accepted."
            found.append(failed(part, f"{file} is empty or unreadable", advice))
        elif stat.S_IMODE(file.stat().st_mode) & 0o077:
            found.append(warning(part, f"other users can read {file}", f"chmod 600 {file}"))
    return found


async def _disk(settings: ServerSettings) -> list[Finding]:
    path = next(
        p for p in (settings.data.absolute(), *settings.data.absolute().parents) if p.exists()
    )
    usage = shutil.disk_usage(path)
    said = f"{usage.free / 1e9:,.1f} GB of {usage.total / 1e9:,.1f} GB are free"
    advice = "Uploads fail when it is full. Free some space, or move bytes to a store: --blobs."
    if usage.free < _LEAST_BYTES:
        return [failed("disk", said, advice)]
    if usage.free < _LITTLE_BYTES:
        return [warning("disk", said, advice)]
    if hasattr(os, "statvfs"):
        inodes = os.statvfs(path)
        if inodes.f_files and inodes.f_favail < inodes.f_files / 100:
            return [failed("disk", f"{inodes.f_favail} inodes are free", advice)]
    return [ok("disk", said)]


async def _server(settings: ServerSettings) -> list[Finding]:
    """Whether one runs on the folder, and what it says of itself."""
    folder, part = FolderLayout(settings.data), "server"
    if not folder.path.is_dir():
        return []
    try:
        lock_file(folder.path / "lock").close()
        return [ok(part, "none runs on this folder")]
    except Locked:
        pass
    except OSError:
        return []
    if not folder.server_file.exists():
        return [warning(part, "one is starting, or a command uses the folder", "Look again soon.")]
    url = str(json.loads(folder.server_file.read_text("utf-8"))["url"])
    log = f"See {folder.log_folder / 'server.log'}."
    try:
        async with httpx.AsyncClient(
            trust_env=False, verify=False, timeout=_ANSWER_SECONDS
        ) as http:
            ready = await http.get(f"{url}/readyz")
    except httpx.HTTPError as error:
        return [failed(part, f"{url} does not answer: {_why(error)}", f"Restart it. {log}")]
    if ready.status_code != 200:
        failing = ", ".join(ready.json().get("failing", ["something"]))
        return [failed(part, f"{url} says that these fail: {failing}", log)]
    worker = ready.json()["worker"]
    return [ok(part, f"{url}: {worker['running']} documents run, {worker['queued']} wait")]


async def _records(settings: ServerSettings) -> list[Finding]:
    if settings.database is not None:
        return await asyncio.to_thread(_postgresql, settings.database)
    return await asyncio.to_thread(_sqlite, FolderLayout(settings.data))


def _sqlite(folder: FolderLayout) -> list[Finding]:
    part = "records"
    if not folder.database_file.exists():
        return [ok(part, "none yet")]
    try:
        address = f"file:{quote(str(folder.database_file))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=5)) as connection:
            [[checked]] = connection.execute("PRAGMA quick_check(1)").fetchall()
            wrong = connection.execute("PRAGMA foreign_key_check").fetchone()
    except sqlite3.Error as error:
        checked, wrong = str(error), None
    if checked != "ok" or wrong:
        said = f"{folder.database_file} is damaged: {checked if checked != 'ok' else 'lost rows'}"
        return [failed(part, said, "Stop the server and restore a backup: carrel restore.")]
    if folder.format != FORMAT:
        said = f"format {folder.format}; this version has {FORMAT}"
        return [warning(part, said, "The server's next start migrates it, after a copy.")]
    size = folder.database_file.stat().st_size
    return [ok(part, f"SQLite {sqlite3.sqlite_version}, whole, {size / 1e6:,.1f} MB")]


def _postgresql(url: str) -> list[Finding]:
    part = "database"
    migrate = "Run: carrel migrate --database URL"
    try:
        with shared.opened(url) as engine:
            with engine.connect() as connection:
                before = time.time()
                row = connection.execute(_FACTS).one()
                skew = row.now - (before + time.time()) / 2
                shared.require_suitable(connection)
                present = revision(connection)
                if present > FORMAT:
                    said = f"schema {present}; this version knows schemas up to {FORMAT}"
                    return [failed(part, said, "Install a newer Carrel.")]
                if present < FORMAT:
                    return [failed(part, f"schema {present}; this version needs {FORMAT}", migrate)]
                if not row.queues:
                    return [failed(part, "the tables of the queues are missing", migrate)]
                vectors = "pgvector is there" if row.vector else "no pgvector, which is optional"
                found = [ok(part, f"PostgreSQL {row.version}, schema {present}, {vectors}")]
                found += _connections(row.most - row.reserved, row.used)
                found.append(_clock("the database", skew))
                found += _workers(connection)
            return found
    except shared.SharedDatabaseError as error:
        advice = "Check that it runs, the address, and PGPASSWORD or ~/.pgpass."
        return [failed(part, str(error), advice)]


_FACTS = sa.text(
    "SELECT current_setting('server_version') AS version,"
    " extract(epoch FROM clock_timestamp())::float AS now,"
    " to_regclass('dbos.workflow_status') IS NOT NULL AS queues,"
    " EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'vector') AS vector,"
    " current_setting('max_connections')::int AS most,"
    " current_setting('superuser_reserved_connections')::int AS reserved,"
    " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used"
)


def _connections(most: int, used: int) -> list[Finding]:
    said = f"{used} of {most} connections are used"
    if most - used < _MOST_CONNECTIONS:
        advice = f"A process opens up to {_MOST_CONNECTIONS}: raise max_connections."
        return [warning("connections", said, advice)]
    return [ok("connections", said)]


def _workers(connection: sa.Connection) -> list[Finding]:
    alive = workers.alive(connection, SILENT_SECONDS)
    waiting = documents.c.process_status.in_(("queued", "processing"))
    unfinished = connection.scalar(sa.select(sa.func.count()).where(waiting)) or 0
    said = f"{alive} processes take jobs, {unfinished} documents are unfinished"
    if alive == 0 and unfinished:
        return [failed("workers", said, "Start one: carrel worker, or carrel serve.")]
    if alive == 0:
        return [warning("workers", said, "Start one before documents come: carrel worker.")]
    return [ok("workers", said)]


async def _keys(settings: ServerSettings) -> list[Finding]:
    folder = FolderLayout(settings.data)
    if settings.database is None and not folder.database_file.exists():
        return []
    try:
        count = await asyncio.to_thread(_count_keys, settings, folder)
    except (sa.exc.SQLAlchemyError, shared.SharedDatabaseError):
        return []  # said of the records
    if settings.database is None and not (folder.path / "secret").exists():
        advice = "Restore it from a backup; without it every key is refused."
        return [failed("keys", f"{folder.path / 'secret'} is missing", advice)]
    return [ok("keys", f"{count} in force")]


def _count_keys(settings: ServerSettings, folder: FolderLayout) -> int:
    query = sa.select(sa.func.count()).where(api_keys.c.revoked_at.is_(None))
    if settings.database is not None:
        with shared.opened(settings.database) as engine, engine.connect() as connection:
            return connection.scalar(query) or 0
    with _records_of(folder) as connection:
        return connection.scalar(query) or 0


async def _blobs(settings: ServerSettings) -> list[Finding]:
    part = "blobs"
    if settings.blobs is None:
        folder = FolderLayout(settings.data).blob_folder
        if settings.database is not None:
            said = "servers of a database need a store of their documents"
            return [failed(part, said, "Name it with --blobs s3://BUCKET/PREFIX.")]
        if not folder.exists():
            return [ok(part, "none yet")]
        try:
            with _scratch(folder) as probe:
                probe.write_bytes(b"x")
        except OSError as error:
            said = f"{folder} cannot be written: {_why(error)}"
            return [failed(part, said, f"chown -R {_user()} {folder}")]
        return [await asyncio.to_thread(_all_there, FolderLayout(settings.data))]
    from carrel.server.blobs.bucket import Bucket

    try:
        bucket = Bucket.of(settings.blobs, os.environ)
    except ValueError as error:
        return [failed(part, str(error), "Set them as for “carrel serve”.")]
    return await _bucket(bucket, settings.blobs)


def _all_there(folder: FolderLayout) -> Finding:
    """Whether every file that the records name is there."""
    part = "blobs"
    if not folder.database_file.exists() or folder.format != FORMAT:
        return ok(part, f"{folder.blob_folder}, writable")
    with _records_of(folder) as connection:
        live = blob_records.live(connection)
    gone = [hash for hash in live if not (folder.blob_folder / hash[:2] / hash).is_file()]
    if gone:
        said = f"{len(gone)} of {len(live)} are missing, such as {gone[0]}"
        return failed(part, said, "Copy them from a backup's blobs, or upload these files again.")
    return ok(part, f"{folder.blob_folder}, writable, all {len(live)} are there")


@contextmanager
def _records_of(folder: FolderLayout) -> Iterator[sa.Connection]:
    """A connection to a folder's records that cannot change them."""
    address = f"file:{quote(str(folder.database_file))}?mode=ro"
    engine = sa.create_engine("sqlite://", creator=lambda: sqlite3.connect(address, uri=True))
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


async def _bucket(bucket: "Bucket", url: str) -> list[Finding]:
    """Writes, reads and deletes an object by signed addresses, as clients use them."""
    part, key = "blobs", f"{bucket.prefix}doctor-{os.getpid()}-{socket.gethostname()}"
    where = f"{url} at {bucket.endpoint}"
    credentials = "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and their rights."
    async with httpx.AsyncClient(timeout=_ANSWER_SECONDS) as http:
        try:
            before = time.time()
            put = await http.put(bucket.sign("PUT", key, 60), content=b"carrel")
            skew = _skew(put, before)
            clock = [] if skew is None else [_clock("the store", skew)]
            if put.status_code == 404:
                return [failed(part, f"{where}: there is no bucket {bucket.name}", "Create it.")]
            if put.is_error:
                said = f"{where} refuses a write ({put.status_code} {_code(put)})"
                return [failed(part, said, credentials), *clock]
            got = await http.get(bucket.sign("GET", key, 60))
            forged = await http.get(bucket.sign("GET", key, 60)[:-4] + "0000")
            deleted = await http.delete(bucket.sign("DELETE", key, 60))
        except httpx.HTTPError as error:
            advice = "Check AWS_ENDPOINT_URL, and that the store runs."
            return [failed(part, f"{where} does not answer: {_why(error)}", advice)]
    if got.content != b"carrel" or deleted.is_error:
        which = "read" if got.content != b"carrel" else "delete"
        return [failed(part, f"{where} refuses a {which}", credentials), *clock]
    if forged.is_success:
        said = f"{where} does not check signatures: anybody can read documents"
        return [failed(part, said, "Turn authentication on in the store."), *clock]
    return [ok(part, f"{where}: write, signed read and delete work"), *clock]


async def _model(settings: ServerSettings) -> list[Finding]:
    if not settings.model_url:
        return await asyncio.to_thread(_embedded, settings)
    keys = settings.model_key or ("",)
    keys = keys * len(settings.model_url) if len(keys) == 1 else keys
    addresses = zip(settings.model_url, keys, strict=True)
    return [await _model_address(settings, url.rstrip("/"), key) for url, key in addresses]


async def _model_address(settings: ServerSettings, base: str, key: str) -> Finding:
    part = "model"
    try:
        async with httpx.AsyncClient(timeout=_ANSWER_SECONDS) as http:
            headers = {"authorization": f"Bearer {key}"} if key else {}
            answer = await http.get(f"{base}/models", headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        advice = "Start the model's server, or correct --model-url or model_url."
        return failed(part, f"{base} does not answer: {_why(error)}", advice)
    if answer.status_code in (401, 403):
        return failed(part, f"{base} refuses the key", "Set CARREL_MODEL_KEY or model_key.")
    try:
        names = [str(card["id"]) for card in answer.raise_for_status().json()["data"]]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        said = f"{base}/models is no list of models ({answer.status_code})"
        return failed(part, said, "An OpenAI-compatible address usually ends with /v1.")
    if not names:
        return failed(part, f"{base} has no model", "Load one there, such as: ollama pull NAME")
    if settings.model_name and settings.model_name not in names:
        said = f"{base} does not list {settings.model_name}, but {', '.join(names[:5])}"
        return failed(part, said, "Correct model_name, or load that model.")
    return ok(part, f"{base}: {', '.join(names[:5])}{' …' if len(names) > 5 else ''}")


def _embedded(settings: ServerSettings) -> list[Finding]:
    from importlib.util import find_spec

    from carrel.server.errors import ApiError
    from carrel.server.models.weights import built_in_weights

    part = "model"
    if find_spec("xllamacpp") is None:
        advice = "pip install 'carrel[server]', or use --model-url."
        return [failed(part, "the embedded engine is not installed", advice)]
    path = settings.model_path
    try:
        path = path or built_in_weights()
    except ApiError as error:
        return [failed(part, "the built-in model is missing", error.message)]
    try:
        with path.open("rb") as file:
            whole = file.read(4) == b"GGUF"
    except OSError as error:
        return [failed(part, f"{path}: {_why(error)}", "Correct --model or model_path.")]
    if not whole:
        return [failed(part, f"{path} is no GGUF model", "Correct --model or model_path.")]
    return [ok(part, f"{path.name}, embedded, {path.stat().st_size / 1e6:,.0f} MB")]


async def _reading(settings: ServerSettings) -> list[Finding]:
    """Reads a text and a picture with a parser and the OCR process of its own."""
    from carrel.server.reading.options import ReadOptions, UnreadableDocument
    from carrel.server.reading.processes.recogniser import OCRUnavailable
    from carrel.server.reading.reader import Reader

    found = []
    reader = Reader()
    await reader.start()
    try:
        with TemporaryDirectory(prefix="carrel-doctor-") as folder:
            text, picture = Path(folder) / "page.html", Path(folder) / "page.png"
            text.write_text("<p>heron</p>", "utf-8")
            await asyncio.to_thread(_draw, picture)
            for part, path, mimetype in (
                ("parsers", text, "text/html"),
                ("OCR", picture, "image/png"),
            ):
                began = time.perf_counter()
                try:
                    async with asyncio.timeout(_READ_SECONDS):
                        read = await reader.read(path, mimetype=mimetype, options=ReadOptions())
                except (OCRUnavailable, UnreadableDocument, TimeoutError, OSError) as error:
                    advice = "Reinstall the server: pip install --force-reinstall 'carrel[server]'"
                    found.append(failed(part, f"a page cannot be read: {_why(error)}", advice))
                    continue
                seconds = time.perf_counter() - began
                if "heron" in read.pages[0].markdown.lower():
                    found.append(ok(part, f"a page was read in {seconds:.1f} s"))
                else:
                    advice = "Reinstall the server: pip install --force-reinstall 'carrel[server]'"
                    found.append(failed(part, "a page was read wrong", advice))
    finally:
        await reader.stop()
    found.append(await asyncio.to_thread(_limits))
    return found


def _draw(path: Path) -> None:
    from PIL import Image, ImageDraw, ImageFont

    page = Image.new("RGB", (900, 300), "white")
    font = ImageFont.load_default(size=72)
    ImageDraw.Draw(page).text((80, 100), "The grey heron waits", "black", font)
    page.save(path)


def _limits() -> Finding:
    """Whether the system enforces the limits of parsers, tried in a process of its own."""
    part = "limits"
    code = (
        "from carrel.server.reading.processes.limits import limit_this_process, resource\n"
        "assert resource\nlimit_this_process()\n"
        "try: bytearray(3 * 2**30)\nexcept MemoryError: print('held')"
    )
    tried = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    if "held" in tried.stdout:
        return ok(part, "the system holds parsers to their memory")
    advice = "Serve trusted documents alone here: only time-outs hold a parser."
    return warning(part, "the system does not limit the memory of parsers", advice)


_CHECKS: dict[str, Check] = {
    "data folder": _data_folder,
    "disk": _disk,
    "server": _server,
    "records": _records,
    "blobs": _blobs,
    "keys": _keys,
    "model": _model,
    "parsers": _reading,
}


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    path = folder / f".doctor-{os.getpid()}"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _clock(of: str, skew: float) -> Finding:
    part, off = "clock", abs(skew)
    if off < _SKEW_SECONDS:
        return ok(part, f"in step with {of}")
    said = f"{of} is {off:,.0f} s {'ahead of' if skew > 0 else 'behind'} this machine"
    advice = "Set both clocks by NTP: signatures and expiry depend on them."
    return (failed if off > _MOST_SKEW_SECONDS else warning)(part, said, advice)


def _skew(answer: httpx.Response, before: float) -> float | None:
    """How far the clock of an answer's `Date` is ahead; it has whole seconds."""
    try:
        theirs = parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (KeyError, ValueError):
        return None
    return theirs + 0.5 - (before + time.time()) / 2


def _code(answer: httpx.Response) -> str:
    """The name that an object store gives an error."""
    _, _, rest = answer.text.partition("<Code>")
    return rest.partition("</Code>")[0][:50]


def _why(error: BaseException) -> str:
    words = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return words or type(error).__name__


def _user() -> str:
    return getpass.getuser()
