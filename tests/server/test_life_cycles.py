"""Sixteen lives: what a signed address shows is deleted, comes back, goes for ever, comes again."""

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from support import storage
from support.command import Ended, carrel
from support.libraries import new_library
from support.process import RunningServer, serve


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that forgets bytes after a second."""
    data = tmp_path_factory.mktemp("server") / "data"
    data.mkdir()
    (data / "settings.toml").write_text("[limits]\ndeleted_seconds = 1\n")
    with serve(data) as running:
        yield running


@dataclass(frozen=True)
class Life:
    """What is deleted, where, and a signed address that shows its words."""

    id: str
    path: str
    address: str
    words: str

    def status(self) -> int:
        """What the address answers; nothing else than the words if it opens."""
        answer = httpx.get(self.address)
        assert answer.status_code != 200 or answer.text.strip() == self.words
        return answer.status_code


def file(http: httpx.Client, words: str) -> Life:
    id = http.post("/v1/files", files={"file": ("a.txt", words.encode())}).json()["id"]
    return Life(id, f"/v1/files/{id}", http.get(f"/v1/files/{id}/url").json()["url"], words)


def document(http: httpx.Client, words: str, kind: str = "signed-url") -> Life:
    library = new_library(http)
    id = library.processed("a.txt", words.encode())
    path = f"{library.path}/documents/{id}"
    return Life(id, path, http.get(f"{path}/{kind}").json(), words)


def text(http: httpx.Client, words: str) -> Life:
    return document(http, words, "extracted-text-signed-url")


def library(http: httpx.Client, words: str) -> Life:
    inside = document(http, words)
    path = inside.path.partition("/documents")[0]
    return Life(path.rpartition("/")[2], path, inside.address, words)


KINDS = (file, document, text, library)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def begin(request: pytest.FixtureRequest, http: httpx.Client) -> Callable[[str], Life]:
    """Makes a thing of a kind that has these words, and sees that its address opens."""

    def begin(words: str) -> Life:
        life: Life = request.param(http, words)
        assert life.status() == 200
        return life

    return begin


def words() -> str:
    return f"a heron named {uuid4().hex}"


def purge(http: httpx.Client, life: Life) -> None:
    http.delete(life.path).raise_for_status()
    http.delete(f"/v1/trash/{life.id}").raise_for_status()


def test_the_address_ends_with_a_delete(http: httpx.Client, begin: Callable[[str], Life]) -> None:
    life = begin(words())
    http.delete(life.path).raise_for_status()
    assert life.status() == 404


def test_it_opens_again_with_what_comes_back(
    http: httpx.Client, begin: Callable[[str], Life]
) -> None:
    life = begin(words())
    http.delete(life.path).raise_for_status()
    http.post(f"/v1/trash/{life.id}/restore").raise_for_status()
    # The text of a document is made again.
    deadline = time.monotonic() + 60
    while life.status() != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)


async def look(server: RunningServer, text: str) -> Ended:
    """What the doctor finds of a text."""
    options: list[str | Path] = ["--data", server.data, *storage.options(server.data)]
    return await carrel("doctor", *options, "--gone", text)


async def test_what_goes_for_ever_is_nowhere(
    http: httpx.Client,
    server: RunningServer,
    begin: Callable[[str], Life],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in storage.environment().items():
        monkeypatch.setenv(name, value)
    life = begin(words())
    hash = hashlib.sha256(life.words.encode()).hexdigest()
    for trace in (life.words, hash):
        looked = await look(server, trace)
        place = f"object {hash[:2]}/{hash}" if storage.SHARED else f"blobs/{hash[:2]}/{hash}"
        assert (looked.code, f"{place} has it" in looked.out) == (4, True), looked.out
    purge(http, life)
    assert life.status() == 404
    for trace in (life.words, hash, life.id):
        deadline = time.monotonic() + 60
        while (looked := await look(server, trace)).code:
            assert time.monotonic() < deadline, looked.out
        assert "nothing of it is left" in looked.out
        assert ("PostgreSQL's log and freed rows" in looked.out) == storage.SHARED
    assert hash not in storage.blobs(server.data)


def test_the_same_bytes_again_do_not_open_it(
    http: httpx.Client, begin: Callable[[str], Life]
) -> None:
    first = begin(words())
    purge(http, first)
    second = begin(first.words)
    assert first.status() == 404
    http.delete(second.path).raise_for_status()
    assert (first.status(), second.status()) == (404, 404)
