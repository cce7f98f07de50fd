"""A server that is killed at any moment and started again: nothing is lost, nothing is half.

Each loop kills a real server with SIGKILL while several clients work on it. What a client got an
answer for must be so ever after; what it asked for and got no answer for may be so or not, but
whole. At the end the collector runs, and the bytes then kept are those that the records name.
"""

import hashlib
import random
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from carrel.server.records.sql.tables import agent_versions, metadata
from support import storage
from support.crashes import Uploads, named_blobs, rows, storm
from support.libraries import LibraryUnderTest, connect, new_library
from support.process import serve
from support.rounds import rounds

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]


def _collected(data: Path) -> set[str]:
    """Starts the server once more, which keeps no byte that nothing names; the hashes left."""
    (data / "settings.toml").write_text("[limits]\ndeleted_seconds = 1\n")
    with serve(data) as server, connect(server) as http:
        assert http.get("/readyz").status_code == 200
        named = named_blobs(data)
        deadline = time.monotonic() + 60
        while storage.blobs(data) - named:
            assert time.monotonic() < deadline, "the collector left blobs that nothing names"
            time.sleep(0.1)
    assert storage.blobs(data) == named, "a record names bytes that are not there"
    if not storage.SHARED:
        for path in (data / "blobs").glob("[0-9a-f][0-9a-f]/*"):
            assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
    assert list((data / "blobs" / "tmp").iterdir()) == []
    return named


def test_kill_during_uploads(tmp_path: Path) -> None:
    data, uploads = tmp_path / "data", Uploads(0, 10, 300_000, 3_000_000)
    storm(data, rounds(2, 32), uploads.upload)
    assert uploads.answered
    with serve(data) as server, connect(server) as http:
        total = uploads.check(http)
    assert set(uploads.answered.values()) <= _collected(data)
    print(f"\nuploads: {len(uploads.answered)} answered, {total} there")


def test_kill_during_patches(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serve(data) as server, connect(server) as http:
        agent = http.post("/v1/agents", json={"model": "smollm2", "name": "clerk"}).json()
    path, sent, answered = f"/v1/agents/{agent['id']}", set[str](), dict[int, str]()

    def patch(http: httpx.Client, chance: random.Random) -> None:
        words = f"{chance.getrandbits(60):x}"
        sent.add(words)
        answer = http.patch(path, json={"instructions": words})
        assert answer.status_code == 200, answer.text
        assert answer.json()["instructions"] == words
        assert answered.setdefault(answer.json()["version"], words) == words

    storm(data, rounds(2, 32), patch)
    with serve(data) as server, connect(server) as http:
        now = http.get(path).json()
    with storage.connected(data, reading=True) as connection:
        kept = connection.execute(sa.select(agent_versions.c.number, agent_versions.c.settings))
        versions = {number: settings.get("instructions") for number, settings in kept}
    assert sorted(versions) == list(range(len(versions)))
    assert {number: versions[number] for number in answered} == answered
    assert set(versions.values()) - {None} <= sent
    assert rows(data, "SELECT active_version FROM agents") == [(now["version"],)]
    assert now["version"] == max(versions)
    assert now["instructions"] == versions[now["version"]]
    print(f"\npatches: {len(answered)} answered, {len(versions) - 1} kept, of {len(sent)} sent")


class Things:
    """What clients make and delete, and what they know of it."""

    def __init__(self) -> None:
        self.known = set[str]()
        """Paths of what was answered to be there and that nobody asked to delete."""
        self.deleted = set[str]()
        """Paths of what was answered to be deleted."""
        self.bytes = dict[str, bytes]()

    def made(self, path: str, content: bytes | None = None) -> None:
        if content is not None:
            self.bytes[path] = content
        self.known.add(path)

    def delete(self, http: httpx.Client, path: str) -> None:
        """Deletes a thing and all that is below it."""
        below = {
            other for other in list(self.known) if other == path or other.startswith(f"{path}/")
        }
        self.known -= below
        assert http.delete(path).status_code in (200, 204)
        self.deleted |= below


def _make_and_delete(things: Things, http: httpx.Client, chance: random.Random) -> None:
    text = f"# Words\n\n{chance.getrandbits(60):x} stands here alone.\n".encode()
    agent = http.post("/v1/agents", json={"model": "smollm2", "name": "clerk"}).json()
    http.patch(f"/v1/agents/{agent['id']}", json={"name": "other"})
    http.put(f"/v1/agents/{agent['id']}/aliases", params={"alias": "prod", "version": 1})
    file = http.post("/v1/files", files={"file": ("a.md", text)}).json()
    library = new_library(http)
    document = library.add("a.md", text)
    own = [
        (f"/v1/agents/{agent['id']}", None),
        (f"/v1/files/{file['id']}", text),
        (library.path, None),
        (f"{library.path}/documents/{document}", text),
    ]
    for path, content in own:
        things.made(path, content)
    for path, _ in chance.sample(own, 3):
        if path in things.known:
            things.delete(http, path)


def test_kill_during_deletes(tmp_path: Path) -> None:
    data, things = tmp_path / "data", Things()

    def work(http: httpx.Client, chance: random.Random) -> None:
        _make_and_delete(things, http, chance)

    storm(data, rounds(2, 32), work, seconds=(0, 2))
    assert things.known
    assert things.deleted
    with serve(data) as server, connect(server) as http:
        for path in things.deleted:
            assert http.get(path).status_code == 404, path
        for path in things.known:
            assert http.get(path).status_code == 200, path
            if path.startswith("/v1/files/"):
                assert http.get(f"{path}/content").content == things.bytes[path]
            elif "/documents/" in path:
                library_id, _, id = path.removeprefix("/v1/libraries/").split("/")
                library = LibraryUnderTest(http, library_id)
                assert library.finished(id, 120)["process_status"] == "done"
                assert library.text(id).encode().strip() == things.bytes[path].strip()
        _wait_until_idle(data)
    _collected(data)
    _assert_no_orphans(data)
    print(f"\ndeletes: {len(things.deleted)} deleted, {len(things.known)} kept")


def _wait_until_idle(data: Path) -> None:
    """Waits until every job has ended, also those of documents that nobody knows the id of."""
    deadline = time.monotonic() + 120
    jobs = "dbos.workflow_status" if storage.SHARED else "workflow_status"
    unfinished = f"SELECT 1 FROM {jobs} WHERE status IN ('ENQUEUED', 'DELAYED', 'PENDING')"
    while rows(data, unfinished):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _assert_no_orphans(data: Path) -> None:
    """Every row's parents are there, and each index holds its rows and no others."""
    for table in metadata.sorted_tables:
        for parent in ("document", "library", "agent"):
            # The library of a document in the trash may be gone.
            if f"{parent}_id" in table.c and table.name != "trash":
                parents = "libraries" if parent == "library" else f"{parent}s"
                lost = f"{parent}_id NOT IN (SELECT id FROM {parents})"
                assert rows(data, f"SELECT * FROM {table} WHERE {lost}") == [], table
    if not storage.SHARED:
        _assert_whole(data)
    unfinished = "process_status NOT IN ('done', 'error')"
    assert rows(data, f"SELECT id FROM documents WHERE {unfinished}") == []


def _assert_whole(data: Path) -> None:
    """SQLite's own checks find nothing wrong."""
    assert rows(data, "PRAGMA integrity_check") == [("ok",)]
    assert rows(data, "PRAGMA foreign_key_check") == []
    with closing(sqlite3.connect(data / "carrel.db")) as database:
        for table, made in rows(data, "SELECT name, sql FROM sqlite_master WHERE type = 'table'"):
            if "USING fts5" in made:
                check = f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)"
                database.execute(check)
