"""The Responses shape over the wire, by the real built-in model."""

import base64
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.documents import digital_pdf

pytestmark = pytest.mark.xdist_group("model")

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 20}},
        "required": ["city"],
    },
}


def post(http: httpx.Client, input: Any, **options: Any) -> httpx.Response:
    body = {"model": "smollm2", "input": input, "max_output_tokens": 24, **options}
    return http.post("/v1/responses", json=body, timeout=120)


def ask(http: httpx.Client, input: Any, **options: Any) -> dict[str, Any]:
    response = post(http, input, **options)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def events(http: httpx.Client, input: Any, **options: Any) -> list[dict[str, Any]]:
    response = post(http, input, stream=True, **options)
    assert response.headers["content-type"].startswith("text/event-stream")
    blocks = [block.splitlines() for block in response.text.strip().split("\n\n")]
    sent = [json.loads(data.removeprefix("data: ")) for _, data in blocks]
    assert [name for name, _ in blocks] == [f"event: {event['type']}" for event in sent]
    assert [event["sequence_number"] for event in sent] == list(range(len(sent)))
    return sent


def test_an_answer_is_a_message_of_text(http: httpx.Client) -> None:
    answer = ask(http, "Name a colour.", instructions="Be brief.", metadata={"a": "b"})
    [message] = answer["output"]
    [part] = message["content"]
    assert (message["type"], message["role"], part["type"]) == (
        "message",
        "assistant",
        "output_text",
    )
    assert part["text"].strip()
    assert answer["usage"]["total_tokens"] > answer["usage"]["output_tokens"] > 0
    assert (answer["object"], answer["model"], answer["store"]) == ("response", "smollm2", False)
    assert (answer["instructions"], answer["metadata"]) == ("Be brief.", {"a": "b"})


def test_an_answer_cut_short_is_incomplete(http: httpx.Client) -> None:
    answer = ask(http, "Tell me a long story.", max_output_tokens=2)
    assert answer["status"] == "incomplete"
    assert answer["incomplete_details"] == {"reason": "max_output_tokens"}
    last = events(http, "Tell me a long story.", max_output_tokens=2)[-1]
    assert (last["type"], last["response"]["status"]) == ("response.incomplete", "incomplete")


def test_a_stream_tells_the_same_in_events(http: httpx.Client) -> None:
    sent = events(http, "Say hello.")
    kinds = [event["type"].removeprefix("response.") for event in sent]
    assert kinds[:4] == ["created", "in_progress", "output_item.added", "content_part.added"]
    assert kinds[-4:-1] == ["output_text.done", "content_part.done", "output_item.done"]
    deltas = [event["delta"] for event in sent if event["type"].endswith("output_text.delta")]
    ended = sent[-1]["response"]
    [message] = ended["output"]
    assert message["content"][0]["text"] == "".join(deltas) == sent[-4]["text"]
    assert sent[0]["response"]["id"] == ended["id"]
    assert sent[0]["response"]["status"] == "in_progress"
    assert ended["usage"]["output_tokens"] > 0


def test_a_function_is_called_and_its_result_read(http: httpx.Client) -> None:
    question = {"role": "user", "content": "What is the weather in Paris?"}
    options = {"tools": [WEATHER], "tool_choice": "required", "max_output_tokens": None}
    [call] = ask(http, [question], **options)["output"]
    assert (call["type"], call["name"]) == ("function_call", "get_weather")
    assert json.loads(call["arguments"])["city"]
    sent = events(http, [question], **options)
    assert [event["type"].removeprefix("response.") for event in sent[2:-1]] == [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
    ]
    assert sent[-1]["response"]["output"] == [sent[-2]["item"]]
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "Sunny."}
    thoughts = {"type": "reasoning", "id": "rs_1", "summary": []}
    [answer] = ask(http, [question, thoughts, call, result], tools=[WEATHER])["output"]
    assert answer["type"] == "message"


def test_an_answer_keeps_to_a_schema(http: httpx.Client) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 20}},
        "required": ["city"],
    }
    format = {"type": "json_schema", "name": "city", "schema": schema, "strict": True}
    answer = ask(http, "Name a city.", text={"format": format}, max_output_tokens=None)
    assert json.loads(answer["output"][0]["content"][0]["text"]).keys() == {"city"}
    assert answer["text"]["format"]["schema"] == schema


def test_documents_are_read(http: httpx.Client, tmp_path: Path) -> None:
    pdf = digital_pdf(tmp_path / "lease.pdf", pages=1, text="Lanterns hang in the cellar.")
    file = http.post("/v1/files", files={"file": ("lease.pdf", pdf.read_bytes())}).json()["id"]
    encoded = base64.b64encode(pdf.read_bytes()).decode()
    question = {"type": "input_text", "text": "What hangs in the cellar?"}
    bare = ask(http, [{"role": "user", "content": [question]}])["usage"]["input_tokens"]
    for part in (
        {"file_id": file},
        {"file_data": f"data:application/pdf;base64,{encoded}", "filename": "lease.pdf"},
    ):
        content = [{"type": "input_file", **part}, question]
        used = ask(http, [{"role": "user", "content": content}])["usage"]["input_tokens"]
        assert used > bare + 20


@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"background": True}, "background"),
        ({"tools": [{"type": "web_search"}]}, "tools"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input"),
        ({"input": [{"type": "reasoning", "id": "rs_1"}]}, "input"),
        ({"input": [{"role": "user", "content": [{"type": "input_audio"}]}]}, "input"),
        ({"input": [{"role": "user", "content": [{"type": "input_file"}]}]}, "input"),
        ({"text": {"format": {"type": "json_schema", "name": "x"}}}, "text.format.schema"),
    ],
)
def test_what_this_server_has_not_is_refused_in_a_sentence(
    http: httpx.Client, wrong: dict[str, Any], param: str
) -> None:
    refused = post(http, **{"input": "Hello", **wrong})
    assert refused.status_code == 400, refused.text
    assert refused.json()["param"] == param
    assert refused.json()["message"].endswith(".")


def test_a_field_that_nobody_knows_is_ignored_and_named(http: httpx.Client) -> None:
    answer = post(http, "Hello", max_output_tokens=1, store=True, include=[], mood="calm")
    assert answer.status_code == 200
    assert answer.headers["warning"] == '299 carrel "Ignored, as unknown: mood"'


def test_no_answer_is_kept(http: httpx.Client) -> None:
    answer = http.get("/v1/responses/resp_1")
    assert answer.status_code == 501
    assert "keeps no answers" in answer.json()["message"]
