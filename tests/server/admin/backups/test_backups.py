"""`carrel backup` and `carrel restore`: between both storages, while the server works."""

import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from uuid import uuid4

import httpx
import pytest
import sqlalchemy as sa

from carrel.server.admin.keys import KeyChain
from carrel.server.blobs.bucket import Bucket
from carrel.server.datadir.folder import FolderLayout
from carrel.server.housekeeping.gc_pause import hold_off
from carrel.server.records.sql import plain
from carrel.server.records.sql.database import make_engine
from carrel.server.records.sql.tables import documents, files, metadata, secrets, workers
from support import storage
from support.libraries import LibraryUnderTest, connect, new_library
from support.postgres import postgres_server
from support.process import RunningServer, serve
from support.rounds import rounds
from support.s3 import stored

pytestmark = [pytest.mark.timeout(600), storage.only_alone]

Storage = tuple[str, ...]
"""The options that name a storage."""


@pytest.fixture(autouse=True)
def buckets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Variables of the S3 server for every process, and servers on the storage they are given."""
    monkeypatch.setattr(storage, "SHARED", True)
    for name, value in storage.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(storage, "SHARED", False)
    yield


def _carrel(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "carrel", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def _team() -> Storage:
    database = postgres_server().migrated(uuid4().hex)
    return ("--database", database, "--blobs", f"s3://tests/{uuid4().hex}")


def _place(kind: str, folder: Path) -> tuple[Path, Storage]:
    """The data folder of a server, and the options of its storage beside it."""
    return folder, (_team() if kind == "team" else ())


def _named(data: Path, options: Storage) -> tuple[str | Path, ...]:
    """The options by which a backup finds the storage."""
    return options or ("--data", data)


def _contents(server: RunningServer) -> dict[str, str]:
    """The hash of every file that the server gives out, by its name."""
    with connect(server) as http:
        items = http.get("/v1/files", params={"page_size": 1000}).json()["data"]
        return {item["filename"]: _hash(http, item["id"]) for item in items}


def _hash(http: httpx.Client, id: str) -> str:
    content = http.get(f"/v1/files/{id}/content")
    assert content.status_code == 200, content.text
    return hashlib.sha256(content.content).hexdigest()


def _upload(http: httpx.Client, name: str, data: bytes) -> None:
    sent = http.post("/v1/files", data={"purpose": "ocr"}, files={"file": (name, data)})
    sent.raise_for_status()


@pytest.mark.parametrize("source", ["alone", "team"])
def test_a_backup_of_a_busy_server_is_one_moment_of_it(source: str, tmp_path: Path) -> None:
    data, options = _place(source, tmp_path / "here")
    data.mkdir()
    # Deleted bytes go as soon as they may.
    (data / "settings.toml").write_text("[limits]\ntrash_days = 0\ndeleted_seconds = 5\n")
    backup, stop = tmp_path / "backup", Event()
    with serve(data, *options) as server, connect(server) as http:
        library = new_library(http)
        names = [f"{n}.md" for n in range(6)]
        for name in names:
            library.processed(name, f"# Heron {name}\n\nThe bird {name}.\n".encode())
        before = {f"{n}.bin": os.urandom(100_000) for n in range(40)}
        for name, content in before.items():
            _upload(http, name, content)

        def busy(worker: int) -> int:
            """Uploads, and deletes what was uploaded, until told to stop."""
            count = 0
            with connect(server) as own:
                while not stop.is_set():
                    _upload(own, f"{worker}-{count}.txt", os.urandom(2000))
                    if count % 2:
                        listed = own.get("/v1/files", params={"search": f"{worker}-"}).json()
                        own.delete(f"/v1/files/{listed['data'][0]['id']}").raise_for_status()
                    count += 1
            return count

        with ThreadPoolExecutor(2) as pool:
            running = [pool.submit(busy, worker) for worker in range(2)]
            time.sleep(1.5)
            made = _carrel("backup", backup, *_named(data, options))
            stop.set()
            uploaded = sum(future.result() for future in running)
        assert made.returncode == 0, made.stderr
        assert "Backed up to" in made.stderr
    print(f"\n{source}: {uploaded} uploads meanwhile")
    assert uploaded > 5

    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in before.items()}
    for target in ("alone", "team"):
        _restored(source, target, backup, tmp_path / target, server.api_key, hashes, library, names)


def _restored(
    source: str,
    target: str,
    backup: Path,
    folder: Path,
    key: str,
    hashes: dict[str, str],
    library: LibraryUnderTest,
    names: list[str],
) -> None:
    """Restores the backup and compares what its server gives out."""
    back, there = _place(target, folder)
    restored = _carrel("restore", backup, *_named(back, there))
    assert restored.returncode == 0, restored.stderr
    assert "all equal" in restored.stderr
    # The settings of a data folder are part of its backup.
    assert (back / "settings.toml").exists() == (source == target == "alone")
    with serve(back, *there) as again, connect(again) as http:
        assert again.api_key == key
        found = _contents(again)
        assert {name: found[name] for name in hashes} == hashes
        moved = LibraryUnderTest(http, library.id)
        for name in names:
            [hit] = [hit for hit in moved.marked("heron") if hit["document_name"] == name]
            assert moved.text(hit["document_id"]).startswith(f"# Heron {name}")
        assert moved.processed("new.md", b"# Stork\n\nA new one.\n")
    rows = back if target == "alone" else None
    _same_bytes(rows, there, backup)


def _same_bytes(data: Path | None, options: Storage, backup: Path) -> None:
    """Every row of the backup names bytes of it, and the restored records have the row."""
    address = f"file:{backup / 'carrel.db'}?mode=ro"
    # Not by our own engine, which would change the file.
    kept = sa.create_engine("sqlite://", creator=lambda: sqlite3.connect(address, uri=True))
    mine = _blobs_of(kept)
    theirs = _blobs_of(make_engine(storage.database_url(data) if data else options[1]))
    assert mine.items() <= theirs.items()
    for hash in mine.values():
        content = (backup / "blobs" / hash[:2] / hash).read_bytes()
        assert hashlib.sha256(content).hexdigest() == hash


def _blobs_of(engine: sa.Engine) -> dict[str, str]:
    try:
        with engine.connect() as connection:
            return {
                row.id: row.blob
                for table in (files, documents)
                for row in connection.execute(sa.select(table.c.id, table.c.blob))
            }
    finally:
        engine.dispose()


_CHANGING = {("words", "id"), ("api_keys", "used_at")}
"""Columns that a restore, or a use of the server between two, changes."""


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


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_data_folder_goes_to_a_database_and_back(tmp_path: Path) -> None:
    here, back = tmp_path / "here", tmp_path / "back"
    with serve(here) as server, connect(server) as http:
        library, agent = _fill(http, rounds(12, 100))
        own_key = server.api_key
    _, anna = KeyChain(here).add("anna", "local", "anna")
    before = _rows(here)
    assert len(before["vectors"]) == len(before["chunks"]) > 0

    team = _team()
    assert _carrel("backup", tmp_path / "there", "--data", here).returncode == 0
    there = _carrel("restore", tmp_path / "there", *team)
    assert there.returncode == 0, there.stderr
    assert "all equal" in there.stderr
    with serve(tmp_path / "team", *team) as server:
        assert server.api_key == own_key
        with connect(server) as http:
            moved = LibraryUnderTest(http, library.id)
            [hit] = moved.marked("b5x")
            assert moved.text(hit["document_id"]).startswith("# Heron 5")
            assert http.get(f"/v1/agents/{agent}").json()["versions"] == [0, 1]
            assert len(http.get("/v1/trash").json()["data"]) == 2
            headers = {"Authorization": f"Bearer {anna}"}
            assert http.get("/v1/agents", headers=headers).status_code == 200

    assert _carrel("backup", tmp_path / "again", *team).returncode == 0
    home = _carrel("restore", tmp_path / "again", "--data", back)
    assert home.returncode == 0, home.stderr
    after = _rows(back)
    for table, rows in before.items():
        # Summaries may have been written meanwhile.
        assert len(after[table]) == len(rows), table
        if table != "documents":
            assert after[table] == rows, table
    assert storage.blobs(back) >= storage.blobs(here)
    with serve(back) as server, connect(server) as http:
        assert server.api_key == own_key
        assert len(LibraryUnderTest(http, library.id).marked("b5x")) == 1


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a server that has ended, with 60 files."""
    data = tmp_path_factory.mktemp("kept") / "data"
    with serve(data) as server, connect(server) as http:
        for n in range(60):
            _upload(http, f"{n}.bin", os.urandom(300_000))
    return data


@pytest.fixture(scope="module")
def whole(kept: Path) -> Path:
    """A backup of it."""
    backup = kept.parent / "backup"
    assert _carrel("backup", backup, "--data", kept).returncode == 0
    return backup


def test_one_that_is_killed_goes_on(kept: Path, tmp_path: Path) -> None:
    steps: list[tuple[list[str | Path], Path]] = [
        (["backup", tmp_path / "backup", "--data", kept], tmp_path / "backup"),
        (["restore", tmp_path / "backup", "--data", tmp_path / "back"], tmp_path / "back"),
    ]
    for command, done in steps:
        part = next(iter(done.parent.glob(f"{done.name}.*")), None)
        killed = subprocess.Popen([sys.executable, "-m", "carrel", *map(str, command)])
        deadline = time.monotonic() + 60
        while part is None or not list(part.glob("blobs/??/*")):
            part = next(iter(done.parent.glob(f"{done.name}.*")), None)
            assert time.monotonic() < deadline
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert not done.exists()
        copied = {path: path.stat().st_mtime_ns for path in part.glob("blobs/??/*")}
        ended = _carrel(*command)
        assert ended.returncode == 0, ended.stderr
        assert len(copied) < 60
        for path, stamp in copied.items():
            # What was there was not copied again.
            assert (done / path.relative_to(part)).stat().st_mtime_ns == stamp
        assert not part.exists()
    assert len(list((tmp_path / "back").glob("blobs/??/*"))) == 60
    with serve(tmp_path / "back") as server:
        assert len(_contents(server)) == 60


def test_a_restore_to_a_store_that_is_killed_goes_on_and_mends_what_is_damaged(
    whole: Path, tmp_path: Path
) -> None:
    team = _team()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage, "SHARED", True)
        bucket = Bucket.of(team[3], storage.environment())
    command = [sys.executable, "-m", "carrel", "restore", str(whole), *team]
    killed = subprocess.Popen(command)
    deadline = time.monotonic() + 60
    while not stored(bucket):
        assert time.monotonic() < deadline and killed.poll() is None
    killed.kill()
    killed.wait()
    # An object of the right name with other bytes, as no S3 store should keep one.
    hash = sorted(path.name for path in whole.glob("blobs/??/*"))[0]
    key = f"{bucket.prefix}{hash[:2]}/{hash}"
    httpx.put(bucket.sign("PUT", key, 60), content=b"damaged").raise_for_status()
    ended = _carrel("restore", whole, *team)
    assert ended.returncode == 0, ended.stderr
    assert "reading back" in ended.stderr
    for path in whole.glob("blobs/??/*"):
        key = f"{bucket.prefix}{path.parent.name}/{path.name}"
        assert httpx.get(bucket.sign("GET", key, 60)).content == path.read_bytes()


def test_garbage_collection_waits_for_a_backup(kept: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(kept, data)
    (data / "settings.toml").write_text("[limits]\ntrash_days = 0\ndeleted_seconds = 1\n")
    with serve(data) as server, connect(server) as http:
        with hold_off(FolderLayout(data), lambda line: None):
            item = http.get("/v1/files").json()["data"][0]
            [blob] = data.glob(f"blobs/??/{_hash(http, item['id'])}")
            http.delete(f"/v1/files/{item['id']}").raise_for_status()
            time.sleep(3)
            assert blob.exists()
        deadline = time.monotonic() + 20
        while blob.exists():
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_what_is_damaged_is_found(whole: Path, tmp_path: Path) -> None:
    assert "is whole: " in _carrel("restore", whole, "--check").stderr
    backup = tmp_path / "backup"
    shutil.copytree(whole, backup)

    def refused(words: str, *options: str | Path) -> None:
        for command in (["--check"], ["--data", tmp_path / "new"]):
            ended = _carrel("restore", backup, *command, *options)
            assert ended.returncode == 1, ended.stderr
            assert words in ended.stderr
            assert "Traceback" not in ended.stderr
            assert not (tmp_path / "new").exists()

    blob = next(backup.glob("blobs/??/*"))
    content = blob.read_bytes()
    blob.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    refused("are damaged")
    blob.unlink()
    refused("are missing")
    blob.write_bytes(content)
    with (backup / "carrel.db").open("r+b") as records:
        records.seek(5000)
        records.write(b"\xff" * 100)
    refused("carrel.db is damaged")
    manifest = (backup / "backup.json").read_text()
    (backup / "backup.json").write_text(manifest.replace('"format": ', '"format": 9'))
    refused("Install a newer Carrel")
    (backup / "backup.json").unlink()
    refused("is not a complete backup")


def test_nothing_is_overwritten(whole: Path, kept: Path, tmp_path: Path) -> None:
    there = _carrel("backup", whole, "--data", kept)
    assert (there.returncode, "nothing is overwritten" in there.stderr) == (1, True)
    full = _carrel("restore", whole, "--data", kept)
    assert (full.returncode, "nothing is overwritten" in full.stderr) == (1, True)
    team = _team()
    assert _carrel("restore", whole, *team).returncode == 0
    again = _carrel("restore", whole, *team)
    assert again.returncode == 1
    assert "The database has records of a server" in again.stderr
    bare = postgres_server().create(uuid4().hex)
    unready = _carrel("restore", whole, "--database", bare, *team[2:])
    assert (unready.returncode, "carrel migrate" in unready.stderr) == (1, True)


def test_a_full_disk_is_said_and_leaves_nothing_half_done(
    kept: Path, whole: Path, tmp_path: Path
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(small)]
    if subprocess.run(options, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        full = _carrel("backup", small / "backup", "--data", kept)
        assert full.returncode == 1, full.stderr
        assert "is full. Free some space" in full.stderr
        assert not (small / "backup").exists()
        little = _carrel("restore", whole, "--data", small / "data")
        assert little.returncode == 1
        assert "MB are free" in little.stderr.replace("\n", " ")
    finally:
        subprocess.run(["umount", str(small)], check=True)
