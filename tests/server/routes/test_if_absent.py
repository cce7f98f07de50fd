"""`Prefer: if-absent`: of those who ask at once for one of a name, one makes it and all get it."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from support.libraries import connect
from support.organisation import new_organisation
from support.process import RunningServer
from support.rounds import rounds

NEW = {"libraries": {"name": "Contracts"}, "agents": {"name": "Support", "model": "smollm2"}}
AT_ONCE = 8
PREFER = {"prefer": "if-absent"}


def _made_at_once(servers: list[RunningServer], kind: str) -> list[str]:
    """The ids that callers get who ask in the same moment, each on a connection of its own."""
    ready = threading.Barrier(len(servers))

    def ask(server: RunningServer) -> str:
        with connect(server) as http:
            http.get(f"/v1/{kind}").raise_for_status()  # its connection stands
            ready.wait(30)
            made = http.post(f"/v1/{kind}", json=NEW[kind], headers=PREFER)
            assert made.is_success, made.text
            return str(made.json()["id"])

    with ThreadPoolExecutor(len(servers)) as threads:
        return list(threads.map(ask, servers))


@pytest.mark.parametrize("kind", NEW)
def test_who_ask_at_once_get_one(server: RunningServer, kind: str) -> None:
    for _ in range(rounds(1, 50)):
        ours = new_organisation(server)
        [id] = set(_made_at_once([ours] * AT_ONCE, kind))
        with connect(ours) as http:
            listed = http.get(f"/v1/{kind}").json()
            assert [each["id"] for each in (listed["data"] if kind == "libraries" else listed)] == [
                id
            ]


@pytest.mark.parametrize("kind", NEW)
def test_organisations_that_ask_at_once_get_one_each(server: RunningServer, kind: str) -> None:
    ours = [new_organisation(server) for _ in range(2)]
    made = _made_at_once(ours * 4, kind)
    assert sorted(Counter(made).values()) == [4, 4]
    assert set(made[::2]).isdisjoint(made[1::2])


@pytest.mark.parametrize("kind", NEW)
def test_without_it_each_gets_another(http: httpx.Client, kind: str) -> None:
    made = [http.post(f"/v1/{kind}", json=NEW[kind]).json()["id"] for _ in range(2)]
    again = http.post(f"/v1/{kind}", json=NEW[kind], headers=PREFER).json()["id"]
    assert made[0] != made[1]
    assert again == made[0]
