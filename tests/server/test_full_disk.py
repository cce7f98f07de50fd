"""A server whose disk is really full: a small file system in memory.

It holds the data folder, or the tables of PostgreSQL and the bytes of an S3 server.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest

from support import storage
from support.command import Ended, carrel
from support.libraries import connect
from support.postgres import postgres_server
from support.process import RunningServer, serve
from support.s3 import s3_server

pytestmark = [
    storage.only_alone,
    pytest.mark.soak,
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0, reason="only root mounts a file system"
    ),
]


@pytest.fixture
def small() -> Iterator[Path]:
    """A file system of 96 MiB, which PostgreSQL's user may enter."""
    with TemporaryDirectory(prefix="carrel-small-") as name:
        folder = Path(name)
        options = "size=96m,mode=755"
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=False
        )
        if mounted.returncode:
            pytest.skip("mounting is not allowed here")
        yield folder
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture(params=["alone", "shared"])
def server(
    request: pytest.FixtureRequest, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RunningServer]:
    """A server that keeps everything on the small disk."""
    if request.param == "alone":
        with serve(small / "data") as server:
            yield server
        return
    with (
        s3_server(small / "store") as store,
        postgres_server().migrated_at(small / "database") as database,
    ):
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        options = ["--database", database, "--blobs", "s3://tests/full"]
        with serve(tmp_path / "data", *options) as server:
            yield server


LONG = "".join(chr(256 + n * n % 9973) for n in range(9 * 10**5))
"""A text that hardly becomes shorter where it is compressed."""


def wait_until(condition: Callable[[], bool], left: Callable[[], object] = lambda: "") -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, left()
        time.sleep(0.2)


def fill(folder: Path) -> None:
    with (folder / "filler").open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(2**20))
    with (folder / "filler").open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(512))


def test_nothing_fails_but_with_507_and_deletes_work(small: Path, server: RunningServer) -> None:
    with connect(server) as http:
        made = [
            http.post("/v1/files", files={"file": (f"{n}.txt", bytes(100_000))}).json()["id"]
            for n in range(3)
        ]
        library = http.post("/v1/libraries", json={"name": "l"}).json()["id"]
        agent = {"model": "smollm2", "name": "a", "instructions": LONG[:100_000]}
        first = http.post("/v1/agents", json=agent).json()["id"]
        fill(small)
        statuses = {
            "agent": http.post("/v1/agents", json=agent),
            "version": http.patch(f"/v1/agents/{first}", json={"instructions": LONG}),
            "library": http.post("/v1/libraries", json={"name": "m", "description": LONG}),
            "file": http.post("/v1/files", files={"file": ("b.bin", bytes(10**7))}),
            "document": http.post(
                f"/v1/libraries/{library}/documents", files={"file": ("c.bin", bytes(10**7))}
            ),
        }
        assert {name: answer.status_code for name, answer in statuses.items()} == dict.fromkeys(
            statuses, 507
        )
        assert all("is full" in answer.json()["message"] for answer in statuses.values())
        # Reading goes on.
        assert http.get("/v1/files").json()["total"] == 3
        for file in made:
            assert http.delete(f"/v1/files/{file}").status_code == 200
        assert http.delete(f"/v1/libraries/{library}").status_code == 200
        assert http.delete("/v1/trash").json()["deleted"] == 4
        (small / "filler").unlink()
        assert http.post("/v1/agents", json=agent).status_code == 200
        assert LONG[:1000] not in server.log


def holders(folder: Path, text: str) -> list[str]:
    """The files of a folder that hold a text."""
    found = []
    for file in folder.rglob("*"):
        with suppress(OSError):
            if file.is_file() and text.encode() in file.read_bytes():
                found.append(str(file.relative_to(folder)))
    return found


def left(data: Path, text: str, *options: str) -> Ended:
    """What the doctor finds of a text."""
    return asyncio.run(carrel("doctor", "--data", data, "--gone", text, *options))


def is_gone(data: Path, text: str) -> bool:
    return left(data, text).code == 0


def test_deleted_for_ever_is_nowhere_in_the_folder(tmp_path: Path) -> None:
    secret = "the quick brown secret"
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text("[limits]\ndeleted_seconds = 1\n")
    with serve(data) as server:
        headers = {"authorization": f"Bearer {server.api_key}"}
        with httpx.Client(base_url=server.url, headers=headers, timeout=60) as http:
            agent = {"model": "smollm2", "name": "a", "instructions": secret * 200}
            made = http.post("/v1/agents", json=agent).json()["id"]
            library = http.post("/v1/libraries", json={"name": "l"}).json()["id"]
            documents = f"/v1/libraries/{library}/documents"
            text = f"{secret}\n\n".encode() * 50
            document = http.post(documents, files={"file": ("c.md", text)}).json()["id"]
            wait_until(
                lambda: (
                    http.get(f"{documents}/{document}/status").json()["processing_status"]
                    == "Completed"
                )
            )
            assert "carrel.db" in " ".join(holders(data, secret))
            looked = left(data, secret)
            assert (looked.code, "carrel.db" in looked.out) == (4, True)
            assert "remembered pages have it" in looked.out
            assert http.delete(f"/v1/agents/{made}").status_code == 204
            assert http.delete(f"/v1/libraries/{library}").status_code == 200
            assert http.delete("/v1/trash").json()["deleted"] == 2
            assert not [name for name in holders(data, secret) if name.startswith("carrel.db")]
            wait_until(lambda: not holders(data, secret), lambda: holders(data, secret))
            looked = left(data, secret)
            assert (looked.code, "nothing of it is left" in looked.out) == (0, True)
            for id in (made, library, document):
                wait_until(partial(is_gone, data, id), partial(left, data, id))
