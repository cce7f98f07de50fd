"""Completions as a stream: every form that services send, and every way it can end."""

import asyncio
import json
from typing import Any

import pytest

from carrel.client import Client, ClientError, ServiceError, UnexpectedAnswer, Unreachable
from carrel.wire.generation.completions import CompletionRequest, Progress, UserMessage
from support.service import Request, reply, service

HEAD = b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
REQUEST = CompletionRequest(agent_id="ag_1", messages=[UserMessage(content="hi")])
DONE = b"data: [DONE]\n\n"


def event(text: str, finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    chunk = {"id": "c1", "model": "m", "choices": [choice], **more}
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()


async def streamed(*parts: bytes) -> str:
    """The text that comes of a stream whose bytes arrive in these parts."""

    async def answer(request: Request) -> None:
        await request.write(HEAD, *parts)

    text = ""
    async with (
        service(answer) as odd,
        Client(odd.url, "k") as client,
        client.completions.stream(REQUEST) as chunks,
    ):
        async for chunk in chunks:
            text += "".join(str(choice.delta.content or "") for choice in chunk.choices)
    return text


@pytest.mark.parametrize(
    "parts",
    [
        [event("a") + event("b", "stop") + DONE],
        [b": comment\r\n\r\n", event("a").replace(b"\n", b"\r\n"), event("b", "stop"), DONE],
        [b"event: message\nid: 1\nretry: 5\n" + event("a"), event("b", "stop") + DONE],
        [event("a"), event("b", "stop")],
        [event("a"), event("b"), DONE],
        [event("a"), event("b", "stop"), b'data: {"id":"c1","model":"m","choices":[]}\n\n' + DONE],
        [event("a"), event("b", "stop"), DONE, b"data: nonsense after the end\n\n"],
    ],
)
async def test_every_form_of_a_stream_is_read(parts: list[bytes]) -> None:
    assert await streamed(*parts) == "ab"


async def test_steps_are_told_to_a_caller_that_asks_for_them() -> None:
    step = b'event: progress\ndata: {"stage": "queued", "place": 2}\n\n'
    sent: list[dict[str, str]] = []

    async def answer(request: Request) -> None:
        sent.append(request.headers)
        await request.write(HEAD, step, event("a", "stop"), DONE)

    told: list[Progress] = []
    async with service(answer) as odd, Client(odd.url, "k") as client:
        for hears in (told.append, None):
            async with client.completions.stream(REQUEST, hears) as chunks:
                assert len([chunk async for chunk in chunks]) == 1
    assert told == [Progress(stage="queued", place=2)]
    assert [headers.get("prefer") for headers in sent] == ["progress", None]


async def test_characters_may_be_cut_anywhere() -> None:
    whole = event("é東🙂", "stop") + DONE
    assert await streamed(*(whole[at : at + 1] for at in range(len(whole)))) == "é東🙂"


async def test_what_streams_is_cleaned() -> None:
    assert await streamed(event("a\x1b]0;x\x07"), event("\x9bb", "stop"), DONE) == "a]0;xb"


async def test_usage_and_sources_come_with_the_last_chunk() -> None:
    source = {
        "index": 1,
        "library_id": "l",
        "document_id": "d",
        "document_name": "n",
        "snippet": "s",
    }
    last = {
        "id": "c1", "model": "m", "usage": {"prompt_tokens": 3, "completion_tokens": None},
        "choices": [{"index": 0, "delta": {"sources": [source]}, "finish_reason": "stop"}],
    }  # fmt: skip

    async def answer(request: Request) -> None:
        await request.write(HEAD, f"data: {json.dumps(last)}\n\n".encode(), DONE)

    async with (
        service(answer) as odd,
        Client(odd.url, "k") as client,
        client.completions.stream(REQUEST) as chunks,
    ):
        (chunk,) = [chunk async for chunk in chunks]
    assert chunk.usage and (chunk.usage.prompt_tokens, chunk.usage.completion_tokens) == (3, 0)
    assert chunk.choices[0].delta.sources
    sent = json.loads(odd.requests[0].body)
    assert (sent["stream"], odd.requests[0].headers["accept"]) == (True, "text/event-stream")


@pytest.mark.parametrize(
    ("parts", "kind", "says"),
    [
        ([event("a")], Unreachable, "broke off"),
        ([], Unreachable, "broke off"),
        (
            [rb'data: {"error": {"message": "Out of mem\u001b."}}' + b"\n\n"],
            ServiceError,
            "Out of mem.",
        ),
        ([event("a"), b'data: {"error": true}\n\n'], ServiceError, "The service failed."),
        (
            [event("a"), b'event: error\ndata: {"object": "error", "message": "Too late."}\n\n'],
            ServiceError,
            "Too late.",
        ),
        ([event("a"), event("", "error"), DONE], ServiceError, "failed while it answered"),
        ([b"data: {\n\n"], UnexpectedAnswer, "is not JSON"),
        ([b"data: []\n\n"], UnexpectedAnswer, "not what the interface says"),
        ([b"data: " + b"[" * 100_000 + b"\n\n"], UnexpectedAnswer, "is not JSON"),
    ],
)
async def test_a_stream_that_ends_badly_says_so(
    parts: list[bytes], kind: type[ClientError], says: str
) -> None:
    with pytest.raises(kind, match=says):
        await streamed(*parts)


async def test_an_answer_that_is_not_json_tells_why() -> None:
    with pytest.raises(UnexpectedAnswer) as raised:
        await streamed(b"data: {\n\n")
    assert "line 1 column 2" in str(raised.value.__cause__)


async def test_a_connection_cut_in_a_chunked_stream_is_lost() -> None:
    async def answer(request: Request) -> None:
        head = HEAD.replace(b"connection: close", b"transfer-encoding: chunked")
        await request.write(head, b"%x\r\n%b\r\n" % (len(event("a")), event("a")))

    async with service(answer) as odd, Client(odd.url, "k") as client:
        with pytest.raises(Unreachable):
            async with client.completions.stream(REQUEST) as chunks:
                async for _ in chunks:
                    pass


async def test_an_answer_that_is_no_stream_is_said_to_be_so() -> None:
    async with service(reply({"id": "c1"})) as odd, Client(odd.url, "k") as client:
        with pytest.raises(UnexpectedAnswer, match="did not answer with a stream"):
            async with client.completions.stream(REQUEST) as chunks:
                await anext(aiter(chunks))


async def test_a_refusal_comes_before_the_stream() -> None:
    async with service(reply({"message": "No model."}, 503)) as odd, Client(odd.url, "k") as client:
        with pytest.raises(ServiceError, match="No model"):
            async with client.completions.stream(REQUEST):
                pass


async def test_leaving_a_stream_closes_the_connection_at_once() -> None:
    closed = asyncio.Event()

    async def endless(request: Request) -> None:
        await request.write(HEAD, event("a"))
        await request.closed()
        closed.set()

    async with service(endless) as odd, Client(odd.url, "k") as client:
        async with client.completions.stream(REQUEST) as chunks:
            await anext(aiter(chunks))
        await asyncio.wait_for(closed.wait(), 1)


async def test_cancelling_a_stream_closes_the_connection_at_once() -> None:
    first, closed = asyncio.Event(), asyncio.Event()

    async def endless(request: Request) -> None:
        await request.write(HEAD, event("a"))
        await request.closed()
        closed.set()

    async with service(endless) as odd, Client(odd.url, "k") as client:

        async def consume() -> None:
            async with client.completions.stream(REQUEST) as chunks:
                async for _ in chunks:
                    first.set()

        consuming = asyncio.create_task(consume())
        await asyncio.wait_for(first.wait(), 5)
        consuming.cancel()
        await asyncio.wait_for(closed.wait(), 1)
        with pytest.raises(asyncio.CancelledError):
            await consuming


async def test_the_whole_answer_is_asked_for_without_a_stream() -> None:
    completion = {
        "id": "c1", "model": "m", "created": 0, "usage": {},
        "choices": [{"index": 0, "message": {"content": "hello"}, "finish_reason": "stop"}],
    }  # fmt: skip
    async with service(reply(completion)) as odd, Client(odd.url, "k") as client:
        answer = await client.completions.complete(REQUEST)
    assert answer.choices[0].message.content == "hello"
    assert json.loads(odd.requests[0].body)["stream"] is False
