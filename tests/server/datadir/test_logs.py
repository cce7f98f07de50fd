"""The log: every line of a request carries its id, and none a key."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.libraries import connect
from support.process import RunningServer, serve


def test_lines_are_json_on_request(tmp_path: Path) -> None:
    with serve(tmp_path / "data", "--log-format", "json") as server, connect(server) as http:
        id = http.get("/v1/files").headers["x-request-id"]
        http.get(f"/v1/files/{server.api_key}%0A%1B")
    text = (tmp_path / "data" / "log" / "server.log").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert all(
        line.keys() >= {"time", "level", "logger", "request_id", "message"} for line in lines
    )
    [asked] = [line for line in lines if line["request_id"] == id]
    assert asked["bytes"] > 0
    assert asked["milliseconds"] >= 0
    assert (asked["method"], asked["path"], asked["status"]) == ("GET", "/v1/files", 200)
    assert server.api_key not in text


def test_a_key_made_for_somebody_does_not_reach_the_log(server: RunningServer) -> None:
    key = f"carrel_{'k' * 43}"
    with connect(server) as http:
        id = http.get(f"/v1/files/{key}").headers["x-request-id"]
    # A request is logged once its answer is sent.
    deadline = time.monotonic() + 30
    while f"[{id}] GET /v1/files/… 404" not in server.log:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert key not in server.log


def test_ids_of_what_may_be_deleted_for_ever_are_not_in_the_log(server: RunningServer) -> None:
    with connect(server) as http:
        file = http.post("/v1/files", files={"file": ("a.txt", b"a")}).json()["id"]
        request = "0197a1b2-0000-7000-8000-0123456789ab"
        http.get(f"/v1/files/{file}", headers={"x-request-id": request})
    line = f"[{request}] GET /v1/files/…{file[-4:]} 200"
    deadline = time.monotonic() + 30
    while line not in server.log:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert file not in server.log


@pytest.mark.parametrize(
    ("arguments", "piped", "logged"),
    [([], True, True), (["--no-log-stdout"], True, False), (["--log-stdout"], False, True)],
)
def test_lines_go_to_standard_output_where_they_are_collected(
    tmp_path: Path, arguments: list[str], piped: bool, logged: bool
) -> None:
    command = [sys.executable, "-m", "carrel", "serve", "--data", str(tmp_path / "data")]
    command += ["--ready-file", str(tmp_path / "ready"), "--log-format", "json", *arguments]
    written = tmp_path / "written"
    with written.open("wb") as file, (tmp_path / "errors").open("wb") as errors:
        output = subprocess.PIPE if piped else file
        with subprocess.Popen(command, stdout=output, stderr=errors) as process:
            deadline = time.monotonic() + 60
            while not (tmp_path / "ready").exists():
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
            process.terminate()
            text = process.stdout.read().decode() if process.stdout else ""
    lines = [json.loads(line) for line in (text or written.read_text()).splitlines()]
    messages = [line["message"] for line in lines]
    assert any(message.startswith("serving ") for message in messages) is logged
    assert (tmp_path / "data" / "log" / "server.log").read_text()
