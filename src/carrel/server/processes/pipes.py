"""Messages on the pipes between the server and its children: a JSON header and raw bytes.

JSON, not pickle: a child that read a hostile document is not trusted.
"""

import asyncio
import json
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

_LENGTHS = struct.Struct("!II")
MAX_HEADER = 128 * 2**20
"""Maximum bytes of JSON in a message."""
MAX_BODY = 256 * 2**20
"""Maximum raw bytes in a message."""


class BrokenMessage(Exception):
    """The received bytes are not a message."""


@dataclass(frozen=True)
class PipeMessage:
    """A message: `header` says its kind, `body` carries pixels or a page."""

    header: dict[str, Any]
    body: bytes = b""


def as_json(values: dict[str, Any]) -> bytes:
    """Return JSON as UTF-8; half a surrogate pair, which documents may hold, becomes a `?`."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _encode(message: PipeMessage) -> tuple[bytes, bytes]:
    header = as_json(message.header)
    return _LENGTHS.pack(len(header), len(message.body)) + header, message.body


def _lengths(prefix: bytes) -> tuple[int, int]:
    header, body = _LENGTHS.unpack(prefix)
    if header > MAX_HEADER or body > MAX_BODY:
        raise BrokenMessage("a message is larger than allowed")
    return header, body


def _header(raw: bytes) -> dict[str, Any]:
    try:
        header = json.loads(raw)
    except ValueError as error:
        raise BrokenMessage("a message has no readable header") from error
    if not isinstance(header, dict):
        raise BrokenMessage("a message has no readable header")
    return header


def write_message(stream: BinaryIO, message: PipeMessage) -> None:
    """Write a message from a child and flush."""
    for part in _encode(message):
        stream.write(part)
    stream.flush()


def read_message(stream: BinaryIO) -> PipeMessage | None:
    """Read the next message in a child, or None if the server closed the pipe."""
    prefix = stream.read(_LENGTHS.size)
    if len(prefix) < _LENGTHS.size:
        return None
    header, body = _lengths(prefix)
    return PipeMessage(_header(stream.read(header)), stream.read(body))


async def send_message(stream: asyncio.StreamWriter, message: PipeMessage) -> None:
    """Send a message to a child. Raises ConnectionError when it is gone."""
    for part in _encode(message):
        stream.write(part)
    await stream.drain()


async def receive_message(stream: asyncio.StreamReader) -> PipeMessage | None:
    """Receive a child's next message, or None if it ended.

    Raises:
        BrokenMessage: the child wrote something else.
    """
    try:
        header, body = _lengths(await stream.readexactly(_LENGTHS.size))
        return PipeMessage(
            _header(await stream.readexactly(header)), await stream.readexactly(body)
        )
    except asyncio.IncompleteReadError:
        return None
