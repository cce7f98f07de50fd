"""The steps of an answer before its first word, told to a caller that prefers it."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from support.home import new_server
from support.libraries import new_library
from support.process import RunningServer

pytestmark = pytest.mark.xdist_group("model")

PREFERS = {"Prefer": "progress"}
LEASE = b"The monthly rent is 950 euros, payable in advance on the first working day of each month."

Event = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server: each has a model of its own, and a queue before it."""
    with new_server(tmp_path_factory.mktemp("server"), one=True) as running:
        yield running


@pytest.fixture
def agent_id(http: httpx.Client) -> str:
    response = http.post("/v1/agents", json={"model": "smollm2", "name": "Reader"})
    return str(response.json()["id"])


def asked(agent_id: str, question: str = "Write about the sea.", **options: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": question}]
    return {"agent_id": agent_id, "messages": messages, "stream": True, "max_tokens": 8, **options}


def events(response: httpx.Response) -> Iterator[Event]:
    """The events of a stream as they come, each with its name."""
    name = ""
    for line in response.iter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data" and value != "[DONE]":
            yield name, json.loads(value)
            name = ""


def steps(http: httpx.Client, body: dict[str, Any], **headers: str) -> list[dict[str, Any]]:
    """All steps of one answer."""
    with http.stream(
        "POST", "/v1/agents/completions", json=body, headers=headers, timeout=120
    ) as response:
        assert response.status_code == 200
        return [data for name, data in events(response) if name == "progress"]


def test_loading_and_reading_are_told(http: httpx.Client, agent_id: str) -> None:
    # The module's server is new: its model is not loaded yet.
    told = steps(http, asked(agent_id, "word " * 80), **PREFERS)
    assert [step["stage"] for step in told[:2]] == ["loading", "asking"]
    reading = told[2:]
    assert {step["stage"] for step in reading} == {"reading"}
    assert [step["done"] for step in reading] == sorted(step["done"] for step in reading)
    assert reading[-1]["done"] <= reading[-1]["total"] and reading[-1]["total"] > 80
    # It is loaded now.
    assert "loading" not in [step["stage"] for step in steps(http, asked(agent_id), **PREFERS)]


def test_a_caller_that_does_not_prefer_it_is_told_nothing(
    http: httpx.Client, agent_id: str
) -> None:
    assert steps(http, asked(agent_id)) == []
    assert steps(http, asked(agent_id), Prefer="respond-async") == []


def test_searching_libraries_is_told(http: httpx.Client) -> None:
    library = new_library(http)
    library.processed("lease.txt", LEASE)
    tools = [{"type": "document_library", "library_ids": [library.id]}]
    made = {"model": "smollm2", "name": "Reader", "tools": tools}
    agent_id = http.post("/v1/agents", json=made).json()["id"]
    told = steps(http, asked(agent_id, "How much is the monthly rent?"), **PREFERS)
    assert "searching" in [step["stage"] for step in told]


def test_the_place_in_the_queue_is_told_whenever_it_changes(
    http: httpx.Client, agent_id: str
) -> None:
    # With a seed each has the model to itself.
    body = asked(agent_id, max_tokens=1900, random_seed=1)
    with ExitStack() as stack:

        def begin() -> tuple[httpx.Response, Iterator[Event]]:
            response = stack.enter_context(
                http.stream(
                    "POST", "/v1/agents/completions", json=body, headers=PREFERS, timeout=120
                )
            )
            return response, events(response)

        def place(told: Iterator[Event]) -> int:
            return next(int(data["place"]) for _, data in told if data.get("stage") == "queued")

        first, told = begin()
        assert any(data.get("choices") for _, data in told)
        _, second = begin()
        assert place(second) == 1
        _, third = begin()
        assert place(third) == 2
        first.close()
        assert place(third) == 1
        assert any(data.get("choices") for _, data in second)


def test_a_refusal_before_the_first_step_keeps_its_status(http: httpx.Client) -> None:
    made = {"model": "no-such-model", "name": "Reader"}
    agent_id = http.post("/v1/agents", json=made).json()["id"]
    response = http.post("/v1/agents/completions", json=asked(agent_id), headers=PREFERS)
    assert response.status_code == 400
