"""A model at an address: what it says, and everything that can go wrong with it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from carrel.server.errors import ApiError
from carrel.server.models.address import ModelAddress
from carrel.server.models.engine import Engine
from support.model import converse, read_request, write_stream
from support.service import Answer, Request, Service, listen, reply, service

MODELS = reply({"data": [{"id": "big", "max_model_len": 32000}, {"id": "small"}]})
BODY = {"messages": [{"role": "user", "content": "Hello"}]}


def events(*chunks: Any, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks]
    text = "".join([*lines, "data: [DONE]\n\n"] if done else lines)
    return reply(text.encode(), content_type="text/event-stream")


def piece(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}


def with_models(chat: Answer, models: bytes = MODELS) -> Callable[[Request], Awaitable[None]]:
    async def answer(request: Request) -> None:
        if request.target == "/v1/models":
            await request.write(models)
        elif request.target == "/v1/chat/completions":
            await (request.write(chat) if isinstance(chat, bytes) else chat(request))
        else:
            await request.write(reply({"detail": "Not Found"}, 404))

    return answer


@asynccontextmanager
async def engine_at(
    answer: Answer, *, key: str | None = None, name: str | None = None
) -> AsyncIterator[tuple[Engine, Service]]:
    async with service(answer) as running:
        engine = Engine(addresses=[ModelAddress(f"{running.url}/v1", key, name)])
        try:
            yield engine, running
        finally:
            await engine.stop()


async def chunks_of(engine: Engine) -> list[dict[str, Any]]:
    async with engine.session() as session:
        return [chunk async for chunk in session.stream(BODY, 100)]


async def three_completions(url: str) -> None:
    """Has the scripted model say two words, three times."""
    engine = Engine(addresses=[ModelAddress(f"{url}/v1")])
    try:
        for _ in range(3):
            assert len(await chunks_of(engine)) == 4
    finally:
        await engine.stop()


async def refusal(answer: Answer) -> ApiError:
    async with engine_at(answer) as (engine, _):
        with pytest.raises(ApiError) as caught:
            await chunks_of(engine)
    return caught.value


async def test_passes_on_what_the_address_writes() -> None:
    # Line separators of Unicode are text here; only a line feed ends a line of the stream.
    sent = [piece("one\u2028two\x85"), piece("three")]
    async with engine_at(with_models(events(*sent))) as (engine, running):
        assert await chunks_of(engine) == sent
        assert engine.process.pid is None
    asked = json.loads(running.requests[-1].body)
    assert asked == {**BODY, "stream": True, "stream_options": {"include_usage": True}}


async def test_sends_the_key_it_was_given() -> None:
    async with engine_at(with_models(events(piece("x"))), key="geheim") as (engine, running):
        await chunks_of(engine)
        assert "geheim" not in repr(vars(engine))
    assert {each.headers["authorization"] for each in running.requests} == {"Bearer geheim"}


async def test_the_first_model_answers_to_vendor_names() -> None:
    async with engine_at(with_models(b"")) as (engine, _):
        assert [(card.id, card.max_context_length) for card in await engine.models()] == [
            ("big", 32000),
            ("small", None),
        ]
        assert (await engine.resolve("small")).id == "small"
        assert (await engine.resolve("mistral-small-latest")).id == "big"
        with pytest.raises(ApiError, match=r"Invalid model: other\. This server has: big, small\."):
            await engine.resolve("other")


async def test_the_chosen_model_is_the_first() -> None:
    async with engine_at(with_models(b""), name="small") as (engine, _):
        assert [card.id for card in await engine.models()] == ["small", "big"]
        assert (await engine.resolve("mistral-small-latest")).id == "small"
    async with engine_at(with_models(b""), name="gone") as (engine, _):
        assert [card.id for card in await engine.models()] == ["big", "small"]


async def test_a_model_that_was_added_is_found() -> None:
    grown = reply({"data": [{"id": "big"}, {"id": "new"}]})
    not_found = reply({}, 404)
    async with (
        service(MODELS, not_found, grown, not_found) as running,
    ):
        engine = Engine(addresses=[ModelAddress(f"{running.url}/v1")])
        assert (await engine.resolve("big")).id == "big"
        assert (await engine.resolve("new")).id == "new"
        await engine.stop()


async def test_tokens_are_estimated_where_nobody_counts_them() -> None:
    async with engine_at(with_models(b"")) as (engine, _):
        assert await engine.count_tokens("twelve bytes") == 3


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        (reply({"error": {"message": "too long by far"}}, 400), 400, "too long by far"),
        (reply({"error": {"message": "who are you"}}, 401), 503, "model_key"),
        (reply({"detail": "Not Found"}, 404), 503, "--model-url"),
        (reply({"error": {"message": "later"}}, 429), 429, "later"),
        (reply({"error": {"message": "no memory"}}, 500), 503, "no memory"),
        (reply(b"<html>", 502), 503, "did not say why"),
        (reply({"not": "a stream"}), 503, "does not answer"),
        (events("not a chunk"), 503, "does not answer"),
        (events({"error": {"message": "lost the GPU"}}), 503, "lost the GPU"),
    ],
)
async def test_what_goes_wrong_is_said_in_words(answer: bytes, status: int, words: str) -> None:
    error = await refusal(with_models(answer))
    assert error.status == status
    assert words in error.message


async def test_breaking_off_is_an_error() -> None:
    head, _, body = events(piece("half"), done=False).partition(b"\r\n\r\n")
    longer = head.replace(str(len(body)).encode(), b"9999")
    error = await refusal(with_models(longer + b"\r\n\r\n" + body))
    assert (error.status, "broke off" in error.message) == (503, True)


async def test_nobody_there_is_an_error_without_the_address() -> None:
    async with service(b"") as running:
        url = running.url
    engine = Engine(addresses=[ModelAddress(f"{url}/v1")])
    with pytest.raises(ApiError, match="does not answer") as caught:
        await chunks_of(engine)
    assert url not in caught.value.message
    await engine.stop()


async def test_the_next_completion_uses_the_same_connection() -> None:
    connections = 0

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await converse(reader, writer, words=2)

    async with listen(connected) as url:
        await three_completions(url)
    assert connections == 1


async def test_a_kept_connection_that_turns_out_closed_is_made_anew() -> None:
    streams, asked = 0, 0

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal streams, asked
        served = 0
        while True:
            target, _ = await read_request(reader)
            asked += target == "/v1/chat/completions"
            if served:
                return  # The next request is read, and the connection closed without a word.
            if target != "/v1/chat/completions":
                writer.write(MODELS if target == "/v1/models" else reply({}, 404))
                continue
            await write_stream(writer, words=2)
            streams += 1
            served += 1

    async with listen(connected) as url:
        await three_completions(url)
    assert (streams, asked) == (3, 4)
