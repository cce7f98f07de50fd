"""Limits on requests and tokens: counted for each organisation, said in headers, refused with a
wait."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from carrel.server.http.ratelimit import Allowance, Buckets
from carrel.server.records.accounts import keys
from support import storage
from support.libraries import connect
from support.process import RunningServer, serve

EMBED = {"model": "carrel-embed", "input": "seven words that cost a few tokens"}
ASK = {
    "model": "smollm2",
    "messages": [{"role": "user", "content": "Hello"}],
    "max_tokens": 4,
}


@contextmanager
def limited(data: Path, limits: str) -> Iterator[RunningServer]:
    data.mkdir()
    (data / "settings.toml").write_text(f"[limits]\n{limits}\n")
    with serve(data) as server:
        yield server


def test_a_bucket_fills_evenly_and_never_beyond_a_minutes_worth() -> None:
    now = 0.0
    buckets = Buckets(clock=lambda: now)
    mine, others = (Allowance("req", 3, buckets, name) for name in ("a", "b"))
    for left in (2, 1, 0):
        assert mine.wait == 0
        mine.use(1)
        assert mine.remaining == left
    assert (mine.wait, others.wait) == (20, 0)
    now = 19.9
    assert mine.wait == 1
    now = 20.1
    assert mine.wait == 0
    mine.use(1)
    assert mine.wait == 20
    now = 100_000
    assert mine.remaining == 3


def test_what_was_used_beyond_the_limit_is_waited_for() -> None:
    now = 0.0
    tokens = Allowance("tokens", 60, Buckets(clock=lambda: now), "a")
    tokens.use(90)
    assert (tokens.remaining, tokens.wait) == (0, 31)
    now = 31.0
    assert (tokens.remaining, tokens.wait) == (1, 0)


def test_who_asks_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with limited(data, "requests_per_minute = 2") as server, connect(server) as http:
        _, other = storage.key_chain(data).add("other", "others", "other")
        first = http.get("/v1/files")
        assert first.headers["x-ratelimit-limit-req-minute"] == "2"
        assert first.headers["x-ratelimit-remaining-req-minute"] == "1"
        names = ("limit-requests", "remaining-requests", "reset-requests")
        assert [first.headers[f"x-ratelimit-{name}"] for name in names] == ["2", "1", "30s"]
        http.get("/v1/files/none")
        refused = http.get("/v1/files")
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 30
        assert refused.headers["x-ratelimit-remaining-req-minute"] == "0"
        assert refused.json() == {
            "object": "error",
            "message": "Rate limit exceeded",
            "type": "rate_limited",
            "param": None,
            "code": "1300",
            "raw_status_code": 429,
            "request_id": refused.headers["x-request-id"],
        }
        # What is no part of the interface does not count, nor do other organisations.
        assert http.put("/leases/mine").status_code == 204
        headers = {"authorization": f"Bearer {other}"}
        assert httpx.get(f"{server.url}/v1/files", headers=headers).status_code == 200


@pytest.mark.xdist_group("model")
def test_tokens_are_counted_where_a_model_reads_or_writes(tmp_path: Path) -> None:
    with limited(tmp_path / "data", "tokens_per_minute = 60") as server, connect(server) as http:
        one = http.post("/v1/embeddings", json=EMBED)
        cost = one.json()["usage"]["total_tokens"]
        assert one.headers["x-ratelimit-tokens-query-cost"] == str(cost)
        assert one.headers["x-ratelimit-limit-tokens-minute"] == "60"
        left = int(one.headers["x-ratelimit-remaining-tokens-minute"])
        assert 60 - cost <= left <= 60 - cost + 5

        # A stream's cost is known when it ends: it is what the next one meets.
        streamed = http.post("/v1/chat/completions", json={**ASK, "stream": True}, timeout=60)
        assert "x-ratelimit-limit-tokens-minute" in streamed.headers
        assert "x-ratelimit-tokens-query-cost" not in streamed.headers
        *_, last, _, _ = streamed.text.split("\n\n")
        assert json.loads(last.removeprefix("data: "))["usage"]["total_tokens"] > 20

        answers = [http.post("/v1/chat/completions", json=ASK, timeout=60) for _ in range(3)]
        assert answers[-1].status_code == 429
        assert int(answers[-1].headers["retry-after"]) > 0
        assert answers[-1].headers["x-ratelimit-remaining-tokens-minute"] == "0"
        # What no model does costs none.
        assert http.get("/v1/models").status_code == 200


@pytest.mark.xdist_group("model")
def test_a_key_has_limits_of_its_own(tmp_path: Path) -> None:
    data = tmp_path / "data"
    limits = "requests_per_minute = 100\nkey_requests_per_minute = 3\nkey_answers = 1"
    with limited(data, limits) as server, connect(server) as http:
        _, other = storage.key_chain(data).add("other", keys.OWN, keys.OWN)
        headers = {"authorization": f"Bearer {other}"}
        with http.stream(
            "POST", "/v1/chat/completions", json={**ASK, "stream": True, "max_tokens": 800}
        ) as answer:
            assert answer.headers["x-ratelimit-limit-req-minute"] == "3"
            refused = http.post("/v1/chat/completions", json=ASK)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
            embedded = httpx.post(f"{server.url}/v1/embeddings", json=EMBED, headers=headers)
            assert embedded.status_code == 200
        # It is free again once the answer has ended, or its reader has left.
        for _ in range(100):
            again = http.post("/v1/embeddings", json=EMBED)
            if again.headers.get("retry-after") != "1":
                break
            time.sleep(0.1)
        assert again.status_code == 200
        for _ in range(2):
            http.get("/v1/files")
        assert http.get("/v1/files").status_code == 429
        assert httpx.get(f"{server.url}/v1/files", headers=headers).status_code == 200


def test_without_a_limit_nothing_is_said_of_one(http: httpx.Client) -> None:
    for answer in (http.get("/v1/files"), http.post("/v1/embeddings", json=EMBED)):
        assert answer.status_code == 200
        assert not [name for name in answer.headers if "ratelimit" in name]
