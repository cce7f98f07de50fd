"""What is remembered of a request, for a log: neither the key nor a signed address is in it."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

import httpx

from carrel.text import clean_text, redact

KEPT = 16 << 10
"""So much of an answer is kept, in bytes."""
LONGEST = 2000
"""So much of one text in a request is kept, in characters: a document may travel in it."""

SIGNED = "(signed address)"
"""The path of a request to a signed address, which is a secret as a whole."""

_SECRET = re.compile(r"authorization|api[_-]?key|password|secret", re.IGNORECASE)
_AUTHORIZATION = re.compile(r'("authorization"\s*:\s*)\{[^{}]*\}?')
"""How a connector signs in, in the beginning of an answer."""


@dataclass(frozen=True)
class Call:
    """One request that was made."""

    method: str
    path: str
    query: str
    """As it was sent, without the question mark."""
    status: int | None
    """None when no answer came."""
    seconds: float
    """Until the whole answer was read."""
    bytes: int
    """How many of the answer's body arrived."""
    sent: str = field(default="", repr=False)
    """The JSON that was sent; long texts in it are cut."""
    upload: str = ""
    """The name of the file that was sent."""
    received: str = field(default="", repr=False)
    """The beginning of the answer, where that is text."""

    @property
    def signed(self) -> bool:
        """Whether it was made to a signed address, of which nothing is remembered."""
        return self.path == SIGNED


class Kept(httpx.AsyncByteStream):
    """An answer's bytes, passed on; the first of them are kept."""

    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self.beginning = bytearray()
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            if len(self.beginning) < KEPT:
                self.beginning += chunk[: KEPT - len(self.beginning)]
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def keep(response: httpx.Response) -> None:
    """Keeps the beginning of an answer while it is read."""
    response.stream = Kept(cast(httpx.AsyncByteStream, response.stream))


def call(
    request: httpx.Request,
    response: httpx.Response | None,
    seconds: float,
    *,
    path: str,
    key: str,
    body: Any = None,
    upload: str = "",
) -> Call:
    """What is remembered of a request that has ended; `key` is taken out wherever it stands."""
    query = "" if path == SIGNED else request.url.query.decode("ascii", "replace")
    # Each text by itself: what is taken out of JSON might take a quotation mark along.
    sent = "" if body is None else json.dumps(_told(body, key), ensure_ascii=False)
    return Call(
        request.method,
        path,
        query,
        None if response is None else response.status_code,
        seconds,
        0 if response is None else response.num_bytes_downloaded,
        sent,
        clean_text(upload),
        "" if response is None else _without(key, _text_of(response, path)),
    )


def _without(key: str, text: str) -> str:
    return redact(text.replace(key, "…") if key else text)


def _text_of(response: httpx.Response, path: str) -> str:
    if path == SIGNED or path.endswith("url"):
        return ""  # it was asked for a signed address
    kind = response.headers.get("content-type", "")
    if not any(word in kind for word in ("json", "text", "xml", "event-stream")):
        return ""
    if "content-encoding" not in response.headers and isinstance(response.stream, Kept):
        beginning = bytes(response.stream.beginning)
    else:
        try:
            beginning = response.content[:KEPT]
        except httpx.ResponseNotRead:
            return ""
    return _AUTHORIZATION.sub(r'\1"…"', clean_text(beginning.decode("utf-8", "replace")))


def _told(value: Any, key: str, name: str = "") -> Any:
    """What is told of a part of a request that stands under a name."""
    if _SECRET.fullmatch(name) and isinstance(value, str | dict):
        return "…"
    if isinstance(value, str):
        if name in ("document_url", "image_url", "url") and value.lower().startswith("http"):
            return f"{urlsplit(value).scheme}://…"
        if len(value) > LONGEST:
            value = f"{value[:LONGEST]}… ({len(value):,} characters)"
        return _without(key, value)
    if isinstance(value, list):
        return [_told(item, key, name) for item in value]
    if isinstance(value, dict):
        return {inner: _told(item, key, inner) for inner, item in value.items()}
    return value
