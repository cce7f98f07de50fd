"""`carrel keys`: made, shown once, listed, revoked; beside a running server and without one."""

import asyncio
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from carrel.server.records.sql.tables import api_keys
from support import storage
from support.command import carrel
from support.process import RunningServer, serve


def status(
    server: RunningServer,
    key: str,
    method: str = "GET",
    path: str = "/v1/files",
    body: dict[str, Any] | None = None,
) -> int:
    headers = {"authorization": f"Bearer {key}"}
    url = server.url + path
    return httpx.request(method, url, json=body, headers=headers, timeout=60).status_code


@pytest.fixture
def data(server: RunningServer) -> Path:
    return server.data


async def test_a_key_of_a_running_server_counts_at_once_until_it_is_revoked(
    server: RunningServer, data: Path
) -> None:
    made = await carrel("keys", "add", "anna", "--organisation", "archive", "--data", data)
    assert made.code == 0, made.err
    key = made.out.strip()
    assert status(server, key) == 200
    listed = await carrel("keys", "list", "--data", data, "--json")
    [anna] = [entry for entry in listed.json if entry["name"] == "anna"]
    assert (anna["organisation"], anna["user"], anna["revoked_at"]) == ("archive", "anna", None)
    revoked = await carrel("keys", "revoke", "anna", "--data", data)
    assert revoked.code == 0
    assert status(server, key) == 401
    assert status(server, server.api_key) == 200
    assert (await carrel("keys", "revoke", "anna", "--data", data)).code == 2
    # The name is free again, for another key.
    again = await carrel("keys", "add", "anna", "--data", data, "--json")
    assert again.json["key"] != key
    assert status(server, key) == 401
    assert status(server, again.json["key"]) == 200


async def test_a_key_made_before_the_first_start_is_good(tmp_path: Path) -> None:
    data = tmp_path / "data"
    made = await carrel("keys", "add", "anna", "--data", data)
    assert made.code == 0, made.err
    assert not [path for path in data.rglob("*") if path.stat().st_mode & 0o077]
    with serve(data) as server:
        assert status(server, made.out.strip()) == 200
        assert status(server, server.api_key) == 200
    listed = await carrel("keys", "list", "--data", data)
    assert made.out.strip() not in listed.out + listed.err
    kept = b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())
    assert made.out.strip().encode() not in kept
    with sqlite3.connect(data / "carrel.db") as database:
        names = database.execute("SELECT name FROM users ORDER BY name").fetchall()
        organisations = database.execute("SELECT name FROM organisations").fetchall()
    database.close()
    assert names == [("anna",), ("local",)]
    assert organisations == [("local",)]


async def test_a_folder_that_is_not_there_is_not_made_by_a_look(tmp_path: Path) -> None:
    for command in (["list"], ["revoke", "anna"]):
        ended = await carrel("keys", *command, "--data", tmp_path / "typo")
        assert (ended.code, "There is no data folder" in ended.err) == (2, True)
    assert not (tmp_path / "typo").exists()


async def test_people_of_one_organisation_share_its_files(
    server: RunningServer, data: Path
) -> None:
    clients = []
    for name in ("ben", "cleo"):
        made = await carrel("keys", "add", name, "--organisation", "press", "--data", data)
        headers = {"authorization": f"Bearer {made.out.strip()}"}
        clients.append(httpx.AsyncClient(base_url=server.url, headers=headers))
    async with clients[0] as ben, clients[1] as cleo:
        uploaded = await ben.post("/v1/files", files={"file": ("a.txt", b"a")})
        assert (await cleo.get(f"/v1/files/{uploaded.json()['id']}")).status_code == 200


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["add", ""], "printable"),
        (["add", "x", "--organisation", "a\x1b[2J"], "printable"),
        (["add", "x" * 101], "printable"),
        (["add", "local"], "already"),
        (["revoke", "local"], "own key"),
        (["revoke", "nobody"], "carrel keys list"),
    ],
)
async def test_what_cannot_be_is_said_in_a_line(
    data: Path, arguments: list[str], says: str
) -> None:
    refused = await carrel("keys", *arguments, "--data", data)
    assert refused.code == 2
    assert says in refused.err
    assert refused.err.count("\n") == 1


async def test_a_folder_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = await carrel("keys", "add", "anna", "--data", tmp_path / "file")
    assert refused.code == 1
    assert "--data" in refused.err
    assert "Traceback" not in refused.err


async def test_a_key_that_only_reads_changes_nothing_and_one_ends(
    server: RunningServer,
) -> None:
    where = ("--data", str(server.data))
    made = await carrel("keys", "add", "audit", "--for", "the yearly audit", "--read-only", *where)
    assert made.code == 0
    key = made.out.strip()
    assert status(server, key) == 200
    words = {"model": "carrel-embed", "input": ["a"]}
    assert status(server, key, "POST", "/v1/embeddings", words) == 200
    for method, path in (
        ("POST", "/v1/files"),
        ("POST", "/v1/libraries"),
        ("DELETE", "/v1/trash"),
        ("PATCH", "/v1/agents/x"),
        ("POST", "/v1/conversations"),
    ):
        assert status(server, key, method, path, {}) == 403
    async with asyncio.timeout(30):
        while True:
            listed = await carrel("keys", "list", "--json", *where)
            [audit] = [each for each in listed.json if each["name"] == "audit"]
            if audit["used_at"]:
                break
    assert (audit["purpose"], audit["reads_only"]) == ("the yearly audit", True)
    await carrel("keys", "revoke", "audit", *where)

    short = await carrel("keys", "add", "short", "--days", "1", *where)
    assert status(server, short.out.strip()) == 200
    with storage.connected(server.data) as connection:
        ended = datetime.now(UTC) - timedelta(seconds=1)
        connection.execute(
            api_keys.update().where(api_keys.c.name == "short").values(expires_at=ended)
        )
    assert status(server, short.out.strip()) == 401
