"""Batch jobs over plain HTTP, as a test sees them."""

import json
import time
from collections.abc import Sequence
from typing import Any

import httpx


def question(text: str, **more: Any) -> dict[str, Any]:
    """A chat's body."""
    return {"model": "spoken", "messages": [{"role": "user", "content": text}], **more}


def create(http: httpx.Client, endpoint: str, **fields: Any) -> dict[str, Any]:
    """A new batch."""
    answer = http.post("/v1/batch/jobs", json={"endpoint": endpoint, **fields})
    assert answer.status_code == 200, answer.text
    job: dict[str, Any] = answer.json()
    return job


def upload(http: httpx.Client, lines: Sequence[Any]) -> str:
    """The id of a file of requests."""
    data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    answer = http.post("/v1/files", files={"file": ("in.jsonl", data)}, data={"purpose": "batch"})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def show(http: httpx.Client, id: str, **query: Any) -> dict[str, Any]:
    """A batch as it is now."""
    answer = http.get(f"/v1/batch/jobs/{id}", params=query)
    assert answer.status_code == 200, answer.text
    job: dict[str, Any] = answer.json()
    return job


def ended(http: httpx.Client, id: str) -> dict[str, Any]:
    """A batch once it has ended."""
    deadline = time.monotonic() + 120
    while (job := show(http, id))["status"] in ("QUEUED", "RUNNING", "CANCELLATION_REQUESTED"):
        assert time.monotonic() < deadline, job
        time.sleep(0.05)
    return job


def lines_of(http: httpx.Client, file_id: str) -> list[dict[str, Any]]:
    """The lines of a batch's file."""
    content = http.get(f"/v1/files/{file_id}/content")
    assert content.status_code == 200, content.text
    return [json.loads(line) for line in content.text.splitlines()]
