"""What the server's own models do not have is answered by a model address that has it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.answering import Answering, answering
from support.libraries import connect
from support.process import serve

CODE = {"model": "coder", "prompt": "def add(", "suffix": "return a + b"}


@pytest.fixture(scope="module")
def asked() -> list[tuple[str, str, bytes]]:
    """What came to the address: path, type and body."""
    return []


@pytest.fixture(scope="module")
def http(
    asked: list[tuple[str, str, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    class Handler(Answering):
        def do_GET(self) -> None:
            listed = {"data": [{"id": "coder"}]}
            self.reply(*((200, listed) if self.path == "/v1/models" else (404, {})))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            asked.append((self.path, self.headers["content-type"], body))
            answers: dict[str, tuple[int, Any]] = {
                "/v1/fim/completions": (200, {"choices": [{"text": "a, b): "}]}),
                "/v1/moderations": (400, {"error": {"message": "input is missing"}}),
                "/v1/audio/transcriptions": (200, {"text": "Hello."}),
            }
            self.reply(*answers.get(self.path, (404, {})))

    data = tmp_path_factory.mktemp("passed") / "data"
    with (
        answering(Handler) as address,
        serve(data, "--model-url", f"{address}/v1") as running,
        connect(running) as client,
    ):
        yield client


def test_an_operation_of_the_address_is_answered_by_it(
    http: httpx.Client, asked: list[tuple[str, str, bytes]]
) -> None:
    answer = http.post("/v1/fim/completions", json=CODE)
    assert (answer.status_code, answer.json()) == (200, {"choices": [{"text": "a, b): "}]})
    path, kind, _ = asked[-1]
    assert (path, kind) == ("/v1/fim/completions", "application/json")


def test_a_recording_goes_there_as_it_came(
    http: httpx.Client, asked: list[tuple[str, str, bytes]], tmp_path: Path
) -> None:
    answer = http.post("/v1/audio/transcriptions", files={"file": ("a.wav", b"RIFF")})
    assert answer.json() == {"text": "Hello."}
    _, kind, body = asked[-1]
    assert kind.startswith("multipart/form-data; boundary=") and b"RIFF" in body


def test_a_refusal_and_an_absent_operation_are_told(http: httpx.Client) -> None:
    refused = http.post("/v1/moderations", json={})
    assert (refused.status_code, refused.json()["message"]) == (400, "input is missing")
    absent = http.post("/v1/classifications", json={})
    assert absent.status_code == 501
    assert "no model address offers it" in absent.json()["message"]
