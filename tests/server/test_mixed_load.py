"""A hostile caller beside friendly ones: nothing of theirs fails, and they hardly wait longer."""

import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import quantiles

import httpx
import pytest

from support import storage
from support.attacks import ATTACKS
from support.libraries import connect, new_library
from support.process import serve
from support.rounds import rounds

QUIET_SECONDS = rounds(3, 300)
HOSTILE_SECONDS = rounds(8, 1500)
FRIENDS = 3


class Friend:
    """Uploads, lists and searches, and notes how long each took."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self._library = new_library(http)
        self._number = 0

    def work(self, seconds: float) -> list[float]:
        """The seconds of each request that it makes in this time."""
        taken: list[float] = []
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for ask in (self._upload, self._list, self._search):
                began = time.perf_counter()
                answer = ask()
                taken.append(time.perf_counter() - began)
                assert answer.is_success, answer.text
            time.sleep(0.05)
        return taken

    def _upload(self) -> httpx.Response:
        self._number += 1
        text = f"The heron number {self._number} stands in the reeds.".encode()
        files = {"file": (f"{self._number}.txt", text)}
        return self._http.post(f"{self._library.path}/documents", files=files)

    def _list(self) -> httpx.Response:
        return self._http.get(f"{self._library.path}/documents", params={"page_size": 20})

    def _search(self) -> httpx.Response:
        return self._http.get(f"{self._library.path}/search", params={"query": "heron reeds"})


def _attack(url: str, key: str, stop: threading.Event) -> None:
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    with httpx.Client(base_url=url, headers=headers, timeout=120) as http:
        while not stop.is_set():
            for path, body, _ in ATTACKS.values():
                if stop.is_set():
                    return
                answer = http.post(f"/v1/{path}", content=json.dumps(body).encode())
                assert answer.status_code in (400, 422, 429), answer.text


def _at_once(calls: Sequence[Callable[[], list[float]]]) -> list[float]:
    found: list[float] = []
    failures: list[BaseException] = []

    def run(call: Callable[[], list[float]]) -> None:
        try:
            found.extend(call())
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    return found


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_friendly_callers_go_on_beside_a_hostile_one(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serve(data) as server, ExitStack() as stack:
        _, key = storage.key_chain(data).add("hostile", "hostile", "hostile")
        friends = [Friend(stack.enter_context(connect(server))) for _ in range(FRIENDS)]
        quiet = _at_once([partial(friend.work, QUIET_SECONDS) for friend in friends])
        stop = threading.Event()
        with_hostile: list[float] = []

        def attack() -> list[float]:
            _attack(server.url, key, stop)
            return []

        def friendly() -> list[float]:
            try:
                working = [partial(friend.work, HOSTILE_SECONDS) for friend in friends]
                with_hostile.extend(_at_once(working))
            finally:
                stop.set()
            return []

        _at_once([attack, friendly])
        before, beside = (quantiles(times, n=20)[-1] for times in (quiet, with_hostile))
        print(f"p95 of friendly requests: {before * 1000:.0f} ms, {beside * 1000:.0f} beside")
        assert max(with_hostile) < 30
        if HOSTILE_SECONDS > 100:
            assert beside <= 2 * before
