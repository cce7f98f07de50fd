"""Chat completions over the wire, by the real built-in model asked directly."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.completions import ADD, CITY, WEATHER, Answers, written
from support.documents import digital_pdf

pytestmark = pytest.mark.xdist_group("model")


@pytest.fixture
def model(http: httpx.Client) -> Answers:
    return Answers(http, "/v1/chat/completions", model="mistral-small-latest")


def test_a_whole_answer_has_the_interface_s_shape(model: Answers) -> None:
    answer = model.ask("What is the capital of France?")
    assert answer.keys() == {"id", "object", "model", "created", "usage", "choices"}
    assert (answer["object"], answer["model"]) == ("chat.completion", "mistral-small-latest")
    [choice] = answer["choices"]
    assert choice["message"]["content"].strip()
    assert choice["message"].keys() == {"role", "content", "tool_calls"}


def test_a_stream_has_the_interface_s_shape(model: Answers) -> None:
    chunks = model.chunks("Name three colours.")
    first, *_, last = [chunk["choices"][0] for chunk in chunks]
    assert first == {
        "index": 0,
        "delta": {"role": "assistant", "content": ""},
        "finish_reason": None,
    }
    assert last["finish_reason"] in ("stop", "length")
    assert {chunk["model"] for chunk in chunks} == {"mistral-small-latest"}
    assert not any("agent_version" in chunk for chunk in chunks)
    assert chunks[-1]["usage"]["completion_tokens"] > 0


def test_same_seed_same_text_by_either_name_streamed_or_not(model: Answers) -> None:
    options = {"temperature": 1.2, "top_p": 0.9}
    text = model.text("Write about the sea.", random_seed=7, **options)
    assert model.text("Write about the sea.", seed=7, **options) == text
    assert written(model.chunks("Write about the sea.", seed=7, **options)) == text
    assert model.text("Write about the sea.", seed=8, **options) != text


def test_temperature_and_top_p_change_the_answer(model: Answers) -> None:
    question = "Write about the sea."
    coldest = model.text(question, random_seed=1, temperature=0)
    assert model.text(question, random_seed=2, temperature=0) == coldest
    assert model.text(question, random_seed=2, temperature=1.5, top_p=0.01) == coldest
    assert model.text(question, random_seed=2, temperature=1.5) != coldest


def test_only_the_messages_are_the_prompt(model: Answers) -> None:
    bare = model.ask("Hello", max_tokens=1)["usage"]["prompt_tokens"]
    system = {"role": "system", "content": "Be kind. " * 20}
    told = model.ask([system, {"role": "user", "content": "Hello"}], max_tokens=1)
    assert told["usage"]["prompt_tokens"] > bare + 40
    safe = model.ask("Hello", max_tokens=1, safe_prompt=True)
    assert safe["usage"]["prompt_tokens"] > bare


def test_several_answers_that_stop(model: Answers) -> None:
    answer = model.ask("Write about a dog.", n=2, random_seed=3, temperature=1, stop=["."])
    texts = [choice["message"]["content"] for choice in answer["choices"]]
    assert len(set(texts)) == 2
    assert not any("." in text for text in texts)


def test_json_as_the_schema_wants_it(model: Answers) -> None:
    format = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY}}
    text = model.text("Describe Paris.", response_format=format, max_tokens=400)
    assert json.loads(text).keys() == {"city", "tags"}


def test_a_call_and_its_result_go_round(model: Answers) -> None:
    asked = {"role": "user", "content": "What is the weather in Paris?"}
    options = {"tools": [WEATHER, ADD], "parallel_tool_calls": False}
    choice = {"type": "function", "function": {"name": "get_weather"}}
    [answer] = model.ask([asked], tool_choice=choice, **options, max_tokens=200, random_seed=1)[
        "choices"
    ]
    assert answer["finish_reason"] == "tool_calls"
    [call] = answer["message"]["tool_calls"]
    assert re.fullmatch("[a-zA-Z0-9]{9}", call["id"])

    # Some clients send the call back without a text, as an empty list.
    called = {"role": "assistant", "content": [], "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": call["id"], "content": "Sunny, 21 degrees"}
    assert "sunny" in model.text([asked, called, result], temperature=0, **options).lower()


def test_hints_and_nulls_are_accepted(model: Answers) -> None:
    hints = {
        "prediction": {"type": "content", "content": "Hello"},
        "prompt_mode": "reasoning",
        "user": "someone",
        "metadata": {"a": 1},
        "stream_options": {"include_usage": True},
        "logit_bias": {"1": 2},
        "safety_identifier": "s",
        "store": False,
        "verbosity": "low",
        "document_image_limit": 1,
        "temperature": 2,
        **dict.fromkeys(("top_p", "stop", "random_seed", "seed", "tools")),
    }
    assert model.text("Hello", **hints)


def test_the_other_common_words_are_understood(model: Answers) -> None:
    told = [
        {"role": "developer", "content": "Be kind. " * 20},
        {"role": "user", "content": "Hello"},
    ]
    options = {"max_tokens": None, "max_completion_tokens": 3}
    usage = model.ask(told, **options)["usage"]
    bare = model.ask("Hello", **options)["usage"]
    assert usage["completion_tokens"] == bare["completion_tokens"] == 3
    assert usage["prompt_tokens"] > bare["prompt_tokens"] + 40


def test_unknown_fields_are_left_out_and_named(model: Answers) -> None:
    chunk = {"type": "text", "text": "Hello", "cache_control": {"type": "ephemeral"}}
    message = {"role": "user", "content": [chunk], "name": "someone"}
    for stream in (False, True):
        answer = model.post([message], stream=stream, cache_breakpoint=1, **{"x\r\ny": 1})
        assert answer.status_code == 200
        assert answer.headers["warning"].startswith("299 carrel ")
        for name in ("cache_control", "name", "cache_breakpoint", "x??y"):
            assert name in answer.headers["warning"]
    assert "warning" not in model.post("Hello").headers
    # Where it may be the question itself, it is an error.
    [detail] = model.post([{"role": "user", "contents": "Hello"}]).json()["detail"]
    assert detail["loc"] == ["body", "messages", 0, "contents"]


def test_calls_of_other_services_go_on(model: Answers) -> None:
    id = "call_abc-1234567890"
    call = {"id": id, "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": "What is the weather in Paris?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": "Sunny, 21 degrees"},
    ]
    assert "sunny" in model.text(talk, tools=[WEATHER], temperature=0).lower()


def test_what_a_tool_found_at_an_address_is_read(model: Answers) -> None:
    def length(*chunks: dict[str, Any]) -> int:
        asked = [{"type": "text", "text": "Hello"}, *chunks]
        usage = model.ask([{"role": "user", "content": asked}], max_tokens=1)["usage"]
        return int(usage["prompt_tokens"])

    text = {"type": "text", "text": "word " * 50}
    address = "https://example.org/a"
    bare = length()
    assert length({"type": "resource", "uri": address, "content": text}) > bare + 40
    assert length({"type": "resource_link", "uri": address}) > bare


def test_of_a_document_so_many_pages_are_read(
    model: Answers, http: httpx.Client, tmp_path: Path
) -> None:
    pdf = digital_pdf(tmp_path / "a.pdf", pages=3).read_bytes()
    id = http.post("/v1/files", files={"file": ("a.pdf", pdf)}).json()["id"]
    message = {"role": "user", "content": [{"type": "file", "file_id": id}]}
    one, whole = (
        model.ask([message], max_tokens=1, **limit)["usage"]["prompt_tokens"]
        for limit in ({"document_page_limit": 1}, {})
    )
    assert whole > 2 * one


def test_what_would_change_the_answer_but_cannot_is_refused(model: Answers) -> None:
    assert model.refusal("Hello", logprobs=True)["param"] == "logprobs"
    assert model.refusal("Hello", functions=[])["param"] == "functions"
    assert model.post("Hello", tools=[{"type": "no_such_tool"}]).status_code == 422
    without = model.post("Hello", tools=[{"type": "web_search"}])
    assert without.status_code == 400
    assert "has no connector for it" in without.json()["message"]


def test_errors_have_the_shapes_of_agent_completions(model: Answers) -> None:
    for stream in (False, True):
        unknown = model.refusal("Hello", model="no-such-model", stream=stream)
        assert (unknown["type"], unknown["code"]) == ("invalid_model", "1500")
        assert model.refusal([{"role": "system", "content": "x"}], stream=stream)["code"] == "3230"
    assert model.refusal("Hello", model="mistral-embed")["code"] == "1500"
    assert "max_tokens is 9000" in model.refusal("Hello", max_tokens=9000)["message"]


def test_needs_a_key(http: httpx.Client) -> None:
    body: dict[str, Any] = {"model": "smollm2", "messages": [{"role": "user", "content": "x"}]}
    for path in ("/v1/chat/completions", "/v1/embeddings"):
        assert http.post(path, json=body, headers={"authorization": ""}).status_code == 401
