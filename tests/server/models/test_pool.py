"""Several model addresses behind one door: choice, health, and what happens when one fails."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from typing import Any

import pytest

from carrel.server.errors import ApiError
from carrel.server.models import pool, weights
from carrel.server.models.address import ModelAddress
from carrel.server.models.engine import Engine
from carrel.server.models.process import EmbeddedProcess
from support.service import Request, Service, reply, service

STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
CHAT = {"messages": [{"role": "user", "content": "Hello"}]}


def event(text: str, reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": reason}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


class Address:
    """An address whose chats do what a test tells them; `name` is its answer."""

    def __init__(self, name: str, *models: str) -> None:
        self.name = name
        self.models = models or ("big",)
        self.healthy = True
        self.chat: Callable[[Request], Awaitable[None]] = self.answer
        self.running = Service()
        self.hold = asyncio.Event()
        self.hold.set()

    async def __call__(self, request: Request) -> None:
        if not self.healthy:
            await request.write(reply({"error": {"message": "ill"}}, 500))
        elif request.target == "/v1/models":
            await request.write(reply({"data": [{"id": name} for name in self.models]}))
        elif request.target == "/v1/chat/completions":
            await self.chat(request)
        else:
            await request.write(reply({}, 404))

    async def answer(self, request: Request) -> None:
        await request.write(STREAM + event(""))
        await self.hold.wait()
        await request.write(event(self.name), event("", "stop"), b"data: [DONE]\n\n")

    def breaks_off(self, *parts: bytes) -> None:
        async def chat(request: Request) -> None:
            await request.write(STREAM, *parts)

        self.chat = chat

    def refuses(self, status: int, **headers: str) -> None:
        async def chat(request: Request) -> None:
            await request.write(reply({"error": {"message": "no"}}, status, **headers))

        self.chat = chat

    @property
    def chats(self) -> int:
        return sum(each.target == "/v1/chat/completions" for each in self.running.requests)


@asynccontextmanager
async def pooled(*addresses: Address, patience: float = 60) -> AsyncIterator[Engine]:
    async with AsyncExitStack() as stack:
        for address in addresses:
            address.running = await stack.enter_async_context(service(address))
        engine = Engine(
            addresses=[
                ModelAddress(f"{each.running.url}/v1", f"key of {each.name}") for each in addresses
            ],
            first_token_seconds=patience,
        )
        stack.push_async_callback(engine.stop)
        yield engine


async def said(engine: Engine, model: str | None = None, **body: Any) -> str:
    text = ""
    async with (
        engine.session(model=model) as session,
        aclosing(session.stream({**CHAT, **body}, 400)) as chunks,
    ):
        async for chunk in chunks:
            text += chunk["choices"][0]["delta"].get("content") or ""
    return text


def chat(number: int) -> list[dict[str, Any]]:
    """The beginning of a chat; equally busy addresses are chosen by it."""
    return [{"role": "user", "content": f"Chat {number}"}]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while True:
            if condition():
                return
            await asyncio.sleep(0.01)


async def comes_from(engine: Engine, name: str) -> None:
    """Asks until an address answers."""
    async with asyncio.timeout(60):
        while True:
            with suppress(ApiError):
                if await said(engine) == name:
                    return
            await asyncio.sleep(0.02)


async def test_requests_go_to_the_least_busy_address() -> None:
    one, two = Address("one"), Address("two")
    async with pooled(one, two) as engine:
        for each in (one, two):
            each.hold.clear()
        asked = [asyncio.create_task(said(engine)) for _ in range(6)]
        await until(lambda: one.chats + two.chats == 6)
        assert (one.chats, two.chats) == (3, 3)
        for each in (one, two):
            each.hold.set()
        assert sorted(await asyncio.gather(*asked)) == ["one"] * 3 + ["two"] * 3


async def test_the_same_chat_goes_to_the_same_idle_address() -> None:
    one, two = Address("one"), Address("two")
    async with pooled(one, two) as engine:
        first = [await said(engine, messages=chat(number)) for number in range(20)]
        later = [{"role": "assistant", "content": "…"}, {"role": "user", "content": "And?"}]
        again = [await said(engine, messages=[*chat(number), *later]) for number in range(20)]
    assert set(first) == {"one", "two"}
    assert again == first


async def test_a_model_is_asked_for_where_it_is_listed() -> None:
    one, two = Address("one", "big", "both"), Address("two", "small", "both")
    async with pooled(one, two) as engine:
        assert [card.id for card in await engine.models()] == ["big", "both", "small"]
        assert (await engine.resolve("mistral-small-latest")).id == "big"
        assert {await said(engine, "big") for _ in range(3)} == {"one"}
        assert {await said(engine, "small") for _ in range(3)} == {"two"}
        with pytest.raises(ApiError, match="This server has: big, both, small"):
            await engine.resolve("other")


@pytest.mark.parametrize(
    "fail",
    [
        lambda ill: ill.refuses(500),
        lambda ill: ill.refuses(503),
        lambda ill: ill.refuses(429, retry_after="300"),
        lambda ill: ill.breaks_off(),
        lambda ill: ill.breaks_off(event("")),
        lambda ill: ill.breaks_off(b'data: {"error": {"message": "no memory"}}\n\n'),
    ],
)
async def test_what_fails_before_a_token_is_asked_of_another(
    fail: Callable[[Address], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_REST_SECONDS", 300)
    ill, well = Address("ill"), Address("well")
    fail(ill)
    async with pooled(ill, well) as engine:
        await falls_back(engine, ill, "well")


async def falls_back(engine: Engine, first: Address, other: str) -> None:
    """One request meets the address that fails and is answered by another; the next go there."""
    number = 0
    while not first.chats:
        assert await said(engine, messages=chat(number)) == other
        number += 1
    for again in range(8):
        assert await said(engine, messages=chat(number + again)) == other
    assert first.chats == 1


async def test_no_token_in_time_is_asked_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_REST_SECONDS", 300)
    slow, fast = Address("slow"), Address("fast")
    slow.hold.clear()
    async with pooled(slow, fast, patience=2) as engine:
        await falls_back(engine, slow, "fast")
    # The only address is waited for: nobody else can be asked.
    alone = Address("alone")
    alone.hold.clear()
    async with pooled(alone, patience=0.05) as engine:
        answer = asyncio.create_task(said(engine))
        await asyncio.sleep(0.3)
        alone.hold.set()
        assert await answer == "alone"


async def test_what_breaks_off_after_a_token_is_not_asked_again() -> None:
    one, two = Address("one"), Address("two")
    for each in (one, two):
        each.breaks_off(event("half"))
    async with pooled(one, two) as engine:
        with pytest.raises(ApiError, match="broke off") as caught:
            await said(engine)
        assert caught.value.status == 503
        assert one.chats + two.chats == 1


async def test_a_refused_request_is_not_asked_of_another() -> None:
    one, two = Address("one"), Address("two")
    for each in (one, two):
        each.refuses(400)
    async with pooled(one, two) as engine:
        with pytest.raises(ApiError) as caught:
            await said(engine)
        assert (caught.value.status, one.chats + two.chats) == (400, 1)


async def test_a_sick_address_is_left_out_and_comes_back(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pool, "SICK_SECONDS", 0.05)
    monkeypatch.setattr(pool, "_REST_SECONDS", 0.05)
    caplog.set_level("INFO")
    one, two = Address("one"), Address("two")
    one.healthy = False
    async with pooled(one, two) as engine:
        assert {await said(engine) for _ in range(4)} == {"two"}
        assert one.chats == 0
        one.healthy, two.healthy = True, False
        await comes_from(engine, "one")
        two.healthy = True
        one.refuses(500)
        await comes_from(engine, "two")
    assert "is left out" in caplog.text
    assert "answers again" in caplog.text
    assert "key of" not in caplog.text


async def test_none_that_answers_is_a_503_with_a_wait() -> None:
    one, two, other = Address("one"), Address("two"), Address("other", "small")
    async with pooled(one, two, other) as engine:
        assert await said(engine, "big") in ("one", "two")
        one.healthy = two.healthy = False
        with pytest.raises(ApiError):
            await said(engine, "big")
        async with asyncio.timeout(60):
            while True:
                # It is still a known model, so this is no mistake of the caller's.
                assert (await engine.resolve("big")).id == "big"
                with pytest.raises(ApiError) as caught:
                    await said(engine, "big")
                if "No address of the language model big answers" in caught.value.message:
                    break
                await asyncio.sleep(0.05)
        assert (caught.value.status, caught.value.headers) == (503, {"retry-after": "3"})
        assert await said(engine, "small") == "other"
        # A request does not wait for the next check.
        one.healthy = True
        assert await said(engine, "big") == "one"


@pytest.fixture
async def engines() -> AsyncIterator[tuple[Engine, list[EmbeddedProcess]]]:
    """A pool of two real engines, each a llama.cpp of its own."""
    processes = [EmbeddedProcess(weights.built_in_weights) for _ in range(2)]
    async with AsyncExitStack() as stack:
        addresses = [await stack.enter_async_context(each.address()) for each in processes]
        for each in processes:
            stack.push_async_callback(each.stop)
        engine = Engine(addresses=addresses)
        stack.push_async_callback(engine.stop)
        yield engine, processes


@pytest.mark.xdist_group("model")
async def test_real_engines_share_streams_and_one_is_killed_under_them(
    engines: tuple[Engine, list[EmbeddedProcess]],
) -> None:
    engine, processes = engines
    begun = 0

    async def stream(number: int, length: int) -> tuple[int, ApiError | None]:
        nonlocal begun
        tokens = 0
        story = [{"role": "user", "content": f"Story {number}"}]
        body = {"max_tokens": length, "ignore_eos": True, "messages": story}
        try:
            async with (
                engine.session() as session,
                aclosing(session.stream(body, 400)) as chunks,
            ):
                async for chunk in chunks:
                    for choice in chunk.get("choices") or ():
                        if choice["delta"].get("content"):
                            begun += not tokens
                            tokens += 1
        except ApiError as error:
            return tokens, error
        return tokens, None

    # After the first tokens: those on the killed engine break off, the others end.
    asked = [asyncio.create_task(stream(number, 400)) for number in range(4)]
    await until(lambda: begun == 4)
    os.kill(processes[0].pid or 0, signal.SIGKILL)
    ended = await asyncio.gather(*asked)
    broken = [error for _, error in ended if error is not None]
    assert [error.status for error in broken] == [503, 503]
    assert all("broke off" in error.message for error in broken)
    assert all(tokens >= 300 for tokens, error in ended if error is None)
    # Before: the dead engine refuses, and nobody notices.
    later = await asyncio.gather(*(stream(number, 8) for number in range(4)))
    assert [error for _, error in later] == [None] * 4


@pytest.mark.xdist_group("model")
async def test_a_real_engine_killed_while_it_reads_is_replaced(
    engines: tuple[Engine, list[EmbeddedProcess]],
) -> None:
    engine, processes = engines
    long = {"messages": [{"role": "user", "content": "word " * 500}], "max_tokens": 3}
    async with engine.session() as session, aclosing(session.stream(long, 1000)) as chunks:
        reading = await anext(chunks)
        assert "prompt_progress" in reading
        busy = [each.under_way for each in engine.addresses].index(1)
        os.kill(processes[busy].pid or 0, signal.SIGKILL)
        rest = [chunk async for chunk in chunks]
    assert rest[-1]["choices"] == [] or rest[-1]["choices"][0]["finish_reason"]
    assert [each.under_way for each in engine.addresses] == [0, 0]
