"""A language model that says at once what it was told to, for what passes its words on."""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

WORD = " word"


def serve_model(
    listener: socket.socket,
    words: int,
    delay: float = 0,
    models: Sequence[str] = ("scripted",),
    pause: float = 0,
) -> None:
    """Answers every chat with some words, each written by itself, and with seconds between them.

    The first comes after `delay` seconds.
    """
    connected = partial(converse, words=words, delay=delay, models=models, pause=pause)
    asyncio.run(_serve(listener, connected))


async def _serve(listener: socket.socket, connected: Callable[..., Awaitable[None]]) -> None:
    server = await asyncio.start_server(connected, sock=listener)
    await server.serve_forever()


async def converse(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    words: int,
    delay: float = 0,
    models: Sequence[str] = ("scripted",),
    pause: float = 0,
) -> None:
    """Answers one request after the other on a connection."""
    listed = {"data": [{"id": model, "max_model_len": 32768} for model in models]}
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        stays = True
        while stays:
            target, stays = await read_request(reader)
            if target == "/v1/chat/completions":
                await write_stream(writer, words, delay, pause)
            else:
                writer.write(_reply(listed if target == "/v1/models" else None))
    writer.close()


async def read_request(reader: asyncio.StreamReader) -> tuple[str, bool]:
    """Reads one request; gives its target, and whether another may follow."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().splitlines()
    fields = dict(line.split(": ", 1) for line in lines if line)
    await reader.readexactly(int(fields.get("content-length", 0)))
    return first.split()[1], fields.get("connection") != "close"


async def write_stream(
    writer: asyncio.StreamWriter, words: int, delay: float = 0, pause: float = 0
) -> None:
    """Answers with some words, the first after `delay` seconds, `pause` seconds between two."""
    head = (
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    writer.write(head.encode())
    writer.write(_event({"role": "assistant", "content": ""}))
    await asyncio.sleep(delay)
    word = _event({"content": WORD})
    for _ in range(words):
        writer.write(word)
        await writer.drain()
        # Between two words of one answer come those of all others.
        await asyncio.sleep(pause)
    writer.write(_event({}, "stop", {"prompt_tokens": 10, "completion_tokens": words}))
    writer.write(_piece("data: [DONE]\n\n") + b"0\r\n\r\n")


def _event(
    delta: dict[str, str], reason: str | None = None, usage: dict[str, int] | None = None
) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    chunk: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion.chunk"}
    chunk |= {"created": 1, "model": "scripted", "choices": [choice], "usage": usage}
    return _piece(f"data: {json.dumps(chunk)}\n\n")


def _piece(text: str) -> bytes:
    return f"{len(text):x}\r\n{text}\r\n".encode()


def _reply(content: Any) -> bytes:
    status = "404 Not Found" if content is None else "200 OK"
    body = json.dumps(content)
    return f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()
