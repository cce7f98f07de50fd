"""Bodies that come too slowly are answered, and their connections closed."""

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from carrel.server.http import middleware
from carrel.server.http.middleware import BodyGuard
from support.sockets import connected, serving

HEAD = b"POST /%s HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n"


async def read(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


async def ignore(request: Request) -> PlainTextResponse:
    return PlainTextResponse("not read")


def application() -> BodyGuard:
    routes = [Route("/read", read, methods=["POST"]), Route("/ignore", ignore, methods=["POST"])]
    return BodyGuard(Starlette(routes=routes), limit=lambda scope: 10_000)


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DRAIN_SECONDS", "IDLE_SECONDS", "PACE_SECONDS"):
        monkeypatch.setattr(middleware, name, 0.3)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(
    ("path", "status"), [(b"read", b" 408 "), (b"ignore", b" 200 ")], ids=["read", "ignored"]
)
async def test_half_a_body_is_answered_and_the_connection_closed(
    path: bytes, status: bytes
) -> None:
    async with serving(application()) as port, connected(port) as (reader, writer):
        writer.write(HEAD % path + b"half")
        answer = await asyncio.wait_for(reader.read(), 10)
        assert status in answer.partition(b"\r\n")[0]
        assert b"\r\nconnection: close\r\n" in answer


@pytest.mark.usefixtures("soon")
async def test_a_body_byte_by_byte_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "IDLE_SECONDS", 60)
    async with serving(application()) as port, connected(port) as (reader, writer):

        async def trickle() -> None:
            for _ in range(1000):
                writer.write(b"x")
                await asyncio.sleep(0.05)

        writer.write(HEAD % b"read")
        trickling = asyncio.create_task(trickle())
        try:
            answer = await asyncio.wait_for(reader.readuntil(b"\r\n"), 10)
            assert b" 408 " in answer
        finally:
            trickling.cancel()
            await asyncio.gather(trickling, return_exceptions=True)


async def test_a_body_in_two_pieces_is_read_and_the_connection_kept() -> None:
    async with serving(application()) as port, connected(port) as (reader, writer):
        for _ in range(2):
            writer.write(HEAD % b"read" + b"x" * 500)
            await writer.drain()
            await asyncio.sleep(0.05)
            writer.write(b"y" * 500)
            answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            assert b" 200 " in answer
            assert await reader.readexactly(4) == b"1000"


async def test_a_content_type_does_not_lift_the_limit() -> None:
    async with serving(application()) as port, connected(port) as (reader, writer):
        head = b"POST /read HTTP/1.1\r\nhost: x\r\ncontent-length: 20000\r\n"
        writer.write(
            head + b"content-type: multipart/form-data; boundary=a\r\n\r\n" + b"x" * 20_000
        )
        assert b" 413 " in await asyncio.wait_for(reader.readuntil(b"\r\n"), 10)


async def test_two_lengths_of_one_body_are_answered_and_the_connection_closed() -> None:
    async with serving(application()) as port, connected(port) as (reader, writer):
        head = b"POST /read HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n"
        writer.write(
            head + b"transfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n"
        )
        answer = await asyncio.wait_for(reader.read(), 10)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert answer.count(b"HTTP/1.1") == 1
