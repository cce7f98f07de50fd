"""Who dawdles over the head of a request, or does not read, is cut off; nobody else is."""

import asyncio
import inspect
from collections.abc import AsyncIterator

import h11
import pytest
from h11._readers import ContentLengthReader
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from carrel.server.http import protocol
from support.sockets import connected, serving


async def answer_late(scope: Scope, receive: Receive, send: Send) -> None:
    """An answer that takes longer than a head may."""
    await asyncio.sleep(0.5)
    await PlainTextResponse("done")(scope, receive, send)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)


@pytest.mark.parametrize("said", [b"", b"GE", b"GET / HTTP/1.1\r\nhost: x\r\nx-half: "])
async def test_half_a_head_is_not_waited_for(said: bytes) -> None:
    async with serving(answer_late) as port, connected(port) as (reader, writer):
        writer.write(said)
        assert await asyncio.wait_for(reader.read(), 10) == b""


async def test_a_head_byte_by_byte_is_not_waited_for_either() -> None:
    async with serving(answer_late) as port, connected(port) as (reader, writer):

        async def trickle() -> None:
            for byte in b"GET / HTTP/1.1\r\nx: " + b"y" * 10_000:
                writer.write(bytes([byte]))
                await asyncio.sleep(0.02)

        trickling = asyncio.create_task(trickle())
        try:
            assert await asyncio.wait_for(reader.read(), 10) == b""
        finally:
            trickling.cancel()
            await asyncio.gather(trickling, return_exceptions=True)


async def test_half_of_a_second_head_is_not_waited_for() -> None:
    async with serving(answer_late) as port, connected(port) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\nGET / HT")
        answers = await asyncio.wait_for(reader.read(), 10)
        assert answers.count(b"200 OK") == 1


async def test_a_whole_head_may_wait_for_its_answer_and_ask_again() -> None:
    async with serving(answer_late) as port, connected(port) as (reader, writer):
        for _ in range(2):
            writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            assert b"200 OK" in head
            assert await reader.readexactly(4) == b"done"


@pytest.mark.parametrize("pieces", [1, 2, 7])
async def test_a_body_in_pieces_arrives_whole_and_the_next_request_is_its_own(pieces: int) -> None:
    async def count(scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        await PlainTextResponse(f"{len(body)} {sum(body)}")(scope, receive, send)

    body = bytes(range(256)) * 1000
    size = -(-len(body) // pieces)
    async with serving(count) as port, connected(port) as (reader, writer):
        writer.write(f"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n".encode())
        for start in range(0, len(body), size):
            await asyncio.sleep(0.05)
            last = start + size >= len(body)
            # The last piece and the head of the next request are read at once.
            writer.write(body[start : start + size] + (b"GET / HTTP/1.1\r\n" if last else b""))
        writer.write(b"host: x\r\nconnection: close\r\n\r\n")
        answers = await asyncio.wait_for(reader.read(), 10)
    assert f"{len(body)} {sum(body)}".encode() in answers
    assert answers.count(b"200 OK") == 2
    assert answers.endswith(b"0 0")


class Endless:
    """An answer without an end, of large pieces, and whether it is still being made."""

    def __init__(self) -> None:
        self.given_up = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            try:
                while True:
                    await asyncio.sleep(0)
                    yield bytes(2**20)
            finally:
                self.given_up.set()

        await StreamingResponse(pieces())(scope, receive, send)


async def test_who_reads_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "TAKE_SECONDS", 0.3)
    answer = Endless()
    async with serving(answer) as port, connected(port) as (_, writer):
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        await asyncio.wait_for(answer.given_up.wait(), 10)


async def test_who_reads_slowly_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "TAKE_SECONDS", 3)
    whole = 48 * 2**20

    async def one_piece(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(bytes(whole))(scope, receive, send)

    async with serving(one_piece) as port, connected(port) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        for _ in range(16):
            await reader.readexactly(2**20)
            await asyncio.sleep(0.25)
        await reader.readexactly(whole - 16 * 2**20)


def test_uvicorns_protocol_still_has_the_parts_that_deadlines_need() -> None:
    """Names that are not public, for after an upgrade."""
    made = inspect.getsource(H11Protocol.__init__)
    for attribute in ("conn", "cycle", "transport", "loop", "flow"):
        assert f"self.{attribute}" in made, f"H11Protocol.{attribute} is gone"
    for method in ("timeout_keep_alive_handler", "on_response_complete", "pause_writing"):
        assert callable(getattr(H11Protocol, method, None)), f"H11Protocol.{method} is gone"
    assert "self.body" in inspect.getsource(RequestResponseCycle.receive)
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 7\r\n\r\n")
    connection.next_event()
    assert isinstance(connection._reader, ContentLengthReader)
    assert connection._reader._remaining == 7
