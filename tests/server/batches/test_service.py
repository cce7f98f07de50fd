"""Batch jobs over the wire: made, worked off, cancelled, and private to their organisation."""

import base64
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from carrel.server.records.accounts.keys import OWN
from support import storage
from support.batches import create, ended, lines_of, question, show, upload
from support.libraries import connect
from support.process import RunningServer, serve
from support.spoken import SpokenModel, echo, spoken_model

CHAT = "/v1/chat/completions"


@pytest.fixture
def http(talking: tuple[RunningServer, SpokenModel]) -> Iterator[httpx.Client]:
    with connect(talking[0]) as client:
        yield client


def _said(line: dict[str, Any]) -> str:
    return str(line["response"]["body"]["choices"][0]["message"]["content"])


def test_a_file_of_requests_becomes_a_file_of_answers(
    http: httpx.Client, model: SpokenModel
) -> None:
    lines = [{"custom_id": f"q{n}", "body": question(f"Question {n}")} for n in range(5)]
    file = upload(http, [*lines, {"body": {"messages": "none"}}])
    job = create(http, CHAT, input_files=[file], model="spoken", metadata={"for": "tests"})
    assert job["object"] == "batch"
    assert (job["input_files"], job["total_requests"]) == ([file], 6)
    assert job["metadata"] == {"for": "tests"}

    done = ended(http, job["id"])
    assert done["status"] == "SUCCESS"
    counts = ("completed_requests", "succeeded_requests", "failed_requests")
    assert [done[name] for name in counts] == [6, 5, 1]
    assert done["created_at"] <= done["started_at"] <= done["completed_at"]

    answers = lines_of(http, done["output_file"])
    assert [line["custom_id"] for line in answers] == [f"q{n}" for n in range(5)]
    assert [_said(line) for line in answers] == [f"Question {n}" for n in range(5)]
    assert {(line["response"]["status_code"], line["error"]) for line in answers} == {(200, None)}
    [failure] = lines_of(http, done["error_file"])
    # A request without an id has its number.
    assert (failure["custom_id"], failure["response"]["status_code"]) == ("5", 422)
    assert failure["response"]["body"]["detail"]
    assert done["errors"] == [{"message": failure["error"]["message"], "count": 1}]
    assert failure["error"]["message"].startswith("messages: ")

    made = http.get(f"/v1/files/{done['output_file']}").json()
    assert (made["purpose"], made["sample_type"], made["num_lines"]) == ("batch", "batch_result", 5)
    signed = http.get(f"/v1/files/{done['output_file']}/url").json()["url"]
    assert len(httpx.get(signed).text.splitlines()) == 5


def test_inline_requests_and_answers(http: httpx.Client, model: SpokenModel) -> None:
    requests = [{"custom_id": "a", "body": question("Alpha", stream=True)}, {"body": {"n": 0}}]
    job = create(http, CHAT, requests=requests)
    done = ended(http, job["id"])
    assert (done["outputs"], done["input_files"]) == (None, [])
    first, second = show(http, job["id"], inline=True)["outputs"]
    assert (first["custom_id"], _said(first)) == ("a", "Alpha")
    assert second["error"]["message"]


def test_pages_are_read_and_vectors_made(http: httpx.Client) -> None:
    url = f"data:text/plain;base64,{base64.b64encode(b'of lanterns').decode()}"
    document = {"type": "document_url", "document_url": url}
    reading = create(
        http, "/v1/ocr", requests=[{"body": {"document": document}}], model="carrel-ocr"
    )
    vectors = create(
        http, "/v1/embeddings", requests=[{"body": {"model": "mistral-embed", "input": ["owl"]}}]
    )
    [page] = lines_of(http, ended(http, reading["id"])["output_file"])
    assert "of lanterns" in page["response"]["body"]["pages"][0]["markdown"]
    [vector] = lines_of(http, ended(http, vectors["id"])["output_file"])
    assert vector["response"]["body"]["data"][0]["embedding"]


def test_an_agent_answers(http: httpx.Client, model: SpokenModel) -> None:
    settings = {"model": "spoken", "name": "clerk", "instructions": "Be brief."}
    agent = http.post("/v1/agents", json=settings).json()["id"]
    asked = question("Who are you?")
    named = create(http, CHAT, requests=[{"body": asked}], agent_id=agent)
    body = {"agent_id": agent, "messages": asked["messages"]}
    itself = create(http, "/v1/agents/completions", requests=[{"body": body}])
    for job in (named, itself):
        [line] = lines_of(http, ended(http, job["id"])["output_file"])
        assert line["response"]["body"]["agent_version"] == 0
    assert {body["messages"][0]["content"] for body in model.asked} == {"Be brief."}
    wrong = http.post(
        "/v1/batch/jobs", json={"endpoint": CHAT, "requests": [{"body": {}}], "agent_id": "none"}
    )
    assert wrong.status_code == 404


def test_a_batch_of_failures_has_failed(http: httpx.Client) -> None:
    job = create(http, "/v1/ocr", requests=[{"body": {}}, {"body": {}}])
    done = ended(http, job["id"])
    assert (done["status"], done["output_file"]) == ("FAILED", None)
    assert [error["count"] for error in done["errors"]] == [2]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"endpoint": "/v1/fim/completions", "requests": [{"body": {}}]}, "has no batches for"),
        ({"endpoint": "/v1/ocr", "requests": [{"body": {}}], "agent_id": "a"}, "No agent answers"),
        (
            {"endpoint": CHAT, "requests": [{"custom_id": "a", "body": {}}] * 2},
            "The custom_id 'a' occurs twice.",
        ),
    ],
)
def test_what_cannot_be_is_refused(http: httpx.Client, fields: Any, words: str) -> None:
    answer = http.post("/v1/batch/jobs", json=fields)
    assert answer.status_code == 400
    assert words in answer.json()["message"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "Line 2 of in.jsonl is not JSON."),
        (b'{"custom_id": "a"}', "Line 2 of in.jsonl has no body"),
        (b'{"custom_id": 1, "body": {}}', "Line 2 of in.jsonl has a custom_id that is not"),
        (b'{"custom_id": "\\ud800", "body": {}}', "Line 2 of in.jsonl has a custom_id that is not"),
    ],
)
def test_a_bad_line_is_named(http: httpx.Client, line: bytes, words: str) -> None:
    data = b'{"body": {}}\n' + line
    file = http.post("/v1/files", files={"file": ("in.jsonl", data)}, data={"purpose": "batch"})
    answer = http.post(
        "/v1/batch/jobs", json={"endpoint": CHAT, "input_files": [file.json()["id"]]}
    )
    assert answer.status_code == 400
    assert words in answer.json()["message"]


def test_no_requests_or_two_sources_are_refused(http: httpx.Client) -> None:
    file = http.post("/v1/files", files={"file": ("in.jsonl", b"\n")}, data={"purpose": "batch"})
    id = file.json()["id"]
    empty = http.post("/v1/batch/jobs", json={"endpoint": CHAT, "input_files": [id]})
    assert "has no requests" in empty.json()["message"]
    for sources in ({}, {"input_files": [id], "requests": [{"body": {}}]}):
        assert http.post("/v1/batch/jobs", json={"endpoint": CHAT, **sources}).status_code == 422


def test_a_running_batch_is_cancelled_with_what_it_has(
    http: httpx.Client, model: SpokenModel
) -> None:
    go_on = threading.Event()

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        if "held" in body["messages"][-1]["content"]:
            go_on.wait(60)
        return echo(body)

    model.answer = answer
    try:
        texts = ["first", *(f"held {n}" for n in range(10))]
        job = create(http, CHAT, requests=[{"body": question(text)} for text in texts])
        # Two are asked at once: the third question says that the first is answered.
        model.wait_for_questions(3)
        assert show(http, job["id"])["status"] == "RUNNING"
        refused = http.delete(f"/v1/batch/jobs/{job['id']}")
        assert refused.status_code == 409
        # Interactive work goes on beside it.
        assert http.post(CHAT, json=question("And me?")).status_code == 200
        assert http.post(f"/v1/batch/jobs/{job['id']}/cancel").status_code == 200
        done = ended(http, job["id"])
    finally:
        go_on.set()
    assert (done["status"], done["completed_requests"]) == ("CANCELLED", 1)
    [line] = lines_of(http, done["output_file"])
    assert _said(line) == "first"
    again = http.post(f"/v1/batch/jobs/{job['id']}/cancel").json()
    assert again["status"] == "CANCELLED"
    assert http.delete(f"/v1/batch/jobs/{job['id']}").json()["deleted"] is True
    assert http.get(f"/v1/batch/jobs/{job['id']}").status_code == 404
    assert lines_of(http, done["output_file"])


def test_lists(http: httpx.Client, model: SpokenModel) -> None:
    jobs = [
        create(http, CHAT, requests=[{"body": question("x")}], metadata={"list": str(number)})["id"]
        for number in range(3)
    ]
    for job in jobs:
        ended(http, job)
    listed = http.get("/v1/batch/jobs", params={"page_size": 2}).json()
    assert [job["id"] for job in listed["data"]] == [jobs[2], jobs[1]]
    assert listed["total"] >= 3
    oldest = http.get("/v1/batch/jobs", params={"order_by": "created"}).json()["data"]
    assert [job["id"] for job in oldest][-3:] == jobs
    one = http.get("/v1/batch/jobs", params={"metadata": '{"list": "1"}'}).json()
    assert ([job["id"] for job in one["data"]], one["total"]) == ([jobs[1]], 1)
    none = http.get("/v1/batch/jobs", params={"status": ["QUEUED", "RUNNING"]}).json()
    assert none["data"] == []


def test_what_a_private_file_asks_stays_private(
    talking: tuple[RunningServer, SpokenModel], http: httpx.Client, model: SpokenModel
) -> None:
    lines = b'{"body": {"model": "spoken", "messages": [{"role": "user", "content": "psst"}]}}'
    part = {"purpose": "batch", "visibility": "user"}
    file = http.post("/v1/files", files={"file": ("in.jsonl", lines)}, data=part).json()["id"]
    done = ended(http, create(http, CHAT, input_files=[file])["id"])
    chain = storage.key_chain(talking[0].data)
    _, key = chain.add("colleague", organisation=OWN, user="colleague")
    with httpx.Client(
        base_url=talking[0].url, headers={"authorization": f"Bearer {key}"}
    ) as colleague:
        assert colleague.get(f"/v1/files/{done['output_file']}").status_code == 404
        seen = show(colleague, done["id"], inline=True)
    assert (seen["status"], seen["outputs"]) == ("SUCCESS", [])


@pytest.mark.timeout(120)
def test_a_stopped_server_goes_on_where_it_was(tmp_path: Path) -> None:
    held = threading.Event()

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        if body["messages"][-1]["content"] == "hold":
            held.wait(60)
        return echo(body)

    texts = ["one", "two", "hold", "hold", "three"]
    with spoken_model() as model:
        model.answer = answer
        with serve(tmp_path / "data", "--model-url", model.url) as server, connect(server) as http:
            job = create(http, CHAT, requests=[{"body": question(text)} for text in texts])["id"]
            model.wait_for_questions(4)
        held.set()
        with serve(tmp_path / "data", "--model-url", model.url) as server, connect(server) as http:
            done = ended(http, job)
            answers = [_said(line) for line in lines_of(http, done["output_file"])]
    assert answers == texts
    assert [model.questions.count(text) for text in ("one", "two")] == [1, 1]
