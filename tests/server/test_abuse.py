"""Hostile requests: each is refused at once, names what is wrong with it, and costs nobody else."""

import json
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from support.attacks import ATTACKS, CHAT
from support.libraries import connect
from support.process import serve


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


def test_schemas_and_long_prompts_are_refused_before_a_model_starts(tmp_path: Path) -> None:
    def models() -> list[str]:
        listed = ["ps", "--ppid", str(server.process.pid), "-o", "args="]
        children = subprocess.run(listed, capture_output=True, text=True).stdout
        return [line for line in children.splitlines() if "models.embedded" in line]

    with serve(tmp_path / "data") as server, connect(server) as http:
        http.timeout = 120
        for path, body, reason in ATTACKS.values():
            if reason in ("10,000 parts", "Shorten it"):
                assert http.post(f"/v1/{path}", json=body).status_code in (400, 422)
        assert models() == []
        # The first answer does start one.
        http.post("/v1/chat/completions", json={**CHAT, "max_tokens": 1}).raise_for_status()
        assert len(models()) == 1


def test_names_lose_what_nobody_sees(http: httpx.Client) -> None:
    name = "plan\u200b\u2028of the year\U000e0041"
    made = http.post("/v1/libraries", json={"name": name}).json()
    assert made["name"] == "plan of the year"
