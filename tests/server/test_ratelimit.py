"""A limit on requests: counted for each organisation, said in headers, refused with a wait."""

from pathlib import Path

import httpx

from carrel.server.keys import KeyChain
from carrel.server.ratelimit import Buckets
from support.libraries import connect
from support.process import serve


def test_a_bucket_fills_evenly_and_never_beyond_a_minutes_worth() -> None:
    now = 0.0
    buckets = Buckets(clock=lambda: now)
    assert [buckets.take("a", 3).remaining for _ in range(3)] == [2, 1, 0]
    refused = buckets.take("a", 3)
    assert (refused.granted, refused.remaining, refused.retry_after) == (False, 0, 20)
    assert buckets.take("b", 3).granted
    now = 19.9
    assert not buckets.take("a", 3).granted
    now = 20.1
    assert buckets.take("a", 3).granted
    assert not buckets.take("a", 3).granted
    now = 100_000
    assert [buckets.take("a", 3).granted for _ in range(4)] == [True, True, True, False]


def test_who_asks_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text("[limits]\nrequests_per_minute = 2\n")
    _, other = KeyChain(data).add("other", "others", "other")
    with serve(data) as server, connect(server) as http:
        first = http.get("/v1/files")
        assert first.headers["x-ratelimit-limit-req-minute"] == "2"
        assert first.headers["x-ratelimit-remaining-req-minute"] == "1"
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


def test_without_a_limit_nothing_is_said_of_one(http: httpx.Client) -> None:
    assert not [name for name in http.get("/v1/files").headers if "ratelimit" in name]
