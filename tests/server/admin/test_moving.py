"""`carrel move`: from a folder to PostgreSQL and S3 and back, with nothing lost."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import sqlalchemy as sa

from carrel.server.admin.keys import KeyChain
from carrel.server.blobs.bucket import Bucket
from carrel.server.datadir.folder import FolderLayout
from carrel.server.records.sql import plain
from carrel.server.records.sql.database import make_engine
from carrel.server.records.sql.tables import (
    chunks,
    document_pages,
    document_words,
    documents,
    metadata,
    secrets,
    vectors,
    workers,
)
from support import storage
from support.libraries import LibraryUnderTest, connect, new_library
from support.postgres import postgres_server
from support.process import serve
from support.rounds import rounds
from support.s3 import stored

DOCUMENTS = rounds(36, 10_000)
_READ = rounds(12, 100)
"""Documents that the server reads; the others are copies with bytes of their own."""

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600), storage.only_alone]


@pytest.fixture(autouse=True)
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Variables of the S3 server for every process, and servers on the storage they are given."""
    monkeypatch.setattr(storage, "SHARED", True)
    for name, value in storage.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(storage, "SHARED", False)
    yield


def _carrel(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "carrel", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=1200)


_CHANGING = {("words", "id"), ("api_keys", "used_at")}
"""Columns that a move, or a use of the server between two, changes."""


def _rows(data: Path) -> dict[str, list[str]]:
    """Every row that a folder's database has."""
    engine = make_engine(FolderLayout(data).database_url)
    try:
        with engine.connect() as connection:
            return {
                table.name: sorted(
                    repr({name: row[name] for name in row if (table.name, name) not in _CHANGING})
                    for row in plain.select(connection, table)
                )
                for table in metadata.sorted_tables
                if table not in (secrets, workers)
            }
    finally:
        engine.dispose()


def _fill(http: httpx.Client, count: int) -> tuple[LibraryUnderTest, str]:
    """A library with documents, an agent with versions, things in the trash, a conversation."""
    library = new_library(http)
    texts = {f"{n}.md": f"# Heron {n}\n\nThe bird b{n}x.\n".encode() for n in range(count)}
    with ThreadPoolExecutor(4) as pool:
        ids = list(pool.map(library.add, texts, texts.values()))
    for id in ids:
        assert library.finished(id, 1200)["process_status"] == "done"
    library.http.patch(f"{library.path}/documents/{ids[0]}", json={"attributes": {"year": 2026}})
    agent = http.post("/v1/agents", json={"model": "smollm2", "name": "clerk"}).json()["id"]
    http.patch(f"/v1/agents/{agent}", json={"instructions": "Be brief."}).raise_for_status()
    http.delete(f"{library.path}/documents/{ids[1]}").raise_for_status()
    http.put("/v1/conversations/chat-1", json={"agent_id": agent, "entries": []}).raise_for_status()
    http.delete("/v1/conversations/chat-1").raise_for_status()
    return library, agent


def _copy_documents(data: Path, count: int) -> None:
    """Copies documents with all that was made of them, each under bytes of its own."""
    engine = make_engine(FolderLayout(data).database_url)
    try:
        with engine.begin() as connection:
            read = list(plain.select(connection, documents))
            of = {
                table: {
                    row["id"]: list(
                        plain.select(connection, table, table.c.document_id == row["id"])
                    )
                    for row in read
                }
                for table in (document_pages, chunks, document_words)
            }
            last = connection.scalar(sa.select(sa.func.max(chunks.c.id))) or 0
            for number in range(count):
                copied = dict(read[number % len(read)])
                original, copied["id"] = copied["id"], uuid4().hex
                content = f"copy {number}".encode()
                copied["blob"] = hash = hashlib.sha256(content).hexdigest()
                blob = FolderLayout(data).blob_folder / hash[:2] / hash
                blob.parent.mkdir(exist_ok=True)
                blob.write_bytes(content)
                plain.insert(connection, documents, [copied])
                for table, rows in of.items():
                    copies = [row | {"document_id": copied["id"]} for row in rows[original]]
                    for row in copies if table is chunks else ():
                        row["id"] = last = last + 1
                    plain.insert(connection, table, copies)
                    if table is chunks:
                        _copy_vectors(connection, rows[original], copies)
    finally:
        engine.dispose()


def _copy_vectors(
    connection: sa.Connection, originals: list[dict[str, Any]], copies: list[dict[str, Any]]
) -> None:
    for original, copy in zip(originals, copies, strict=True):
        rows = plain.select(connection, vectors, vectors.c.chunk_id == original["id"])
        plain.insert(connection, vectors, [row | {"chunk_id": copy["id"]} for row in rows])


def test_there_and_back(tmp_path: Path) -> None:
    here, team, back = (tmp_path / name for name in ("here", "team", "back"))
    with serve(here) as server, connect(server) as http:
        library, agent = _fill(http, _READ)
        own_key = server.api_key
    _copy_documents(here, DOCUMENTS - _READ)
    _, anna = KeyChain(here).add("anna", "local", "anna")
    before = _rows(here)
    assert len(before["vectors"]) == len(before["chunks"]) > 0

    database = postgres_server().migrated(uuid4().hex)
    blobs = ("--blobs", f"s3://tests/{uuid4().hex}")
    began = time.monotonic()
    there = _carrel("move", "--from", str(here), "--to", database, *blobs)
    assert there.returncode == 0, there.stderr
    assert "Everything is there and equal" in there.stderr
    seconds = [time.monotonic() - began]
    # Run again, as after a move that was cut short, it finds that nothing is missing.
    again = _carrel("move", "--from", str(here), "--to", database, *blobs)
    assert again.returncode == 0, again.stderr
    copied = [line.rpartition(", ")[2] for line in again.stderr.splitlines() if ", " in line]
    assert set(copied) == {"0 of them new"}

    with serve(team, "--database", database, *blobs) as server:
        assert server.api_key == own_key
        with connect(server) as http:
            moved = LibraryUnderTest(http, library.id)
            found = len(moved.marked("b5x"))
            assert found > 1
            assert moved.text(moved.search("b5x")[0]["document_id"]).startswith("# Heron 5")
            assert http.get(f"/v1/agents/{agent}").json()["versions"] == [0, 1]
            assert len(http.get("/v1/trash").json()["data"]) == 2
            headers = {"Authorization": f"Bearer {anna}"}
            assert http.get("/v1/agents", headers=headers).status_code == 200

    began = time.monotonic()
    home = _carrel("move", "--from", database, "--to", str(back), *blobs)
    assert home.returncode == 0, home.stderr
    seconds.append(time.monotonic() - began)
    after = _rows(back)
    for table, rows in before.items():
        # Summaries may have been written meanwhile.
        assert len(after[table]) == len(rows), table
        if table != "documents":
            assert after[table] == rows, table
    assert storage.blobs(back) >= storage.blobs(here)
    with serve(back) as server, connect(server) as http:
        assert server.api_key == own_key
        assert len(LibraryUnderTest(http, library.id).marked("b5x")) == found
    print(
        f"\nmoved {DOCUMENTS} documents: {sum(map(len, before.values()))} rows and"
        f" {len(storage.blobs(here))} blobs, there in {seconds[0]:.0f} s and back in"
        f" {seconds[1]:.0f} s"
    )


def test_a_move_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    here, database = tmp_path / "here", postgres_server().migrated(uuid4().hex)
    with serve(here) as server, connect(server) as http:
        library, _ = _fill(http, 12)
    url = f"s3://tests/{uuid4().hex}"
    move = ("move", "--from", str(here), "--to", database, "--blobs", url)

    def kill_after(told: str) -> None:
        command = [sys.executable, "-m", "carrel", *move]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as moving:
            assert moving.stderr is not None
            if told:
                assert any(line.startswith(told) for line in moving.stderr)
            while not stored(bucket):
                assert moving.poll() is None
            moving.kill()
        assert moving.returncode == -signal.SIGKILL

    bucket = Bucket.of(url, os.environ)
    for told in ("", "bytes:", "libraries:"):
        kill_after(told)
    ended = _carrel(*move)
    assert ended.returncode == 0, ended.stderr
    assert "Everything is there and equal" in ended.stderr
    assert "libraries: 1 row, 0 of them new" in ended.stderr
    options = ("--database", database, "--blobs", url)
    with serve(tmp_path / "team", *options) as server, connect(server) as http:
        moved = LibraryUnderTest(http, library.id)
        assert moved.documents()["pagination"]["total_items"] == 11
        for number in range(2, 12):
            [hit] = moved.marked(f"b{number}x")
            assert moved.text(hit["document_id"]).startswith(f"# Heron {number}")


def test_what_cannot_be_moved_is_said(tmp_path: Path) -> None:
    database = postgres_server().migrated(uuid4().hex)
    blobs = ("--blobs", f"s3://tests/{uuid4().hex}")

    def refused(*arguments: str) -> str:
        ended = _carrel("move", *arguments, *blobs)
        assert ended.returncode in (1, 2), ended.stderr
        assert "Traceback" not in ended.stderr
        return ended.stderr

    here = tmp_path / "here"
    assert "no server's data" in refused("--from", str(here), "--to", database)
    assert "from a data folder to" in refused("--from", str(here), "--to", str(tmp_path / "b"))
    with serve(here):
        assert "already runs" in refused("--from", str(here), "--to", database)
    KeyChain(here, database).add("other", "other", "other")
    assert "of another server" in refused("--from", str(here), "--to", database)
