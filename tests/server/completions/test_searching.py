"""Agents whose model searches the libraries itself, over the wire."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from support import storage
from support.completions import Answers
from support.libraries import connect, new_library
from support.process import RunningServer
from support.spoken import SpokenModel, call, searching


@pytest.fixture
def http(talking: tuple[RunningServer, SpokenModel]) -> Iterator[httpx.Client]:
    with connect(talking[0]) as client:
        yield client


@pytest.fixture
def model(talking: tuple[RunningServer, SpokenModel]) -> SpokenModel:
    talking[1].asked.clear()
    return talking[1]


@pytest.fixture(scope="module")
def library(talking: tuple[RunningServer, SpokenModel]) -> dict[str, Any]:
    """A tool with one library of two documents."""
    with connect(talking[0]) as client:
        library = new_library(client)
        library.processed("lease.txt", b"The rent is 950 euros a month.")
        library.processed("notice.txt", b"The notice period for employees is three months.")
        library.processed("strike.txt", b"For workers the notice period is two weeks.")
        return {"type": "document_library", "library_ids": [library.id]}


def agent(http: httpx.Client, *tools: dict[str, Any], **settings: Any) -> Answers:
    made = http.post(
        "/v1/agents", json={"model": "spoken", "name": "clerk", "tools": list(tools), **settings}
    )
    assert made.status_code == 200, made.text
    return Answers(http, "/v1/agents/completions", agent_id=made.json()["id"])


def test_citations_are_chunks_of_a_whole_answer(
    http: httpx.Client, model: SpokenModel, library: dict[str, Any]
) -> None:
    model.answer = searching("monthly rent", "950 euros [ref1], says nobody [ref4].")
    [choice] = agent(http, library).ask("How high is it?")["choices"]
    assert choice["message"]["content"] == [
        {"type": "text", "text": "950 euros"},
        {"type": "reference", "reference_ids": [1]},
        {"type": "text", "text": ", says nobody."},
    ]
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["sources"][0]["document_name"] == "lease.txt"
    offered = model.asked[0]["tools"]
    assert [tool["function"]["name"] for tool in offered] == ["document_library"]


def test_citations_are_chunks_of_a_stream_though_they_are_cut(
    http: httpx.Client, model: SpokenModel, library: dict[str, Any]
) -> None:
    def answer(body: dict[str, Any]) -> Any:
        if body["messages"][-1]["role"] != "tool":
            return call("document_library", query="rent")
        return [{"content": piece} for piece in ("950 euros [r", "e", "f1", "]", ". Yes")]

    model.answer = answer
    for one in (
        agent(http, library),
        Answers(http, "/v1/chat/completions", model="spoken", tools=[library]),
    ):
        chunks = one.chunks("How high is the rent?")
        parts = [chunk["choices"][0]["delta"].get("content") for chunk in chunks]
        [reference] = [part for part in parts if isinstance(part, list)]
        assert reference == [{"type": "reference", "reference_ids": [1]}]
        texts = [part if isinstance(part, str) else " [1]" for part in parts if part]
        assert "".join(texts) == "950 euros [1]. Yes"
        assert chunks[-1]["choices"][0]["delta"]["sources"][0]["index"] == 1


def test_functions_of_the_caller_are_the_caller_s(
    http: httpx.Client, model: SpokenModel, library: dict[str, Any]
) -> None:
    weather = {"type": "function", "function": {"name": "weather", "parameters": {}}}
    model.answer = lambda body: {
        "tool_calls": [
            *call("document_library", query="x")["tool_calls"],
            {**call("weather")["tool_calls"][0], "index": 1},
        ]
    }
    [choice] = agent(http, library, weather).ask("Weather?")["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert [one["function"]["name"] for one in choice["message"]["tool_calls"]] == ["weather"]
    assert len(model.asked) == 1


def test_wrong_arguments_are_told_to_the_model(
    http: httpx.Client, model: SpokenModel, library: dict[str, Any]
) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        said = body["messages"][-1]
        if said["role"] != "tool":
            return call("document_library", words="rent")
        return {"content": said["content"]}

    model.answer = answer
    assert "the arguments must be like" in agent(http, library).text("Rent?")


@storage.only_alone
def test_a_model_that_takes_no_tools_is_given_passages(
    http: httpx.Client, model: SpokenModel, library: dict[str, Any]
) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        if "tools" in body:
            return {"error": {"message": "spoken does not support tools"}}
        return {"content": "Two weeks [ref1]."}

    model.answer = answer
    turns = [
        {"role": "user", "content": "How long is the notice period for employees?"},
        {"role": "assistant", "content": "The notice period for employees is three months."},
        {"role": "user", "content": "And for workers?"},
    ]
    one = agent(http, library)
    message = one.ask(turns)["choices"][0]["message"]
    names = [source["document_name"] for source in message["sources"]]
    assert names[0] == "strike.txt", "the follow-up is searched with the question before it"
    assert "notice.txt" in names, "the passage that was used stays"
    assert message["content"][1] == {"type": "reference", "reference_ids": [1]}
    prompt = model.asked[-1]["messages"][-1]["content"]
    assert prompt.index("[ref2]") < prompt.index("[ref1]") < prompt.index("Question: And for")

    # Its refusal is remembered.
    model.asked.clear()
    message = one.ask("Which zoo has penguins?")["choices"][0]["message"]
    assert message["sources"] == []
    [asked] = model.asked
    assert "no passage that answers this" in asked["messages"][-1]["content"]
