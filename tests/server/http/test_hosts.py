"""A server answers under its own names only."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from carrel.server.http.hosts import AllowedHosts
from carrel.server.http.middleware import RequestLogging
from carrel.server.settings import ServerSettings
from support.sockets import connected, serving

SETTINGS = ServerSettings(
    data=Path("data"), public_url="https://carrel.example.com/base", hosts=("Docs.example.com",)
)


async def hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


async def status(host: bytes, settings: ServerSettings = SETTINGS) -> int:
    app = Starlette(routes=[Route("/", hello)])
    guarded = RequestLogging(AllowedHosts(app, settings=lambda: settings))
    async with serving(guarded) as port, connected(port) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nhost: " + host + b"\r\n\r\n")
        return int((await reader.readuntil(b"\r\n")).split()[1])


@pytest.mark.parametrize(
    "host",
    [
        b"localhost",
        b"LOCALHOST:8080",
        b"a.localhost",
        b"127.0.0.1:1",
        b"[::1]:8080",
        b"192.168.1.7",
        b"carrel.example.com",
        b"docs.example.com:8080",
    ],
)
async def test_its_own_names_and_addresses_are_answered(host: bytes) -> None:
    assert await status(host) == 200


@pytest.mark.parametrize(
    "host",
    [
        b"rebound.example.net",
        b"localhost.example.net",
        b"127.0.0.1.example.net",
        b"carrel.example.com.example.net",
        b"[::1",
        b"example.com",
    ],
)
async def test_another_name_is_refused(host: bytes) -> None:
    assert await status(host) == 421
