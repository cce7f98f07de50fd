"""Who dawdles over the head of a request, or does not read, is cut off; nobody else is."""

import asyncio
import inspect
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

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


async def cut_off(reader: asyncio.StreamReader) -> None:
    """Wait for the end of a connection that is refused; what was not read may reset it."""
    with suppress(ConnectionResetError):
        answer = await asyncio.wait_for(reader.read(), 10)
        assert answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    "endless", [b"GET /", b"GET / HTTP/1.1\r\nx: ", b"GET / HTTP/1.1\r\nx: y\r\n"]
)
async def test_a_head_without_an_end_is_refused_by_its_size(
    endless: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 60)
    async with serving(answer_late) as port, connected(port) as (reader, writer):
        writer.write(endless + b"a: bcdef\r\n"[: 1 + 9 * endless.endswith(b"\n")] * 100_000)
        await cut_off(reader)


async def test_trailers_without_an_end_are_refused_by_their_size() -> None:
    async def read(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(ClientDisconnect):
            await Request(scope, receive).body()
        await PlainTextResponse("read")(scope, receive, send)

    head = b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    async with serving(read) as port, connected(port) as (reader, writer):
        writer.write(head + b"3\r\nabc\r\n0\r\n" + b"a: bcdef\r\n" * 100_000)
        await cut_off(reader)


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


def packets_received(writer: asyncio.StreamWriter) -> int:
    """How many packets with bytes came in: `tcpi_data_segs_in` of Linux's `tcp_info`."""
    info = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    (count,) = struct.unpack_from("I", info, 152)
    return int(count)


async def test_a_short_answer_comes_in_one_packet() -> None:
    async with serving(PlainTextResponse("done")) as port, connected(port) as (reader, writer):
        for count in (1, 2):
            writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            assert (await reader.readuntil(b"done")).startswith(b"HTTP/1.1 200 OK")
            assert packets_received(writer) == count


async def test_a_head_does_not_wait_for_the_body() -> None:
    head_came = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        await head_came.wait()
        yield b"done"

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await StreamingResponse(pieces())(scope, receive, send)

    async with serving(answer) as port, connected(port) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
        head_came.set()
        assert b"done" in await asyncio.wait_for(reader.read(), 10)


async def test_a_head_without_a_body_comes_at_once() -> None:
    async with serving(Response(status_code=204)) as port, connected(port) as (reader, writer):
        for method in (b"GET", b"HEAD", b"GET"):
            writer.write(method + b" / HTTP/1.1\r\nhost: x\r\n\r\n")
            answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            assert answer.startswith(b"HTTP/1.1 204 ")


def test_uvicorns_protocol_still_has_the_parts_that_deadlines_need() -> None:
    """Names that are not public, for after an upgrade."""
    made = inspect.getsource(HttpToolsProtocol.__init__)
    for attribute in ("cycle", "transport", "loop", "flow"):
        assert f"self.{attribute}" in made, f"HttpToolsProtocol.{attribute} is gone"
    for method in (
        *("timeout_keep_alive_handler", "send_400_response", "pause_writing", "resume_writing"),
        *("on_message_begin", "on_headers_complete", "on_body", "on_response_complete"),
    ):
        assert callable(getattr(HttpToolsProtocol, method, None)), f"{method} is gone"
    assert "bytes(self.body)" in inspect.getsource(RequestResponseCycle.receive)
