"""A session with an MCP server, over HTTP or with a command, and the bytes it may send."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TextIO

import httpx2
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation

from carrel.server.settings import Connector
from mcp import ClientSession

_BYTES = 4 * 1024 * 1024
"""Most bytes of one answer over HTTP."""


@asynccontextmanager
async def open_session(connector: Connector, token: str | None) -> AsyncIterator[ClientSession]:
    """Yield a session of its own: nothing of one caller stays for the next.

    `token` authenticates instead of the operator's key.
    """
    async with AsyncExitStack() as stack:
        if connector.url:
            key = token or connector.key
            http = httpx2.AsyncClient(
                headers={"authorization": f"Bearer {key}"} if key else {},
                timeout=connector.seconds,
                transport=_BoundedTransport(),
                trust_env=False,
            )
            await stack.enter_async_context(http)
            transport = streamable_http_client(
                connector.url, http_client=http, max_sse_event_size=_BYTES
            )
        else:
            command, *arguments = connector.command
            process = StdioServerParameters(command=command, args=arguments, env=connector.env)
            transport = stdio_client(process, stack.enter_context(_nowhere()))
        reading, writing = await stack.enter_async_context(transport)
        session = ClientSession(
            reading,
            writing,
            read_timeout_seconds=connector.seconds,
            client_info=Implementation(name="carrel", version=version("carrel")),
        )
        await stack.enter_async_context(session)
        await session.initialize()
        yield session


@contextmanager
def _nowhere() -> Iterator[TextIO]:
    """Yield a file for the errors of a command, which may hold secrets."""
    with Path(os.devnull).open("w") as file:
        yield file


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream), "the client is asynchronous"
        response.stream = _BoundedStream(response.stream)
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = _BYTES
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise httpx2.ReadError("the answer is too large")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
