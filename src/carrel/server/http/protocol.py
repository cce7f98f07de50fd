"""HTTP connections with deadlines for the request head and for the reading of an answer."""

import asyncio
import math

import h11
from h11._readers import ContentLengthReader
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20
"""Seconds for a request's first line and headers."""
TAKE_SECONDS = 60
"""Seconds a caller may read nothing of a waiting answer."""


class Protocol(H11Protocol):
    """Uvicorn's protocol with a deadline for request heads; uvicorn's own covers idle connections.

    And with one for a caller that does not read, which holds the answer's resources.
    """

    _deadline: asyncio.TimerHandle | None = None
    _untaken: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        if not self._pass_on(data):
            super().data_received(data)
            self._watch()

    def _pass_on(self, data: bytes) -> bool:
        """Hand over the middle of a body of known length, which h11 would copy four times."""
        reader = self.conn._reader
        if (
            not isinstance(reader, ContentLengthReader)
            or self.conn.their_state is not h11.SEND_BODY
            or self.conn.our_state is h11.DONE
            or self.conn.trailing_data[0]
            or len(data) >= reader._remaining
        ):
            return False
        reader._remaining -= len(data)
        cycle = self.cycle
        cycle.body = cycle.body + data if cycle.body else data  # type: ignore[assignment]
        if len(cycle.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        cycle.message_event.set()
        return True

    def on_response_complete(self) -> None:
        super().on_response_complete()
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
        """Start the timer with the first byte of a head, and stop it with the last."""
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._deadline is None and (self.cycle is None or self.conn.trailing_data[0]):
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.timeout_keep_alive_handler)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
