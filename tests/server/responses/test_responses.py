"""The Responses shape over the wire, by the real built-in model."""

import base64
import json
import time
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
    sent = told(post(http, input, stream=True, **options))
    assert [event["sequence_number"] for event in sent] == list(range(len(sent)))
    return sent


def told(response: httpx.Response) -> list[dict[str, Any]]:
    """The events of a stream."""
    assert response.headers["content-type"].startswith("text/event-stream"), response.text
    blocks = [block.splitlines() for block in response.text.strip().split("\n\n")]
    sent = [json.loads(data.removeprefix("data: ")) for _, data in blocks]
    assert [name for name, _ in blocks] == [f"event: {event['type']}" for event in sent]
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
    assert (answer["object"], answer["model"], answer["store"]) == ("response", "smollm2", True)
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
        ({"conversation": "c", "previous_response_id": "resp_1"}, "conversation"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"background": True, "store": False}, "background"),
        ({"tools": [{"type": "code_interpreter"}]}, "tools"),
        ({"tools": [{"type": "mcp", "server_label": "a", "server_url": "http://b"}]}, "tools"),
        ({"tools": [{"type": "mcp", "server_label": "a"}]}, "tools"),
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


def test_an_answer_is_kept_until_it_is_deleted(http: httpx.Client) -> None:
    answer = ask(http, "Name a colour.")
    path = f"/v1/responses/{answer['id']}"
    assert http.get(path).json() == answer
    [item] = http.get(f"{path}/input_items").json()["data"]
    assert (item["role"], item["content"]) == (
        "user",
        [{"type": "input_text", "text": "Name a colour."}],
    )
    listed = http.get("/v1/conversations").json()
    assert answer["id"] not in {one["id"] for one in listed}
    assert http.get(f"/v1/conversations/{answer['id']}").status_code == 404
    assert http.post(f"{path}/cancel").status_code == 400
    assert http.delete(path).json() == {"id": answer["id"], "object": "response", "deleted": True}
    assert http.get(path).status_code == http.delete(path).status_code == 404


def test_an_answer_that_is_not_to_be_kept_is_not(http: httpx.Client) -> None:
    answer = ask(http, "Name a colour.", store=False, max_output_tokens=2)
    assert answer["store"] is False
    assert http.get(f"/v1/responses/{answer['id']}").status_code == 404


def test_a_streamed_answer_is_kept_as_it_ended(http: httpx.Client) -> None:
    last = events(http, "Name a colour.", max_output_tokens=4)[-1]["response"]
    assert http.get(f"/v1/responses/{last['id']}").json() == last


def test_an_answer_goes_on_from_the_one_before(http: httpx.Client) -> None:
    first = ask(http, "My name is Anna. Say hello.", max_output_tokens=8)
    second = ask(http, "And now?", previous_response_id=first["id"], max_output_tokens=8)
    third = ask(http, "And now?", previous_response_id=second["id"], max_output_tokens=8)
    assert third["previous_response_id"] == second["id"]
    read = [one["usage"]["input_tokens"] for one in (first, second, third)]
    assert read[0] < read[1] < read[2], "each reads what was said before it"
    items = http.get(f"/v1/responses/{third['id']}/input_items").json()["data"]
    assert [one["content"][0]["text"] for one in items] == ["And now?"]
    unknown = post(http, "And now?", previous_response_id="resp_gone")
    assert unknown.status_code == 404


def until_ended(http: httpx.Client, id: str) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while True:
        answer: dict[str, Any] = http.get(f"/v1/responses/{id}").json()
        if answer["status"] not in ("queued", "in_progress"):
            return answer
        assert time.monotonic() < deadline, "it ends"
        time.sleep(0.1)


def test_an_answer_in_the_background_is_read_when_it_is_done(http: httpx.Client) -> None:
    begun = ask(http, "Name a colour.", background=True, max_output_tokens=8)
    assert (begun["status"], begun["background"], begun["output"]) == ("queued", True, [])
    ended = until_ended(http, begun["id"])
    assert ended["status"] in ("completed", "incomplete")
    assert ended["output"][0]["content"][0]["text"].strip()


def test_an_answer_in_the_background_is_cancelled(http: httpx.Client) -> None:
    begun = ask(http, "Tell a long story.", background=True, max_output_tokens=2000)
    cancelled = http.post(f"/v1/responses/{begun['id']}/cancel").json()
    assert cancelled["status"] == "cancelled"
    assert until_ended(http, begun["id"])["status"] == "cancelled"


def test_an_answer_in_the_background_is_streamed_and_read_again(http: httpx.Client) -> None:
    sent = events(http, "Name a colour.", background=True, max_output_tokens=8)
    assert sent[0]["type"] == "response.created"
    ended = sent[-1]["response"]
    assert until_ended(http, ended["id"]) == ended
    deltas = [event["delta"] for event in sent if event["type"].endswith("output_text.delta")]
    assert "".join(deltas) == ended["output"][0]["content"][0]["text"]
    path = f"/v1/responses/{ended['id']}"
    assert told(http.get(path, params={"stream": True})) == sent
    for after in (0, 3, len(sent) - 2):
        rest = http.get(path, params={"stream": True, "starting_after": after})
        assert told(rest) == sent[after + 1 :]
    whole = ask(http, "Name a colour.", max_output_tokens=2)["id"]
    refused = http.get(f"/v1/responses/{whole}", params={"stream": True})
    assert (refused.status_code, refused.json()["param"]) == (400, "stream")
    assert http.get("/v1/responses/resp_gone", params={"stream": True}).status_code == 404


def test_a_stream_that_is_left_is_taken_up_while_the_answer_is_written(http: httpx.Client) -> None:
    question = {"model": "smollm2", "input": "Tell a long story.", "max_output_tokens": 160}
    body = {**question, "background": True, "stream": True}
    with http.stream("POST", "/v1/responses", json=body) as begun:
        lines = (line for line in begun.iter_lines() if line.startswith("data: "))
        first = [json.loads(next(lines)[6:]) for _ in range(6)]
    id = first[0]["response"]["id"]
    params = {"stream": True, "starting_after": 5}
    rest = told(http.get(f"/v1/responses/{id}", params=params, timeout=60))
    numbers = [event["sequence_number"] for event in (*first, *rest)]
    assert numbers == list(range(len(numbers)))
    assert rest[-1]["response"] == until_ended(http, id)


def test_a_stream_of_a_cancelled_answer_ends(http: httpx.Client) -> None:
    body = {"background": True, "stream": True, "max_output_tokens": 2000}
    question = {"model": "smollm2", "input": "Tell a long story.", **body}
    with http.stream("POST", "/v1/responses", json=question) as begun:
        lines = (line for line in begun.iter_lines() if line.startswith("data: "))
        id = json.loads(next(lines)[6:])["response"]["id"]
    http.post(f"/v1/responses/{id}/cancel")
    last = told(http.get(f"/v1/responses/{id}", params={"stream": True}))[-1]
    assert (last["type"], last["response"]["status"]) == ("response.cancelled", "cancelled")


def test_a_stream_of_a_deleted_answer_ends(http: httpx.Client) -> None:
    body = {"background": True, "stream": True, "max_output_tokens": 2000}
    question = {"model": "smollm2", "input": "Tell a long story.", **body}
    with http.stream("POST", "/v1/responses", json=question) as begun:
        lines = (line for line in begun.iter_lines() if line.startswith("data: "))
        id = json.loads(next(lines)[6:])["response"]["id"]
        http.delete(f"/v1/responses/{id}").raise_for_status()
        last = json.loads([*lines][-1][6:])
    assert (last["type"], last["code"]) == ("error", "not_found") and id in last["message"]
    assert http.get(f"/v1/responses/{id}").status_code == 404


def new_talk(http: httpx.Client) -> str:
    body = {"model": "smollm2", "inputs": "My name is Anna.", "completion_args": {"max_tokens": 4}}
    id: str = http.post("/v1/conversations", json=body).json()["conversation_id"]
    return id


def test_an_answer_goes_on_in_a_conversation(http: httpx.Client) -> None:
    id = new_talk(http)
    first = ask(http, "Say hello.", conversation=id, max_output_tokens=8)
    assert first["conversation"] == {"id": id}
    again = {"conversation": {"id": id}, "max_output_tokens": 8}
    second = events(http, [{"role": "user", "content": "And now?"}], **again)[-1]["response"]
    alone = ask(http, "And now?", max_output_tokens=8)
    tokens = [one["usage"]["input_tokens"] for one in (alone, first, second)]
    assert tokens == sorted(set(tokens)), "each reads what was said before it"
    entries = http.get(f"/v1/conversations/{id}/history").json()["entries"]
    assert [one["type"] for one in entries] == ["message.input", "message.output"] * 3
    assert entries[3]["content"] == first["output"][0]["content"][0]["text"]
    assert (entries[5]["model"], entries[4]["content"]) == ("smollm2", "And now?")
    # The same conversation goes on in its own shape.
    body = {"inputs": "And then?", "completion_args": {"max_tokens": 4}}
    assert http.post(f"/v1/conversations/{id}", json=body).status_code == 200
    assert post(http, "Hello", conversation="nowhere").status_code == 404


def test_calls_and_results_stay_in_a_conversation(http: httpx.Client) -> None:
    id = new_talk(http)
    talk = {"conversation": id, "tools": [WEATHER]}
    question = "What is the weather in Paris?"
    [call] = ask(http, question, tool_choice="required", max_output_tokens=None, **talk)["output"]
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "Sunny."}
    ask(http, [result], **talk)
    entries = http.get(f"/v1/conversations/{id}/history").json()["entries"]
    kinds = [one["type"] for one in entries[3:]]
    assert kinds == ["function.call", "function.result", "message.output"]
    assert (entries[3]["tool_call_id"], entries[4]["result"]) == (call["call_id"], "Sunny.")
