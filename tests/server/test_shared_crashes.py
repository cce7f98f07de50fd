"""Two servers and two workers on one database, killed in turn while clients work on them.

A request may fail only if its server was killed under it. What was answered is there ever after,
once; a stream that ends is whole; and the jobs of a worker that stays dead are another's within a
minute.
"""

import json
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Self
from uuid import uuid4

import httpx
import pytest

from support import storage
from support.libraries import FINAL, LibraryUnderTest, new_library
from support.model import WORD, serve_model
from support.peers import HOST, peer
from support.postgres import postgres_server
from support.process import Process, serve, work
from support.rounds import rounds

KILLS = rounds(4, 32)
_CLIENTS = 4
_WORDS, _PAUSE_SECONDS = 20, 0.03
"""Of each stream, and between two of its words."""
_TAKEN_OVER_SECONDS = 60

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]


class Team:
    """Two servers, which leave the jobs to two workers."""

    def __init__(self, folder: Path, model_url: str) -> None:
        self._folder = folder
        self._model = ("--model-url", model_url)
        database = postgres_server().migrated(uuid4().hex)
        self._shared = ("--database", database, "--blobs", f"s3://tests/{uuid4().hex}")
        self._processes = dict[str, Process]()
        self._parts = dict[str, ExitStack]()
        self._urls = dict[str, str]()
        self.key = ""

    def __enter__(self) -> Self:
        for name in ("server-1", "server-2", "worker-1", "worker-2"):
            self.start(name)
        return self

    def __exit__(self, *exception: object) -> None:
        for stack in self._parts.values():
            stack.close()

    @property
    def urls(self) -> list[str]:
        """The addresses of the servers that run."""
        return list(self._urls.values())

    def start(self, name: str) -> None:
        """Starts a part, also again with the folder that it had."""
        self._parts[name] = stack = ExitStack()
        folder = self._folder / name
        if name.startswith("server"):
            server = stack.enter_context(serve(folder, *self._shared, *self._model, "--no-worker"))
            self._processes[name], self.key = server.process, server.api_key
            self._urls[name] = server.url
        else:
            self._processes[name] = stack.enter_context(work(folder, *self._shared, *self._model))

    def kill(self, name: str) -> None:
        """Kills a part; from just before it, clients ask the other server."""
        self._urls.pop(name, None)
        self._processes[name].kill()
        self._parts.pop(name).close()


class Load:
    """Clients that add documents, edit, switch and ask an agent, and search; notes the answers."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self.requests = Counter[str]()
        self.cut_off = 0
        self.documents = dict[str, str]()
        """The id of each answered document, by its word."""
        self.versions = dict[int, str]()
        self.stopped = threading.Event()
        with self._client(team.urls[0]) as http:
            self.library_id = new_library(http).id
            self.agent = http.post(
                "/v1/agents", json={"model": "scripted", "name": "clerk"}
            ).json()["id"]

    def _client(self, url: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self._team.key}"}
        return httpx.Client(base_url=url, headers=headers, timeout=60)

    def run(self, seed: int) -> None:
        """Works until `stopped`."""
        chance = random.Random(seed)
        while not self.stopped.is_set():
            url = chance.choice(self._team.urls)
            try:
                with self._client(url) as http:
                    while not self.stopped.is_set() and url in self._team.urls:
                        self._work(http, chance)
            except httpx.TransportError:
                assert url not in self._team.urls, "a server that lives did not answer"
                self.cut_off += 1

    def _work(self, http: httpx.Client, chance: random.Random) -> None:
        kind = chance.choice(("upload", "edit", "switch", "stream", "search", "list"))
        library, word = LibraryUnderTest(http, self.library_id), f"w{chance.getrandbits(48):x}"
        if kind == "upload":
            self.documents[word] = library.add(f"{word}.md", f"# {word}\n\nA {word}.\n".encode())
        elif kind == "edit":
            answer = http.patch(self._path, json={"instructions": word}).raise_for_status().json()
            assert self.versions.setdefault(answer["version"], word) == word
        elif kind == "switch":
            version = chance.choice([0, *self.versions])
            body = {"version": version}
            answer = http.patch(f"{self._path}/version", json=body).raise_for_status().json()
            assert answer["version"] == version
            assert answer["instructions"] == self.versions.get(version)
        elif kind == "stream":
            self._stream(http, word)
        elif kind == "search":
            library.search(word)
        else:
            library.documents(page_size=10)
        self.requests[kind] += 1
        time.sleep(0.05)

    def _stream(self, http: httpx.Client, word: str) -> None:
        question = {"role": "user", "content": word}
        body = {"agent_id": self.agent, "stream": True, "messages": [question]}
        with http.stream("POST", "/v1/agents/completions", json=body) as answer:
            assert answer.status_code == 200, answer.read()
            *events, last = [line.removeprefix("data: ") for line in answer.iter_lines() if line]
        assert last == "[DONE]"
        deltas = [json.loads(event)["choices"][0]["delta"] for event in events]
        assert "".join(delta.get("content") or "" for delta in deltas) == WORD * _WORDS

    @property
    def _path(self) -> str:
        return f"/v1/agents/{self.agent}"

    def check(self) -> float:
        """Everything answered is there, once; returns how long documents waited, in seconds."""
        began = time.monotonic()
        with self._client(self._team.urls[0]) as http:
            library = LibraryUnderTest(http, self.library_id)
            self._until_final(library)
            waited = time.monotonic() - began
            listed = _all_documents(library)
            assert {item["process_status"] for item in listed} == {"done"}
            names = Counter(item["name"] for item in listed)
            assert set(names.values()) == {1}
            for word, id in self.documents.items():
                assert library.text(id).count(word) == 2
                assert [hit["document_id"] for hit in library.marked(word)] == [id]
            numbers = http.get(self._path).json()["versions"]
            assert numbers == list(range(len(numbers)))
            for number, word in self.versions.items():
                version = http.get(self._path, params={"agent_version": number}).json()
                assert version["instructions"] == word
        return waited

    def _until_final(self, library: LibraryUnderTest) -> None:
        deadline = time.monotonic() + _TAKEN_OVER_SECONDS + 60
        while {item["process_status"] for item in _all_documents(library)} - set(FINAL):
            assert time.monotonic() < deadline, "documents wait for a worker that is dead"
            time.sleep(0.5)


def _all_documents(library: LibraryUnderTest) -> list[dict[str, str]]:
    items: list[dict[str, str]] = []
    while True:
        page = library.documents(page=len(items) // 100, page_size=100)["data"]
        items += page
        if len(page) < 100:
            return items


def test_kill_servers_and_workers_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "SHARED", True)
    chance = random.Random(18)
    with (
        peer(serve_model, _WORDS, 0, ("scripted",), _PAUSE_SECONDS) as model,
        Team(tmp_path, f"http://{HOST}:{model}/v1") as team,
        ThreadPoolExecutor(_CLIENTS) as pool,
    ):
        load = Load(team)
        clients = [pool.submit(load.run, seed) for seed in range(_CLIENTS)]
        try:
            for kill in range(KILLS):
                name = ("worker-1", "server-1", "worker-2", "server-2")[kill % 4]
                time.sleep(chance.uniform(0.5, 3))
                team.kill(name)
                time.sleep(chance.uniform(0, 2))
                team.start(name)
            # This one stays dead, whatever it was working on.
            time.sleep(1)
            team.kill("worker-1")
            time.sleep(1)
        finally:
            load.stopped.set()
        for client in clients:
            client.result(60)
        waited = load.check()
    answered = ", ".join(f"{count} {kind}" for kind, count in sorted(load.requests.items()))
    print(
        f"\n{KILLS + 1} kills: {sum(load.requests.values())} requests answered ({answered}),"
        f" {load.cut_off} cut off by a kill; {len(load.documents)} documents and"
        f" {len(load.versions)} versions kept; the last document was done {waited:.0f} s after the"
        " end of the load"
    )
