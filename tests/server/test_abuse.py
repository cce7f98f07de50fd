"""Hostile requests: each is refused at once, names what is wrong with it, and costs nobody else."""

import json
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from support.attacks import ATTACKS, CHAT, WORDS
from support.libraries import connect
from support.process import RunningServer, serve


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_request_is_refused_and_says_why(http: httpx.Client, attack: str) -> None:
    path, body, reason = ATTACKS[attack]
    headers = {"content-type": "application/json"}
    answer = http.post(f"/v1/{path}", content=json.dumps(body).encode(), headers=headers)
    assert answer.status_code in (400, 422), answer.text[:500]
    assert reason in answer.text
    assert len(answer.content) < 5000
    began = time.monotonic()
    assert http.get("/healthz").status_code == 200
    assert time.monotonic() - began < 5


def _models(server: RunningServer) -> list[str]:
    """The processes of models that run under a server."""
    listed = ["ps", "--ppid", str(server.process.pid), "-o", "args="]
    children = subprocess.run(listed, capture_output=True, text=True).stdout
    return [line for line in children.splitlines() if "models.embedded" in line]


def test_schemas_and_long_prompts_are_refused_before_a_model_starts(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as server, connect(server) as http:
        http.timeout = 120
        for path, body, reason in ATTACKS.values():
            if reason in ("10,000 parts", "Shorten it"):
                assert http.post(f"/v1/{path}", json=body).status_code in (400, 422)
        assert _models(server) == []
        # The first answer does start one.
        http.post("/v1/chat/completions", json={**CHAT, "max_tokens": 1}).raise_for_status()
        assert len(_models(server)) == 1


def test_a_batch_of_long_prompts_takes_no_model(tmp_path: Path) -> None:
    request = {"body": {"messages": [{"role": "user", "content": WORDS}], "model": "smollm2"}}
    requests = [{"custom_id": str(number), **request} for number in range(3)]
    batch = {"endpoint": "/v1/chat/completions", "model": "smollm2", "requests": requests}
    with serve(tmp_path / "data") as server, connect(server) as http:
        http.timeout = 120
        sent = http.post("/v1/batch/jobs", json=batch)
        job = f"/v1/batch/jobs/{sent.raise_for_status().json()['id']}"
        deadline = time.monotonic() + 60
        while (state := http.get(job).json())["status"] in ("QUEUED", "RUNNING"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert (state["failed_requests"], state["succeeded_requests"]) == (3, 0)
        errors = http.get(f"/v1/files/{state['error_file']}/content").text
        assert ["Shorten it" in line for line in errors.splitlines()] == [True] * 3
        assert len(errors) < 5000
        assert _models(server) == []


def test_names_lose_what_nobody_sees(http: httpx.Client) -> None:
    name = "plan\u200b\u2028of the year\U000e0041"
    made = http.post("/v1/libraries", json={"name": name}).json()
    assert made["name"] == "plan of the year"
