"""Batch jobs as clients of the chat dialect make them."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from support.libraries import connect
from support.process import RunningServer
from support.spoken import SpokenModel


@pytest.fixture
def http(talking: tuple[RunningServer, SpokenModel]) -> Iterator[httpx.Client]:
    with connect(talking[0]) as http:
        yield http


def _made(http: httpx.Client, *questions: str, **fields: Any) -> dict[str, Any]:
    lines = [
        {
            "custom_id": question,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {
                "model": "mistral-small-latest",
                "messages": [{"role": "user", "content": question}],
            },
        }
        for question in questions
    ]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    upload = http.post("/v1/files", files={"file": ("in.jsonl", data)}, data={"purpose": "batch"})
    body = {
        "input_file_id": upload.json()["id"],
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
        **fields,
    }
    answer = http.post("/v1/batches", json=body)
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made


def test_a_batch_is_worked_off_and_its_answers_are_in_a_file(http: httpx.Client) -> None:
    made = _made(http, "one?", "two?", metadata={"k": "v"})
    assert (made["object"], made["metadata"]) == ("batch", {"k": "v"})
    deadline = time.monotonic() + 60
    batch = made
    while batch["status"] in ("validating", "in_progress"):
        assert time.monotonic() < deadline, "it ends"
        time.sleep(0.1)
        batch = http.get(f"/v1/batches/{made['id']}").json()
    assert batch["status"] == "completed"
    assert batch["request_counts"] == {"total": 2, "completed": 2, "failed": 0}
    assert batch["completed_at"] >= batch["created_at"]
    output = http.get(f"/v1/files/{batch['output_file_id']}/content").text
    lines = [json.loads(line) for line in output.splitlines()]
    assert {line["custom_id"] for line in lines} == {"one?", "two?"}
    assert {line["response"]["status_code"] for line in lines} == {200}
    assert http.get(f"/v1/batch/jobs/{made['id']}").json()["status"] == "SUCCESS"


def test_a_list_goes_on_after_an_id_and_a_batch_is_cancelled(http: httpx.Client) -> None:
    older, newer = _made(http, "one?"), _made(http, "two?")
    first = http.get("/v1/batches", params={"limit": 1}).json()
    assert ([one["id"] for one in first["data"]], first["has_more"]) == ([newer["id"]], True)
    rest = http.get("/v1/batches", params={"limit": 1, "after": first["last_id"]}).json()
    assert rest["data"][0]["id"] == older["id"]
    cancelled = http.post(f"/v1/batches/{newer['id']}/cancel").json()
    assert cancelled["status"] in ("cancelling", "cancelled", "completed")
    assert http.get("/v1/batches/nobody").status_code == 404
