"""HTTP connections with limits for the request head and for the reading of an answer."""

import asyncio
import math
import threading

from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 20
"""Seconds for a request's first line and headers."""
HEAD_BYTES = 64 * 1024
"""The most bytes of a request's first line and headers."""
TAKE_SECONDS = 60
"""Seconds a caller may read nothing of a waiting answer."""


_READ_BYTES = 2 * 1024 * 1024
"""The most bytes that are read at once."""

_JOINED_BYTES = 64 * 1024
"""The most bytes of a body that are copied behind the head."""


class _Received(threading.local):
    """What a loop has read last, of any connection: parsers copy it at once."""

    def __init__(self) -> None:
        self.buffer = memoryview(bytearray(_READ_BYTES))


_received = _Received()


class _Answer:
    """The transport of an answer, whose head leaves in one packet with a body that follows."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head: bytes | None = None
        """Sent with what follows; None before the head is there, empty after it is sent."""

    def write(self, data: bytes) -> None:
        if self._head is None:
            self._head = data
            self._loop.call_soon(self._send)
        else:
            self._send(data)

    def close(self) -> None:
        self._send()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def _send(self, body: bytes = b"") -> None:
        head, self._head = self._head or b"", b""
        joined = (head + body,) if len(body) <= _JOINED_BYTES else (head, body)
        for data in filter(None, joined):
            self._transport.write(data)


class Protocol(HttpToolsProtocol, asyncio.BufferedProtocol):
    """Uvicorn's protocol with deadlines for request heads and for callers that do not read.

    Uvicorn's own deadline covers idle connections. A caller that does not read holds the answer's
    resources.
    """

    _deadline: asyncio.TimerHandle | None = None
    _untaken: asyncio.TimerHandle | None = None
    _in_head = True
    _head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def get_buffer(self, sizehint: int) -> memoryview:
        return _received.buffer

    def buffer_updated(self, count: int) -> None:
        self._head_bytes += count
        self.data_received(_received.buffer[:count])  # type: ignore[arg-type]
        if self._head_bytes > HEAD_BYTES:
            self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True
        self._watch()

    def on_headers_complete(self) -> None:
        self._in_head, self._head_bytes = False, 0
        self._stop()
        super().on_headers_complete()
        self.cycle.transport = _Answer(self.transport, self.loop)  # type: ignore[assignment]

    def on_body(self, body: bytes) -> None:
        # Trailers, which follow a body, count as a head does.
        self._head_bytes, cycle = 0, self.cycle
        if cycle.response_complete:
            return
        # Bytes: the original copies them into an array, and the array into bytes.
        cycle.body = cycle.body + body if cycle.body else body  # type: ignore[assignment]
        if len(cycle.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        cycle.message_event.set()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._in_head:
            self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        if self._untaken is not None:
            self._untaken.cancel()
            self._untaken = None
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        # Also ends the wait of the writer.
        self.resume_writing()
        super().connection_lost(exc)

    def _wait_for_reader(self, before: float = math.inf) -> None:
        """Cut the connection if no byte was read since `before` bytes were pending."""
        waiting = self.transport.get_write_buffer_size()
        if waiting < before:
            self._untaken = self.loop.call_later(TAKE_SECONDS, self._wait_for_reader, waiting)
        else:
            self.transport.abort()

    def _watch(self) -> None:
        """Start the timer of a head, unless an answer to the request before it is under way."""
        if self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.timeout_keep_alive_handler)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
