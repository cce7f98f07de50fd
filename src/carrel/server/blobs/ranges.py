"""A streamed response with support for a range."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

from starlette.datastructures import Headers
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

PIECE_BYTES = 4 * 1024 * 1024
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})", re.IGNORECASE)


class RangeResponse(Response):
    """Sends the bytes of `read(start, length)`, one piece in memory at a time.

    A single range is honoured; for several, the whole is sent, as HTTP allows.
    """

    def __init__(
        self, read: Callable[[int, int], Awaitable[bytes]], size: int, headers: Mapping[str, str]
    ) -> None:
        # No body: it carries the headers until the request is known.
        super().__init__(headers=headers)
        self._read = read
        self._size = size
        self.headers["accept-ranges"] = "bytes"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = Headers(scope=scope)
        span, status = range(self._size), 200
        if asked.get("if-range") in (None, self.headers["etag"]):
            match = _RANGE.fullmatch(asked.get("range", ""))
            if match and any(match.groups()):
                span, status = _span(match[1], match[2], self._size), 206
        if status == 206 and not span:
            self.headers["content-range"] = f"bytes */{self._size}"
            await Response(status_code=416, headers=dict(self.headers))(scope, receive, send)
            return
        if status == 206:
            self.headers["content-range"] = f"bytes {span.start}-{span.stop - 1}/{self._size}"
        self.headers["content-length"] = str(len(span))
        # Read before the status is sent: an unavailable store is an error, not a truncated body.
        first = b"" if scope["method"] == "HEAD" else await self._piece(span)
        answer = StreamingResponse(
            self._pieces(first, span[len(first) :]), status, dict(self.headers)
        )
        await answer(scope, receive, send)

    async def _piece(self, span: range) -> bytes:
        return await self._read(span.start, min(len(span), PIECE_BYTES)) if span else b""

    async def _pieces(self, piece: bytes, rest: range) -> AsyncIterator[bytes]:
        while piece:
            yield piece
            piece = await self._piece(rest)
            rest = rest[len(piece) :]


def _span(first: str, last: str, size: int) -> range:
    """Return the requested bytes, an empty range if there are none."""
    if not first:
        return range(max(size - int(last), 0), size)
    return range(int(first), min(int(last) + 1, size) if last else size)
