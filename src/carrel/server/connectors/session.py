"""A session with an MCP server, over HTTP or with a command, and the bytes it may send."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib.metadata import version
from subprocess import DEVNULL, PIPE

import anyio
import httpx2
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import Implementation, jsonrpc_message_adapter

from carrel.server.settings import Connector
from mcp import ClientSession

_BYTES = 4 * 1024 * 1024
"""Most bytes of one answer over HTTP, and of all that a command says."""
_END_SECONDS = 2.0
"""A command that has not ended so long after its input is killed."""


@asynccontextmanager
async def open_session(connector: Connector, token: str | None) -> AsyncIterator[ClientSession]:
    """Yield a new session: nothing of one caller is left for the next.

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
            transport = _run(connector)
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


@asynccontextmanager
async def _run(
    connector: Connector,
) -> AsyncIterator[tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]]]:
    """Yield the streams of messages from a command and to it.

    Its errors are not read: they may hold secrets.
    """
    process = await asyncio.create_subprocess_exec(
        *connector.command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env={**get_default_environment(), **connector.env},
        # In a process group, the children of the command are killed with the command.
        start_new_session=True,
        limit=_BYTES,
    )
    assert process.stdin and process.stdout, "both are pipes"
    said, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, to_say = anyio.create_memory_object_stream[SessionMessage](0)

    async def read(lines: asyncio.StreamReader) -> None:
        left = _BYTES
        # A line that is too long, or is no message, ends it.
        async with said:
            with suppress(ValueError, anyio.BrokenResourceError):
                while (line := await lines.readline()) and (left := left - len(line)) >= 0:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    await said.send(SessionMessage(message))

    async def write(pipe: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            async for one in to_say:
                text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                pipe.write(f"{text}\n".encode())
                await pipe.drain()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read, process.stdout)
            tasks.start_soon(write, process.stdin)
            yield reading, writing
            tasks.cancel_scope.cancel()
    finally:
        for stream in (said, reading, writing, to_say):
            stream.close()
        with anyio.CancelScope(shield=True):
            await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close a command's input and wait for its end; then kill what it started."""
    assert process.stdin and process.stdout, "both are pipes"
    process.stdin.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(_END_SECONDS):
            # A full pipe would keep it from ending.
            while await process.stdout.read(_BYTES):
                pass
            await process.wait()
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        elif process.returncode is None:
            process.kill()
    await process.wait()


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
