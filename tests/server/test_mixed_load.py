"""A hostile caller beside friendly ones: nothing of theirs fails, and they hardly wait longer.

Quiet times and hostile ones take turns, so that both see the same machine and the same library.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import quantiles

import httpx
import pytest

from support import storage
from support.attacks import ATTACKS, attack_for
from support.libraries import connect, new_library
from support.process import serve
from support.rounds import rounds

TURNS = rounds(1, 10)
QUIET_SECONDS = rounds(3, 60)
HOSTILE_SECONDS = rounds(8, 120)
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
    quiet: list[float] = []
    beside: list[float] = []
    refused = Counter[str]()
    with (
        serve(data) as server,
        ExitStack() as stack,
        # Its requests cost the process that sends them, too.
        ProcessPoolExecutor(1, get_context("spawn")) as another,
    ):
        _, key = storage.key_chain(data).add("hostile", "hostile", "hostile")
        another.submit(attack_for, server.url, key, 0).result()
        friends = [Friend(stack.enter_context(connect(server))) for _ in range(FRIENDS)]
        for turn in range(TURNS):
            quiet += _at_once([partial(friend.work, QUIET_SECONDS) for friend in friends])
            attacking = another.submit(attack_for, server.url, key, HOSTILE_SECONDS)
            beside += _at_once([partial(friend.work, HOSTILE_SECONDS) for friend in friends])
            refused += attacking.result()
            print(f"{turn + 1}/{TURNS}: {_figures('quiet', quiet)}; {_figures('beside', beside)}")
        print(f"{refused.total()} hostile requests were refused")
        assert max(beside) < 30
        if TURNS > 1:
            assert set(refused) == set(ATTACKS)
            assert _p95(beside) <= 2 * _p95(quiet)


def _p95(times: Sequence[float]) -> float:
    return quantiles(times, n=20)[-1]


def _figures(name: str, times: Sequence[float]) -> str:
    p50, p95 = quantiles(times, n=2)[0], _p95(times)
    return (
        f"{name} p50 {p50 * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms, longest {max(times):.1f} s,"
        f" {len(times)} requests"
    )
