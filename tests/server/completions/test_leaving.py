"""A model at an address that hangs, breaks off, or is left alone: the server's side of it."""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from support.process import RunningServer, serve
from support.service import Request, reply, service
from support.sockets import connected

pytestmark = pytest.mark.asyncio(loop_scope="module")


def event(text: str) -> bytes:
    chunk = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


class Model:
    """A model that does what the question says, and knows who is still connected to it."""

    def __init__(self) -> None:
        self.connected = 0
        self.came = asyncio.Event()
        self.left = asyncio.Event()

    async def __call__(self, request: Request) -> None:
        if request.target == "/v1/models":
            await request.write(reply({"data": [{"id": "fake"}]}))
        elif request.target == "/v1/chat/completions":
            self.connected += 1
            self.left.clear()
            self.came.set()
            try:
                await self._chat(request, json.loads(request.body)["messages"][-1]["content"])
            finally:
                self.connected -= 1
                self.came.clear()
                self.left.set()
        else:
            await request.write(reply({"detail": "Not Found"}, 404))

    async def _chat(self, request: Request, question: str) -> None:
        if question == "never answer":
            await request.closed()
        elif question == "begin and hang":
            await request.write(HEAD, event("Once"))
            await request.closed()
        elif question == "begin and break":
            await request.write(HEAD, event("Once"), event(" upon"), b"data: {nonsense\n\n")
        elif question == "begin and end":
            await request.write(HEAD, event("Once"))
        elif question == "call and run out of room":
            whole, half = _call(0, "add", '{"a": 1}'), _call(1, "add", '{"a": ')
            await request.write(HEAD, whole, half, _cut(), b"data: [DONE]\n\n")
        elif question == "run out of room":
            await request.write(HEAD, event("Once"), _cut())
        elif question == "never end":
            await request.write(HEAD)
            await self._flood(request)
        else:
            await request.write(HEAD, event("One "), event("two"), b"data: [DONE]\n\n")

    async def _flood(self, request: Request) -> None:
        while True:
            await request.write(event("word " * 2000))
            await asyncio.sleep(0)


def _cut() -> bytes:
    choice = {"index": 0, "delta": {}, "finish_reason": "length"}
    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    return f"data: {json.dumps({'choices': [choice], 'usage': usage})}\n\n".encode()


def _call(index: int, name: str, arguments: str) -> bytes:
    called = {"index": index, "function": {"name": name, "arguments": arguments}}
    choice = {"index": 0, "delta": {"tool_calls": [called]}, "finish_reason": None}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


class Bench:
    """A server whose model is such a one, and an agent on it."""

    def __init__(
        self, server: RunningServer, http: httpx.AsyncClient, model: Model, agent_id: str
    ) -> None:
        self.server = server
        self.http = http
        self.model = model
        self._agent_id = agent_id

    def body(self, question: str, **options: Any) -> dict[str, Any]:
        messages = [{"role": "user", "content": question}]
        return {"agent_id": self._agent_id, "messages": messages, **options}

    async def ask(self, question: str, prefer: str = "", **options: Any) -> httpx.Response:
        headers = {"Prefer": prefer} if prefer else {}
        body = self.body(question, **options)
        return await self.http.post("/v1/agents/completions", json=body, headers=headers)


def _data_folder(parent: Path) -> Path:
    data = parent / "data"
    data.mkdir()
    (data / "settings.toml").write_text("[limits]\ncompletion_seconds = 3\n")
    return data


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bench(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bench]:
    data = _data_folder(tmp_path_factory.mktemp("bench"))
    model = Model()
    async with service(model) as upstream:
        starting = serve(data, "--model-url", f"{upstream.url}/v1")
        server = await asyncio.to_thread(starting.__enter__)
        headers = {"Authorization": f"Bearer {server.api_key}"}
        async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=20) as http:
            agent = await http.post("/v1/agents", json={"model": "fake", "name": "Reader"})
            yield Bench(server, http, model, agent.json()["id"])
        await asyncio.to_thread(starting.__exit__, None, None, None)


async def test_an_address_that_counts_no_tokens_is_counted_for(bench: Bench) -> None:
    answer = (await bench.ask("count")).json()
    assert answer["choices"][0]["message"]["content"] == "One two"
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"]["completion_tokens"] == 2


@pytest.mark.parametrize("question", ["never answer", "begin and hang"])
@pytest.mark.parametrize(
    ("stream", "prefer"),
    [(True, "progress"), (True, ""), (False, "")],
    ids=["with progress", "streamed", "whole"],
)
async def test_a_caller_who_leaves_frees_the_model(
    bench: Bench, question: str, stream: bool, prefer: str
) -> None:
    asking = asyncio.create_task(bench.ask(question, prefer, stream=stream))
    await asyncio.wait_for(bench.model.came.wait(), 5)
    await asyncio.sleep(0.1)  # the first step is on its way
    asking.cancel()
    await asyncio.wait_for(bench.model.left.wait(), 5)
    assert bench.model.connected == 0
    assert (await bench.http.get("/v1/files")).status_code == 200
    assert " ERROR " not in bench.server.log


async def test_an_answer_has_a_deadline(bench: Bench) -> None:
    for stream in (False, True):
        response = await bench.ask("never answer", stream=stream)
        assert response.status_code == 504
        assert "longer than 3 seconds" in response.json()["message"]
    assert bench.model.connected == 0


@pytest.mark.parametrize("question", ["begin and hang", "begin and break", "begin and end"])
async def test_what_goes_wrong_later_ends_the_stream_with_an_error(
    bench: Bench, question: str
) -> None:
    response = await bench.ask(question, stream=True)
    assert response.status_code == 200
    *events, done, _ = response.text.split("\n\n")
    assert done == "data: [DONE]"
    chunks = [json.loads(each.removeprefix("data: ")) for each in events]
    assert chunks[1]["choices"][0]["delta"]["content"] == "Once"
    assert chunks[-1]["choices"][0]["finish_reason"] == "error"
    assert "usage" in chunks[-1]


async def test_a_caller_that_hears_of_progress_is_told_why(bench: Bench) -> None:
    for question, why in (("never answer", "longer than 3"), ("begin and break", "broke off")):
        response = await bench.ask(question, "progress", stream=True)
        assert response.status_code == 200
        assert "[DONE]" not in response.text
        name, data = response.text.split("\n\n")[-2].split("\n")
        error = json.loads(data.removeprefix("data: "))
        assert (name, error["object"]) == ("event: error", "error")
        assert why in error["message"] and error["raw_status_code"] in (503, 504)


@pytest.mark.parametrize("question", ["begin and break", "begin and end"])
async def test_a_whole_answer_that_breaks_off_is_an_error(bench: Bench, question: str) -> None:
    response = await bench.ask(question)
    assert response.status_code == 503
    assert "broke off" in response.json()["message"]


async def test_of_two_calls_the_one_that_was_cut_off_is_left_out(bench: Bench) -> None:
    answer = (await bench.ask("call and run out of room", max_tokens=1)).json()
    [choice] = answer["choices"]
    assert choice["finish_reason"] == "length"
    [call] = choice["message"]["tool_calls"]
    assert call["function"] == {"name": "add", "arguments": '{"a": 1}'}


@pytest.mark.parametrize(
    ("asked", "whole"), [({}, "model_length"), ({"max_tokens": 5}, "model_length"),
                         ({"max_tokens": 1}, "length")],
)  # fmt: skip
async def test_whose_limit_cut_an_answer_is_told(
    bench: Bench, asked: dict[str, Any], whole: str
) -> None:
    answer = (await bench.ask("run out of room", **asked)).json()
    assert answer["choices"][0]["finish_reason"] == whole
    # The interface's streams know one word for both.
    streamed = await bench.ask("run out of room", stream=True, **asked)
    assert '"finish_reason":"length"' in streamed.text


async def test_models_are_those_of_the_address_and_the_embedding_model(bench: Bench) -> None:
    models = (await bench.http.get("/v1/models")).json()["data"]
    assert [model["id"] for model in models[:3]] == ["fake", "carrel-embed", "carrel-ocr"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much memory is in use")
async def test_who_does_not_read_blocks_nobody_else(bench: Bench) -> None:
    before, began = _memory(bench.server), time.monotonic()
    body = json.dumps(bench.body("never end", stream=True))
    async with connected(bench.server.port) as (_, writer):
        writer.write(
            "POST /v1/agents/completions HTTP/1.1\r\nhost: localhost\r\n"
            f"content-length: {len(body)}\r\ncontent-type: application/json\r\n"
            f"authorization: Bearer {bench.server.api_key}\r\n\r\n{body}".encode()
        )
        await asyncio.wait_for(bench.model.came.wait(), 5)
        while bench.model.connected:
            assert _memory(bench.server) - before < 64 * 2**20
            assert (await bench.http.get("/v1/files")).status_code == 200
            answer = await bench.ask("count", stream=True)
            assert answer.text.endswith("data: [DONE]\n\n")
            # With the deadline the model is free, though the caller is still there.
            assert time.monotonic() - began < 20


def _memory(server: RunningServer) -> int:
    """The bytes of memory that a server's process has in use."""
    pages = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
