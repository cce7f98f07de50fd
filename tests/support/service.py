"""A service that answers what a test tells it, for answers that a real one should never give."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Request:
    """One request as it came over the socket."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: tuple[asyncio.StreamReader, asyncio.StreamWriter]

    async def write(self, *parts: bytes) -> None:
        """Sends bytes of the answer, each part by itself."""
        for part in parts:
            self.connection[1].write(part)
            await self.connection[1].drain()

    async def closed(self) -> None:
        """Waits until the caller closes the connection."""
        with contextlib.suppress(ConnectionError):
            while await self.connection[0].read(1024):
                pass


Connection = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Answer = bytes | Callable[[Request], Awaitable[None]]


@dataclass
class Service:
    """Answers each request with the next of `answers`, the last one over and over."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Reads one request and answers it."""
        request = await _read(reader, writer)
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        await (request.write(answer) if isinstance(answer, bytes) else answer(request))


@contextlib.asynccontextmanager
async def service(*answers: Answer) -> AsyncIterator[Service]:
    """Runs such a service on a port of its own."""
    running = Service(answers=list(answers))
    async with listen(running.serve) as running.url:
        yield running


@contextlib.asynccontextmanager
async def listen(serve: Connection) -> AsyncIterator[str]:
    """Serves each connection with `serve`, then closes it; gives the address."""
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        connections.add(task)
        with contextlib.suppress(
            ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError
        ):
            await serve(reader, writer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


def reply(body: Any = None, status: int = 200, **headers: str) -> bytes:
    """A whole answer. What is not bytes becomes JSON; `content_type="…"` sets that header."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = {"content-type": "application/json", "content-length": str(len(content))}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} X\r\n{head}connection: close\r\n\r\n".encode() + content


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, target, headers, body, (reader, writer))
