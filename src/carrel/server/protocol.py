"""HTTP connections that do not wait for ever for a request to be said."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20
"""How long a connection may take to say a request's first line and its headers."""


class Protocol(H11Protocol):
    """Uvicorn's protocol with a deadline for the head of a request; its own is for idle ones."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Starts the clock with the first byte of a head, and stops it with the last."""
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._deadline is None and (self.cycle is None or self.conn.trailing_data[0]):
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.timeout_keep_alive_handler)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
