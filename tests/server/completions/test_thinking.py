"""Thinking, parameters and gone libraries, with a model at an address."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from support.completions import Answers
from support.libraries import connect, new_library
from support.process import RunningServer
from support.spoken import SpokenModel, call

THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see. Ah."}]}


@pytest.fixture
def http(talking: tuple[RunningServer, SpokenModel]) -> Iterator[httpx.Client]:
    with connect(talking[0]) as client:
        yield client


@pytest.fixture
def model(talking: tuple[RunningServer, SpokenModel]) -> SpokenModel:
    talking[1].asked.clear()
    return talking[1]


@pytest.fixture
def agent(http: httpx.Client) -> Answers:
    made = http.post("/v1/agents", json={"model": "spoken", "name": "clerk"}).json()
    return Answers(http, "/v1/agents/completions", agent_id=made["id"])


@pytest.fixture
def chat(http: httpx.Client) -> Answers:
    return Answers(http, "/v1/chat/completions", model="spoken")


def thinking(field: str) -> Any:
    pieces = [{field: "Let me see."}, {field: " Ah."}, {"content": "Four"}, {"content": "."}]
    return lambda body: pieces


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_an_agent_s_thinking_is_a_chunk(agent: Answers, model: SpokenModel, field: str) -> None:
    model.answer = thinking(field)
    message = agent.ask("2+2?")["choices"][0]["message"]
    assert message["content"] == [THOUGHT, {"type": "text", "text": "Four."}]
    assert "reasoning_content" not in message
    parts = [chunk["choices"][0]["delta"].get("content") for chunk in agent.chunks("2+2?")]
    thoughts = [part[0]["thinking"][0]["text"] for part in parts if isinstance(part, list)]
    assert thoughts == ["Let me see.", " Ah."]
    assert "".join(part for part in parts if isinstance(part, str)) == "Four."


def test_thinking_is_not_sent_on(agent: Answers, model: SpokenModel) -> None:
    model.answer = thinking("reasoning_content")
    message = agent.ask("2+2?")["choices"][0]["message"]
    question = {"role": "user", "content": "2+2?"}
    agent.ask([question, message, {"role": "user", "content": "Sure?"}])
    assert model.asked[-1]["messages"][1] == {"role": "assistant", "content": "Four."}


def test_a_chat_s_thinking_has_its_own_field(chat: Answers, model: SpokenModel) -> None:
    model.answer = thinking("reasoning_content")
    message = chat.ask("2+2?")["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("Four.", "Let me see. Ah.")
    deltas = [chunk["choices"][0]["delta"] for chunk in chat.chunks("2+2?")]
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "Let me see. Ah."
    assert "".join(delta.get("content") or "" for delta in deltas) == "Four."
    message = chat.ask("2+2?", prompt_mode="reasoning")["choices"][0]["message"]
    assert message["content"][0] == THOUGHT
    assert model.asked[-1]["reasoning_effort"] == "high"


@pytest.mark.parametrize(
    ("agent", "effort", "is_apart"),
    [
        ("mistral-client-python/3.7.0", "high", False),
        ("mistral-client-python/3.7.0", "none", True),
        ("mistral-client-python/3.7.0", None, True),
        ("OpenAI/Python 3.54.0", "high", True),
    ],
)
def test_a_client_of_the_hosted_service_reads_the_thinking_it_asks_for_as_chunks(
    http: httpx.Client, chat: Answers, model: SpokenModel, agent: str, effort: Any, is_apart: bool
) -> None:
    model.answer = thinking("reasoning_content")
    http.headers["user-agent"] = agent
    message = chat.ask("2+2?", reasoning_effort=effort)["choices"][0]["message"]
    assert ("reasoning_content" in message) is is_apart
    assert (message["content"] == "Four.") is is_apart


def test_a_conversation_s_thinking_is_a_chunk(http: httpx.Client, model: SpokenModel) -> None:
    model.answer = thinking("reasoning_content")
    body = {"model": "spoken", "inputs": "2+2?"}
    [message] = http.post("/v1/conversations", json=body).json()["outputs"]
    assert message["content"] == [THOUGHT, {"type": "text", "text": "Four."}]


def test_thinking_is_an_item_of_a_response(http: httpx.Client, model: SpokenModel) -> None:
    model.answer = thinking("reasoning_content")
    body = {"model": "spoken", "input": "2+2?", "reasoning": {"effort": "low"}}
    reasoning, message = http.post("/v1/responses", json=body).json()["output"]
    assert reasoning["content"] == [{"type": "reasoning_text", "text": "Let me see. Ah."}]
    assert message["content"][0]["text"] == "Four."
    assert model.asked[-1]["reasoning_effort"] == "low"
    streamed = http.post("/v1/responses", json={**body, "stream": True}).text
    names = [line.removeprefix("event: ") for line in streamed.splitlines() if "event:" in line]
    assert names[2:6] == [
        "response.output_item.added",
        *["response.reasoning_text.delta"] * 2,
        "response.reasoning_text.done",
    ]


def test_a_file_search_is_cited_in_a_response(http: httpx.Client, model: SpokenModel) -> None:
    library = new_library(http)
    document_id = library.processed("lease.txt", b"The rent is 950 euros a month.")
    model.answer = lambda body: (
        {"content": "950 euros [ref1]."}
        if body["messages"][-1]["role"] == "tool"
        else call("document_library", query="rent")
    )
    tool = {"type": "file_search", "vector_store_ids": [library.id]}
    body = {"model": "spoken", "input": "How high is the rent?", "tools": [tool]}
    [message] = http.post("/v1/responses", json=body).json()["output"]
    [part] = message["content"]
    assert part["text"] == "950 euros."
    assert part["annotations"] == [
        {
            "type": "file_citation",
            "index": len("950 euros"),
            "file_id": document_id,
            "filename": "lease.txt",
        }
    ]
    streamed = http.post("/v1/responses", json={**body, "stream": True}).text
    assert "response.output_text.annotation.added" in streamed


def test_parameters_reach_the_model(chat: Answers, model: SpokenModel) -> None:
    model.answer = lambda body: {"content": "Yes."}
    given: dict[str, Any] = {
        "min_tokens": 2,
        "logit_bias": {"5": 1},
        "verbosity": "low",
        "reasoning_effort": "low",
        "prediction": {"type": "content", "content": "Yes."},
    }
    answer = chat.post("Hello", modalities=["text"], **given)
    assert (answer.status_code, answer.headers.get("warning")) == (200, None)
    assert {name: model.asked[-1][name] for name in given} == given
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    model.answer = lambda body: {"content": '{"a": 1}'}
    named = {"name": "numbers", "schema": schema}
    chat.ask("Hello", response_format={"type": "json_schema", "json_schema": named})
    assert model.asked[-1]["response_format"]["json_schema"]["name"] == "numbers"
    assert chat.post("Hello", reasoning_effort="a lot").status_code == 422


def test_log_probabilities_are_told(chat: Answers, model: SpokenModel) -> None:
    token = {"token": "Yes", "logprob": -0.1, "top_logprobs": []}
    model.answer = lambda body: {"content": "Yes", "logprobs": {"content": [dict(token)]}}
    [choice] = chat.ask("Hello", logprobs=True, top_logprobs=0)["choices"]
    assert (choice["message"]["content"], choice["logprobs"]) == ("Yes", {"content": [token]})
    told = [chunk["choices"][0].get("logprobs") for chunk in chat.chunks("Hello", logprobs=True)]
    assert [one for one in told if one] == [{"content": [token]}]
    assert model.asked[-1]["logprobs"] is True


def test_one_call_where_no_more_are_wanted(chat: Answers, model: SpokenModel) -> None:
    tools = [{"type": "function", "function": {"name": "add"}}]
    both = [{**call("add")["tool_calls"][0], "index": index} for index in (0, 1)]
    model.answer = lambda body: {"tool_calls": both}
    [choice] = chat.ask("Add", tools=tools, parallel_tool_calls=False)["choices"]
    assert len(choice["message"]["tool_calls"]) == 1
    assert model.asked[-1]["parallel_tool_calls"] is False


def test_a_result_of_another_call_is_refused(chat: Answers, model: SpokenModel) -> None:
    called = {"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turns: list[dict[str, Any]] = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": "", "tool_calls": [called]},
        {"role": "tool", "content": "1", "tool_call_id": "ihgfedcba"},
    ]
    assert "not one of the calls" in chat.refusal(turns)["message"]


def test_a_gone_library_is_said(http: httpx.Client, model: SpokenModel) -> None:
    library = new_library(http)
    tools = [{"type": "document_library", "library_ids": [library.id]}]
    made = http.post("/v1/agents", json={"model": "spoken", "name": "clerk", "tools": tools}).json()
    http.delete(f"/v1/libraries/{library.id}")
    answer = Answers(http, "/v1/agents/completions", agent_id=made["id"]).post("Rent?")
    assert (answer.status_code, "was deleted" in answer.json()["message"]) == (404, True)
    search = {"type": "file_search", "vector_store_ids": [library.id]}
    for path, body in (
        ("/v1/conversations", {"agent_id": made["id"], "inputs": "Rent?"}),
        ("/v1/conversations", {"model": "spoken", "inputs": "Rent?", "tools": tools}),
        ("/v1/responses", {"model": "spoken", "input": "Rent?", "tools": [search]}),
        (
            "/v1/chat/completions",
            {"model": "spoken", "tools": tools, "messages": [{"role": "user", "content": "?"}]},
        ),
    ):
        for stream in (False, True):
            refused = http.post(path, json={**body, "stream": stream})
            assert refused.status_code == 404, (path, stream, refused.text)
            assert "was deleted" in refused.json()["message"]
    refused = http.post("/v1/agents", json={"model": "spoken", "name": "x", "tools": tools})
    assert refused.status_code == 422
    assert refused.json()["detail"][0]["loc"] == ["body", "tools", 0, "library_ids", 0]
