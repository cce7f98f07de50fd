"""Conversations over the wire: kept, continued, restarted, handed over, private."""

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from carrel.server.completions.library_search import LibrarySearch
from carrel.server.records.accounts.keys import OWN
from support import storage
from support.libraries import new_library
from support.process import RunningServer
from support.spoken import SpokenModel, call, searching

PATH = "/v1/conversations"
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def say(http: httpx.Client, inputs: Any, path: str = PATH, **fields: Any) -> dict[str, Any]:
    partner = {"model": "spoken"} if path == PATH and "agent_id" not in fields else {}
    answer = http.post(path, json={**partner, "inputs": inputs, **fields})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def streamed(http: httpx.Client, inputs: Any, **fields: Any) -> list[dict[str, Any]]:
    """The data of the events of a streamed answer, each named by its type."""
    body = {"model": "spoken", "inputs": inputs, "stream": True, **fields}
    if "agent_id" in fields:
        body.pop("model")
    answer = http.post(PATH, json=body)
    assert answer.headers["content-type"].startswith("text/event-stream"), answer.text
    events = [event.split("\n") for event in answer.text.strip().split("\n\n")]
    datas = [json.loads(data.removeprefix("data: ")) for _, data in events]
    assert [name.removeprefix("event: ") for name, _ in events] == [d["type"] for d in datas]
    return datas


def history(http: httpx.Client, id: str) -> list[dict[str, Any]]:
    answer = http.get(f"{PATH}/{id}/history")
    assert answer.status_code == 200, answer.text
    entries: list[dict[str, Any]] = answer.json()["entries"]
    return entries


def new_agent(http: httpx.Client, **settings: Any) -> str:
    answer = http.post("/v1/agents", json={"model": "spoken", "name": "clerk", **settings})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def shown(model: SpokenModel) -> list[tuple[str, Any]]:
    """The messages of the last question."""
    return [(message["role"], message["content"]) for message in model.asked[-1]["messages"]]


def test_a_conversation_goes_on(http: httpx.Client, model: SpokenModel) -> None:
    first = say(http, "One", instructions="Be brief.", name="Counting", metadata={"to": 3})
    assert first["object"] == "conversation.response"
    assert first["usage"] == {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    [output] = first["outputs"]
    assert output["completed_at"] >= output["created_at"]
    assert (output["object"], output["type"], output["role"]) == (
        "entry",
        "message.output",
        "assistant",
    )
    assert (output["content"], output["model"]) == ("One", "spoken")
    id = first["conversation_id"]
    second = say(http, [{"role": "user", "content": "Two"}], f"{PATH}/{id}")
    assert (second["conversation_id"], second["outputs"][0]["content"]) == (id, "Two")
    assert shown(model) == [
        ("system", "Be brief."),
        ("user", "One"),
        ("assistant", "One"),
        ("user", "Two"),
    ]
    entries = history(http, id)
    assert [entry["type"] for entry in entries] == ["message.input", "message.output"] * 2
    assert len({entry["id"] for entry in entries}) == 4
    assert http.get(f"{PATH}/{id}/messages").json()["messages"] == entries
    kept = http.get(f"{PATH}/{id}").json()
    assert (kept["model"], kept["name"], kept["metadata"]) == ("spoken", "Counting", {"to": 3})
    assert kept["instructions"] == "Be brief."
    assert kept["updated_at"] > kept["created_at"]
    assert None not in kept.values()


def test_a_conversation_restarts_from_an_entry(http: httpx.Client, model: SpokenModel) -> None:
    id = say(http, "One", metadata={"a": 1})["conversation_id"]
    say(http, "Two", f"{PATH}/{id}")
    answered = history(http, id)[1]["id"]
    other = say(http, "Three", f"{PATH}/{id}/restart", from_entry_id=answered, metadata={"b": 2})
    assert other["conversation_id"] != id
    assert shown(model) == [("user", "One"), ("assistant", "One"), ("user", "Three")]
    said = [entry["content"] for entry in history(http, other["conversation_id"])]
    assert said == ["One", "One", "Three", "Three"]
    assert [entry["content"] for entry in history(http, id)] == ["One", "One", "Two", "Two"]
    assert http.get(f"{PATH}/{other['conversation_id']}").json()["metadata"] == {"b": 2}
    asked = history(http, id)[2]["id"]
    # Without inputs the question is answered anew.
    again = say(http, [], f"{PATH}/{id}/restart", from_entry_id=asked)
    assert again["outputs"][0]["content"] == "Two"
    missing = http.post(f"{PATH}/{id}/restart", json={"from_entry_id": "none", "inputs": "x"})
    assert missing.status_code == 404


def test_an_answer_is_streamed_with_its_events(http: httpx.Client, model: SpokenModel) -> None:
    events = streamed(http, "Hello")
    assert [event["type"] for event in events] == [
        "conversation.response.started",
        "message.output.delta",
        "conversation.response.done",
    ]
    started, delta, done = events
    assert (delta["content"], delta["output_index"], delta["role"]) == ("Hello", 0, "assistant")
    assert done["usage"]["total_tokens"] == 10
    asked, said = history(http, started["conversation_id"])
    assert (asked["content"], said["content"], said["id"]) == ("Hello", "Hello", delta["id"])


def test_functions_are_called_and_their_results_answered(
    http: httpx.Client, model: SpokenModel
) -> None:
    model.answer = lambda body: call("weather", city="Rome")
    first = say(http, "How is the weather?", tools=[WEATHER])
    [entry] = first["outputs"]
    assert (entry["type"], entry["name"]) == ("function.call", "weather")
    assert json.loads(entry["arguments"]) == {"city": "Rome"}
    model.answer = lambda body: {"content": f"It is {body['messages'][-1]['content']}."}
    result = {"type": "function.result", "tool_call_id": entry["tool_call_id"], "result": "sunny"}
    second = say(http, [result], f"{PATH}/{first['conversation_id']}")
    assert second["outputs"][0]["content"] == "It is sunny."
    assert [role for role, _ in shown(model)] == ["user", "assistant", "tool"]
    assert [entry["type"] for entry in history(http, first["conversation_id"])] == [
        "message.input",
        "function.call",
        "function.result",
        "message.output",
    ]
    wrong = http.post(
        f"{PATH}/{first['conversation_id']}", json={"inputs": [{**result, "tool_call_id": "other"}]}
    )
    assert (wrong.status_code, "There is no call 'other'" in wrong.text) == (400, True)
    model.answer = lambda body: call("weather", city="Oslo")
    events = streamed(http, "And in Oslo?", tools=[WEATHER])
    assert [event["type"] for event in events][1:-1] == ["function.call.delta"]
    assert json.loads(events[1]["arguments"]) == {"city": "Oslo"}


def test_a_library_is_searched_as_an_entry(http: httpx.Client, model: SpokenModel) -> None:
    library = new_library(http)
    library.processed("lease.txt", b"The rent is 950 euros a month.")
    tools = [{"type": "document_library", "library_ids": [library.id]}]
    model.answer = searching("How high is the rent?", "950 euros.")
    search, message = say(http, "How high is the rent?", tools=tools)["outputs"]
    assert (search["type"], search["name"]) == ("tool.execution", "document_library")
    assert json.loads(search["arguments"]) == {"query": "How high is the rent?"}
    assert "950" in search["info"]["sources"][0]["snippet"]
    assert message["content"] == "950 euros."
    events = streamed(http, "How high is the rent?", tools=tools)
    assert [event["type"] for event in events] == [
        "conversation.response.started",
        "tool.execution.started",
        "tool.execution.done",
        "message.output.delta",
        "conversation.response.done",
    ]
    assert [event["output_index"] for event in events[1:-1]] == [0, 0, 1]
    assert events[2]["info"] == {"sources": search["info"]["sources"]}


def test_a_citation_is_a_chunk_of_the_answer(http: httpx.Client, model: SpokenModel) -> None:
    library = new_library(http)
    library.processed("lease.txt", b"The rent is 950 euros a month.")
    tools = [{"type": "document_library", "library_ids": [library.id]}]
    model.answer = searching("rent", "It is 950 euros [ref1]. Heating is extra [ref8].")
    started = say(http, "How high is the rent?", tools=tools)
    content = started["outputs"][-1]["content"]
    assert [chunk["type"] for chunk in content] == ["text", "tool_reference", "text"]
    assert "".join(chunk.get("text", "") for chunk in content) == (
        "It is 950 euros. Heating is extra."
    )
    cited = content[1]
    assert (cited["tool"], cited["title"]) == ("document_library", "lease.txt, page 1")
    assert cited["reference_ids"] == [1]

    events = streamed(http, "How high is the rent?", tools=tools)
    deltas = [event for event in events if event["type"] == "message.output.delta"]
    assert [event["content_index"] for event in deltas] == [0, 1, 2, 2][: len(deltas)]
    assert [event["content"] for event in deltas if isinstance(event["content"], dict)] == [cited]
    # The model is not shown its citations again: their names are of another answer.
    model.answer = lambda body: {"content": "Yes."}
    say(http, "Sure?", f"{PATH}/{started['conversation_id']}")
    assert ("assistant", "It is 950 euros. Heating is extra.") in shown(model)


def test_a_model_searches_several_times_and_then_answers(
    http: httpx.Client, model: SpokenModel
) -> None:
    library = new_library(http)
    library.processed("lease.txt", b"The rent is 950 euros a month.")
    library.processed("rules.txt", b"Dogs are allowed in the garden.")
    tools = [{"type": "document_library", "library_ids": [library.id]}]

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        found = [one["content"] for one in body["messages"] if one["role"] == "tool"]
        if not found:
            return call("document_library", query="rent", document="lease")
        if len(found) == 1:
            return call("document_library", query="dogs in the garden")
        assert "[ref1] lease.txt, page 1\n" in found[0] and "rules" not in found[0]
        assert "[ref2] rules.txt, page 1\n" in found[1]
        return {"content": "950 euros [ref1], and dogs may come [ref2]."}

    model.answer = answer
    outputs = say(http, "Rent, and dogs?", tools=tools)["outputs"]
    assert [entry["type"] for entry in outputs] == [*["tool.execution"] * 2, "message.output"]
    assert [json.loads(entry["arguments"])["query"] for entry in outputs[:2]] == [
        "rent",
        "dogs in the garden",
    ]
    cited = [chunk["title"] for chunk in outputs[2]["content"] if "title" in chunk]
    assert cited == ["lease.txt, page 1", "rules.txt, page 1"]


def test_searches_are_bounded(http: httpx.Client, model: SpokenModel) -> None:
    tools = [{"type": "document_library", "library_ids": [new_library(http).id]}]
    model.answer = lambda body: call("document_library", query="again")
    *searches, message = say(http, "What?", tools=tools)["outputs"]
    assert [entry["name"] for entry in searches] == ["document_library"] * LibrarySearch.rounds
    assert message["content"] == ""
    assert model.asked[-1]["tool_choice"] == "none"


def test_agents_hand_over(http: httpx.Client, model: SpokenModel) -> None:
    expert = new_agent(http, name="Tax expert", instructions="You know taxes.")
    desk = new_agent(http, name="Front desk", instructions="You ask others.", handoffs=[expert])

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        if "others" in body["messages"][0]["content"]:
            [tool] = body["tools"]
            return call(tool["function"]["name"])
        return {"content": "19 per cent."}

    model.answer = answer
    handoff, message = say(http, "How high is VAT?", agent_id=desk)["outputs"]
    assert handoff["type"] == "agent.handoff"
    assert (handoff["previous_agent_id"], handoff["next_agent_id"]) == (desk, expert)
    assert handoff["next_agent_name"] == "Tax expert"
    assert (message["content"], message["agent_id"]) == ("19 per cent.", expert)
    assert shown(model) == [("system", "You know taxes."), ("user", "How high is VAT?")]

    types = [event["type"] for event in streamed(http, "How high is VAT?", agent_id=desk)]
    assert types[1:-1] == ["agent.handoff.started", "agent.handoff.done", "message.output.delta"]

    by_client = say(http, "How high is VAT?", agent_id=desk, handoff_execution="client")
    assert [entry["type"] for entry in by_client["outputs"]] == ["agent.handoff"]
    # The next request goes to the agent that it was handed to.
    next = say(http, [], f"{PATH}/{by_client['conversation_id']}")
    assert next["outputs"][0]["agent_id"] == expert


def test_agents_that_hand_the_question_around_are_stopped(
    http: httpx.Client, model: SpokenModel
) -> None:
    first = new_agent(http, name="First")
    second = new_agent(http, name="Second", handoffs=[first])
    http.patch(f"/v1/agents/{first}", json={"handoffs": [second]})
    model.answer = lambda body: call(body["tools"][0]["function"]["name"])
    body = {"agent_id": first, "inputs": "Who?"}
    answer = http.post(PATH, json=body)
    assert answer.status_code == 400
    assert "handed the question on" in answer.json()["message"]
    *_, last = streamed(http, "Who?", agent_id=first)
    assert (last["type"], last["code"]) == ("conversation.response.error", 400)


def test_an_agent_s_version_is_kept(http: httpx.Client, model: SpokenModel) -> None:
    agent = new_agent(http, instructions="Old.")
    http.patch(f"/v1/agents/{agent}", json={"instructions": "New."})
    id = say(http, "Hi", agent_id=agent, agent_version=0)["conversation_id"]
    assert shown(model)[0] == ("system", "Old.")
    assert http.get(f"{PATH}/{id}").json()["agent_version"] == 0
    say(http, "Hi", f"{PATH}/{id}", completion_args={"temperature": 0.5})
    assert (shown(model)[0], model.asked[-1]["temperature"]) == (("system", "Old."), 0.5)


def test_what_is_not_stored_is_nowhere(http: httpx.Client, model: SpokenModel) -> None:
    unkept = say(http, "Psst", store=False)["conversation_id"]
    assert http.get(f"{PATH}/{unkept}").status_code == 404
    id = say(http, "One")["conversation_id"]
    assert say(http, "Two", f"{PATH}/{id}", store=False)["outputs"][0]["content"] == "Two"
    assert len(history(http, id)) == 2


def test_a_failed_answer_leaves_the_conversation_as_it_was(
    http: httpx.Client, model: SpokenModel
) -> None:
    id = say(http, "One")["conversation_id"]
    failed = http.post(f"{PATH}/{id}", json={"inputs": [{"role": "assistant", "content": "x"}]})
    assert failed.status_code == 400
    assert len(history(http, id)) == 2


def test_lists_and_deletes(http: httpx.Client, model: SpokenModel) -> None:
    ids = [say(http, "x", metadata={"n": n})["conversation_id"] for n in range(3)]
    listed = http.get(PATH, params={"page_size": 2}).json()
    assert [one["id"] for one in listed] == [ids[2], ids[1]]
    one = http.get(PATH, params={"metadata": '{"n": 1}'}).json()
    assert [one["id"] for one in one] == [ids[1]]
    assert http.delete(f"{PATH}/{ids[0]}").status_code == 204
    for path in ("", "/history", "/messages"):
        assert http.get(f"{PATH}/{ids[0]}{path}").status_code == 404


def test_a_conversation_is_its_owner_s_alone(
    talking: tuple[RunningServer, SpokenModel], http: httpx.Client, model: SpokenModel
) -> None:
    id = say(http, "Psst")["conversation_id"]
    _, key = storage.key_chain(talking[0].data).add("colleague", organisation=OWN, user="colleague")
    headers = {"authorization": f"Bearer {key}"}
    with httpx.Client(base_url=talking[0].url, headers=headers) as colleague:
        assert colleague.get(f"{PATH}/{id}").status_code == 404
        assert colleague.post(f"{PATH}/{id}", json={"inputs": "x"}).status_code == 404
        assert colleague.delete(f"{PATH}/{id}").status_code == 404
        assert colleague.get(PATH).json() == []


def write(http: httpx.Client, id: str, *said: str, **fields: Any) -> httpx.Response:
    entries = [{"type": "message.input", "content": text} for text in said]
    return http.put(f"{PATH}/{id}", json={"agent_id": "a", "entries": entries, **fields})


def test_a_client_writes_a_conversation_as_it_has_it(
    http: httpx.Client, model: SpokenModel
) -> None:
    id = uuid4().hex
    made = write(http, id, "One", "Two", name="Talk", metadata={"n": 1}).json()
    changed = write(http, id, "Three", keep=1, updated_at=made["updated_at"]).json()
    assert (changed["name"], changed["metadata"]) == ("Talk", {"n": 1})
    assert changed["created_at"] == made["created_at"] < changed["updated_at"]
    assert http.get(f"{PATH}/{id}").json() == changed
    assert [entry["content"] for entry in history(http, id)] == ["One", "Three"]
    for refused in (write(http, id, "x"), write(http, id, "x", updated_at=made["updated_at"])):
        assert refused.status_code == 409
    assert write(http, uuid4().hex, "x", updated_at=made["updated_at"]).status_code == 404
    for odd in ("x" * 37, "%00", "%C3%A9"):
        assert write(http, odd, "x").status_code == 422
    result = {"type": "function.result", "tool_call_id": "none", "result": "x"}
    assert write(http, uuid4().hex, entries=[result]).status_code == 400
    assert len(history(http, id)) == 2


@pytest.mark.parametrize("organisation", [OWN, "others"])
def test_nobody_else_writes_a_conversation(
    talking: tuple[RunningServer, SpokenModel], http: httpx.Client, organisation: str
) -> None:
    id = uuid4().hex
    made = write(http, id, "Psst").json()
    _, key = storage.key_chain(talking[0].data).add(
        f"writer of {organisation}", organisation=organisation, user="writer"
    )
    headers = {"authorization": f"Bearer {key}"}
    with httpx.Client(base_url=talking[0].url, headers=headers) as other:
        for fields in ({}, {"updated_at": made["updated_at"]}):
            assert write(other, id, "Mine", **fields).status_code == 404
    assert [entry["content"] for entry in history(http, id)] == ["Psst"]


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({}, 422, "either an agent_id or a model"),
        ({"agent_id": "a", "model": "spoken"}, 422, "either an agent_id or a model"),
        ({"agent_id": "a", "instructions": "b"}, 422, "its own instructions"),
        ({"agent_id": "none"}, 404, "There is no agent"),
        (
            {"model": "spoken", "tools": [{"type": "web_search"}]},
            400,
            "This server does not search the web: it has no connector for it.",
        ),
        ({"model": "spoken", "inputs": [[None]]}, 422, "inputs"),
        ({"model": "spoken", "inputs": []}, 400, "Nothing was said yet"),
        ({"model": "spoken", "guardrails": [{}]}, 400, "does not support guardrails"),
    ],
)
def test_what_cannot_be_is_refused(
    http: httpx.Client, fields: Any, status: int, words: str
) -> None:
    answer = http.post(PATH, json={"inputs": "Hello", **fields})
    assert (answer.status_code, words in answer.text) == (status, True), answer.text
