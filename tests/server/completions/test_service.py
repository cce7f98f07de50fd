"""Agent completions over the wire, by the real built-in model."""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from support.completions import ADD, CITY, WEATHER, Answers, written
from support.libraries import new_library

pytestmark = pytest.mark.xdist_group("model")

LEASE = (
    b"The tenancy begins on 1 March 2024 and runs for twelve months. The monthly rent is 950 euros,"
    b" payable in advance on the first working day of each month."
)


class AgentUnderTest(Answers):
    """One agent, made for the test."""

    def __init__(self, http: httpx.Client, **settings: Any) -> None:
        given = {"model": "smollm2", "name": "Reader", "instructions": "Answer briefly."}
        response = http.post("/v1/agents", json={**given, **settings})
        assert response.status_code == 200, response.text
        self.id = response.json()["id"]
        super().__init__(http, "/v1/agents/completions", agent_id=self.id)


@pytest.fixture
def agent(http: httpx.Client) -> AgentUnderTest:
    return AgentUnderTest(http)


def test_a_whole_answer_has_the_interface_s_shape(agent: AgentUnderTest) -> None:
    answer = agent.ask("What is the capital of France?")
    assert re.fullmatch("[0-9a-f]{32}", answer.pop("id"))
    assert answer.pop("created") > 1_700_000_000
    usage, [choice] = answer.pop("usage"), answer.pop("choices")
    assert answer == {"object": "chat.completion", "model": "smollm2", "agent_version": 0}
    assert usage["prompt_tokens"] > 10
    assert 0 < usage["completion_tokens"] <= 24
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    message = choice.pop("message")
    assert choice.keys() == {"index", "finish_reason"}
    assert message.pop("content").strip()
    assert message == {"role": "assistant", "tool_calls": None, "prefix": False}


def test_a_stream_has_the_interface_s_shape(agent: AgentUnderTest) -> None:
    response = agent.post("Name three colours.", stream=True)
    assert response.headers["content-type"].startswith("text/event-stream")
    chunks = agent.chunks("Name three colours.")
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert re.fullmatch("[0-9a-f]{32}", chunks[0]["id"])
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}

    first, *middle, last = [chunk["choices"][0] for chunk in chunks]
    assert first["delta"] == {"role": "assistant", "content": ""}
    assert all(choice["delta"].keys() == {"content"} for choice in middle)
    assert {choice["finish_reason"] for choice in [first, *middle]} == {None}
    assert last["finish_reason"] in ("stop", "length")
    assert ["usage" in chunk for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert chunks[-1]["usage"]["completion_tokens"] >= len([c for c in middle if c["delta"]])


def test_same_seed_same_text_streamed_or_not(agent: AgentUnderTest) -> None:
    question = "Write about the sea."
    whole = agent.ask(question, random_seed=7)
    chunks = agent.chunks(question, random_seed=7)
    assert written(chunks) == whole["choices"][0]["message"]["content"]
    assert chunks[-1]["usage"] == whole["usage"]
    assert agent.text(question, random_seed=8) != written(chunks)


def test_several_answers_count_their_prompt_once(http: httpx.Client) -> None:
    agent = AgentUnderTest(http, completion_args={"temperature": 1})
    one = agent.ask("Write about a dog.", random_seed=3, max_tokens=6)
    three = agent.ask("Write about a dog.", random_seed=3, max_tokens=6, n=3)
    assert [choice["index"] for choice in three["choices"]] == [0, 1, 2]
    texts = [choice["message"]["content"] for choice in three["choices"]]
    assert texts[0] == one["choices"][0]["message"]["content"]
    assert len(set(texts)) > 1
    assert three["usage"]["prompt_tokens"] == one["usage"]["prompt_tokens"]
    assert three["usage"]["completion_tokens"] == 18

    chunks = agent.chunks("Write about a dog.", random_seed=3, max_tokens=6, n=3)
    assert [written(chunks, index) for index in range(3)] == texts
    assert [chunk["usage"] for chunk in chunks if "usage" in chunk] == [three["usage"]]


def test_stop_strings_end_the_answer_before_them(agent: AgentUnderTest) -> None:
    question = "Write about the sea."
    text = agent.text(question, random_seed=7)
    word = text.split()[5]
    for stop in (word, ["no such text anywhere", word]):
        answer = agent.ask(question, random_seed=7, stop=stop)["choices"][0]
        assert answer["finish_reason"] == "stop"
        assert answer["message"]["content"] == text[: text.index(word)]
    chunks = agent.chunks(question, random_seed=7, stop=word)
    assert written(chunks) == text[: text.index(word)]


def test_max_tokens_ends_the_answer(agent: AgentUnderTest) -> None:
    answer = agent.ask("Write about the sea.", max_tokens=3)
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 3
    nothing = agent.ask("Write about the sea.", max_tokens=0)
    assert nothing["choices"][0]["message"]["content"] == ""
    assert nothing["usage"]["completion_tokens"] == 0
    assert nothing["usage"]["prompt_tokens"] == answer["usage"]["prompt_tokens"]


def test_a_prefix_begins_the_answer(agent: AgentUnderTest) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Name a colour."},
        {"role": "assistant", "content": "The colour is", "prefix": True},
    ]
    assert agent.text(messages, random_seed=1).startswith("The colour is")
    assert written(agent.chunks(messages, random_seed=1)).startswith("The colour is")


def test_penalties_change_the_answer(agent: AgentUnderTest) -> None:
    question = "Repeat the word sea twenty times."
    plain = agent.text(question, random_seed=2)
    for penalty in ({"frequency_penalty": 2}, {"presence_penalty": 2}, {"repetition_penalty": 2}):
        assert agent.text(question, random_seed=2, **penalty) != plain


def test_the_agent_s_arguments_hold_unless_the_request_says_otherwise(http: httpx.Client) -> None:
    arguments = {"max_tokens": 2, "random_seed": 5, "temperature": 0.9}
    agent = AgentUnderTest(http, completion_args=arguments)
    short = agent.ask("Write about the sea.", max_tokens=None)
    assert short["usage"]["completion_tokens"] == 2
    assert agent.ask("Write about the sea.", max_tokens=None)["choices"] == short["choices"]
    assert agent.ask("Write about the sea.", max_tokens=4)["usage"]["completion_tokens"] == 4


def test_instructions_reach_the_model(http: httpx.Client) -> None:
    brief = AgentUnderTest(http, instructions="x").ask("Hello", max_tokens=1)
    long = AgentUnderTest(http, instructions="Be kind. " * 20).ask("Hello", max_tokens=1)
    assert long["usage"]["prompt_tokens"] > brief["usage"]["prompt_tokens"] + 40


def test_the_answer_names_the_version_that_gave_it(
    agent: AgentUnderTest, http: httpx.Client
) -> None:
    http.patch(f"/v1/agents/{agent.id}", json={"instructions": "Be kind."})
    assert agent.ask("Hello", max_tokens=1)["agent_version"] == 1
    assert {chunk["agent_version"] for chunk in agent.chunks("Hello", max_tokens=1)} == {1}


@pytest.mark.parametrize(
    "format",
    [
        {"type": "json_object"},
        {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY}},
    ],
    ids=["json_object", "json_schema"],
)
def test_json_is_json(agent: AgentUnderTest, format: dict[str, Any]) -> None:
    options = {"response_format": format, "max_tokens": 400, "random_seed": 1}
    question = 'Copy this: {"city": "Paris", "tags": ["big"]}'
    answer = json.loads(agent.text(question, **options))
    assert isinstance(answer, dict)
    if "json_schema" in format:
        assert answer.keys() == {"city", "tags"}
    chunks = agent.chunks(question, **options)
    assert json.loads(written(chunks)) == answer


def test_the_mode_for_reasoning_has_a_prompt_of_its_own(agent: AgentUnderTest) -> None:
    plain = agent.ask("What is 2 plus 3?", max_tokens=1)["usage"]["prompt_tokens"]
    options = {"prompt_mode": "reasoning", "max_tokens": 1}
    assert agent.ask("What is 2 plus 3?", **options)["usage"]["prompt_tokens"] > plain + 10


def test_json_that_was_cut_off_is_given_as_far_as_it_came(agent: AgentUnderTest) -> None:
    format = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY}}
    options = {"response_format": format, "max_tokens": 8, "random_seed": 1}
    [choice] = agent.ask("Describe Paris.", **options)["choices"]
    assert choice["finish_reason"] == "length"
    assert choice["message"]["content"].startswith("{")
    chunks = agent.chunks("Describe Paris.", **options)
    assert chunks[-1]["choices"][0]["finish_reason"] == "length"
    assert written(chunks) == choice["message"]["content"]


def test_a_call_that_was_cut_off_is_left_out(agent: AgentUnderTest) -> None:
    options = {"tools": [ADD], "tool_choice": "any", "max_tokens": 4}
    [choice] = agent.ask("What is 2 plus 3?", **options)["choices"]
    assert choice["finish_reason"] == "length"
    assert (choice["message"]["content"], choice["message"]["tool_calls"]) == ("", None)
    chunks = agent.chunks("What is 2 plus 3?", **options)
    assert chunks[-1]["choices"][0]["finish_reason"] == "length"
    assert not any(chunk["choices"][0]["delta"].get("tool_calls") for chunk in chunks)


def test_a_schema_the_model_cannot_be_held_to_is_refused(agent: AgentUnderTest) -> None:
    def format(schema: dict[str, Any]) -> dict[str, Any]:
        return {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}

    refused = agent.refusal("Describe Paris.", response_format=format({"type": "frog"}))
    assert refused["object"] == "error"
    elsewhere = {"$ref": "https://example.org/city.json"}
    answer = agent.post("Describe Paris.", response_format=format(elsewhere))
    assert answer.status_code == 422 and "Refer to parts as #/$defs/" in answer.text


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ("any", {"get_weather", "add"}),
        ("required", {"get_weather", "add"}),
        ({"type": "function", "function": {"name": "add"}}, {"add"}),
    ],
)
def test_a_call_can_be_demanded(agent: AgentUnderTest, choice: Any, names: set[str]) -> None:
    options = {"tools": [WEATHER, ADD], "tool_choice": choice, "max_tokens": 200}
    [answer] = agent.ask("What is the weather in Paris?", **options)["choices"]
    assert answer["finish_reason"] == "tool_calls"
    [call] = answer["message"]["tool_calls"]
    assert call["function"]["name"] in names
    assert isinstance(json.loads(call["function"]["arguments"]), dict)
    assert re.fullmatch("[a-zA-Z0-9]{9}", call["id"])
    assert (call["type"], call["index"]) == ("function", 0)


def test_calls_stream_whole(agent: AgentUnderTest) -> None:
    options = {"tools": [ADD], "tool_choice": "any", "max_tokens": 200}
    first, calling, last = agent.chunks("What is 2 plus 3?", **options)
    assert first["choices"][0]["delta"]["role"] == "assistant"
    [call] = calling["choices"][0]["delta"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]).keys() == {"a", "b"}
    assert last["choices"][0]["finish_reason"] == "tool_calls"


def test_the_agent_s_own_functions_can_be_called(http: httpx.Client) -> None:
    agent = AgentUnderTest(http, tools=[ADD])
    [choice] = agent.ask("2 plus 3?", tool_choice="any", max_tokens=200)["choices"]
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "add"


def test_a_result_is_answered_in_words(agent: AgentUnderTest) -> None:
    called = {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {
                "id": "abcdefghi",
                "type": "function",
                "function": {"name": "get_weather", "arguments": '{"city":"Paris"}'},
            }
        ],
    }
    result = {"role": "tool", "tool_call_id": "abcdefghi", "content": "Sunny, 21 degrees"}
    asked = {"role": "user", "content": "What is the weather in Paris?"}
    [choice] = agent.ask([asked, called, result], tools=[WEATHER])["choices"]
    assert choice["finish_reason"] in ("stop", "length")
    assert "sunny" in choice["message"]["content"].lower()


def test_a_prompt_beyond_the_context_is_refused_with_both_numbers(agent: AgentUnderTest) -> None:
    error = agent.refusal("word " * 9000)
    assert re.search(r"prompt has 90\d\d tokens and max_tokens is 24", error["message"])
    assert "context is 8192 tokens" in error["message"]
    assert "max_tokens is 9000" in agent.refusal("Hello", max_tokens=9000)["message"]


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([{"role": "system", "content": "x"}], "3230"),
        ([{"role": "user", "content": "x"}, {"role": "assistant", "content": "x"}], "3230"),
        (
            [
                {"role": "user", "content": "x"},
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "short", "function": {"name": "f", "arguments": "{}"}}],
                },
                {"role": "tool", "content": "x", "tool_call_id": "short"},
            ],
            "3280",
        ),
    ],
)
def test_messages_out_of_order_are_refused(
    agent: AgentUnderTest, messages: list[dict[str, Any]], code: str
) -> None:
    assert agent.refusal(messages)["code"] == code
    assert agent.refusal(messages, stream=True)["code"] == code


def test_what_would_change_the_answer_but_cannot_is_refused(agent: AgentUnderTest) -> None:
    for name, value in {"min_tokens": 3, "logprobs": True, "guardrails": [{}]}.items():
        assert agent.refusal("Hello", **{name: value})["param"] == name
    for name in ("temperature", "model", "top_p", "user"):
        assert agent.post("Hello", **{name: 1}).status_code == 422


def test_hints_are_accepted(agent: AgentUnderTest) -> None:
    hints = {
        "prediction": {"type": "content", "content": "Hello"},
        "prompt_mode": "reasoning",
        "parallel_tool_calls": False,
        "prompt_cache_key": "x",
        "service_tier": "auto",
        "metadata": {"a": 1},
        "stop": None,
        "random_seed": None,
    }
    assert agent.text("Hello", **hints)


def test_an_agent_with_another_model_or_a_hosted_tool_is_refused(http: httpx.Client) -> None:
    unknown = AgentUnderTest(http, model="no-such-model").refusal("Hello")
    assert (unknown["type"], unknown["code"]) == ("invalid_model", "1500")
    assert "smollm2" in unknown["message"]
    hosted = AgentUnderTest(http, tools=[{"type": "web_search"}]).refusal("Hello")
    assert "web_search" in hosted["message"]


def test_vendor_names_are_answered_to_and_echoed(http: httpx.Client) -> None:
    agent = AgentUnderTest(http, model="mistral-small-latest")
    assert agent.ask("Hello", max_tokens=1)["model"] == "mistral-small-latest"
    dated = AgentUnderTest(http, model="mistral-small-2506")
    assert dated.ask("Hello", max_tokens=1)["model"] == "mistral-small-2506"


def test_an_unknown_agent_is_not_found(http: httpx.Client) -> None:
    body = {"agent_id": "ag_0", "messages": [{"role": "user", "content": "Hello"}]}
    assert http.post("/v1/agents/completions", json=body).status_code == 404


@pytest.mark.parametrize(
    "chunk",
    [
        lambda upload: {"type": "file", "file_id": upload()},
        lambda upload: {
            "type": "document_url",
            "document_url": f"data:text/plain,{quote(LEASE)}",
        },
    ],
    ids=["file", "document_url"],
)
def test_documents_in_a_message_are_read(
    http: httpx.Client, chunk: Callable[[Any], dict[str, Any]]
) -> None:
    agent = AgentUnderTest(http, completion_args={"temperature": 0})

    def upload() -> str:
        response = http.post("/v1/files", files={"file": ("lease.txt", LEASE)})
        return str(response.json()["id"])

    question = {"type": "text", "text": "What is this about?"}
    alone = agent.ask([{"role": "user", "content": [question]}], max_tokens=1)
    answer = agent.ask([{"role": "user", "content": [chunk(upload), question]}])
    read = answer["usage"]["prompt_tokens"] - alone["usage"]["prompt_tokens"]
    assert 30 < read < 60
    assert "tenancy" in answer["choices"][0]["message"]["content"]


def test_pictures_are_refused_by_a_model_that_cannot_see(agent: AgentUnderTest) -> None:
    chunk = {"type": "image_url", "image_url": "https://example.org/x.png"}
    error = agent.refusal([{"role": "user", "content": [chunk]}])
    assert "cannot see images" in error["message"]


def test_answers_from_a_library_and_names_the_passages(http: httpx.Client) -> None:
    library = new_library(http)
    document_id = library.processed("lease.txt", LEASE)
    tool = {"type": "document_library", "library_ids": [library.id]}
    agent = AgentUnderTest(http, tools=[tool], instructions="You answer about our documents.")

    message = agent.ask("How much is the monthly rent?", max_tokens=60)["choices"][0]["message"]
    assert "950" in message["content"]
    [source] = message["sources"]
    assert (source["index"], source["page"]) == (1, 0)
    assert (source["library_id"], source["document_id"]) == (library.id, document_id)
    assert source["document_name"] == "lease.txt"
    assert "rent" in source["snippet"]

    turns = [{"role": "user", "content": "How much is the monthly rent?"}, message]
    agent.ask([*turns, {"role": "user", "content": "Thank you."}])

    chunks = agent.chunks("How much is the monthly rent?", max_tokens=4)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[-1]["sources"] == [source]
    assert not any("sources" in delta for delta in deltas[:-1])


def test_an_empty_library_gives_no_passages(http: httpx.Client) -> None:
    tool = {"type": "document_library", "library_ids": [new_library(http).id]}
    [choice] = AgentUnderTest(http, tools=[tool]).ask("Hello")["choices"]
    assert choice["message"]["sources"] == []


def test_without_a_library_there_are_no_sources(agent: AgentUnderTest) -> None:
    [choice] = agent.ask("Hello", max_tokens=2)["choices"]
    assert "sources" not in choice["message"]
