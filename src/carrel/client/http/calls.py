"""Log entries of requests, without keys and signed addresses."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

import httpx

from carrel.client.http.errors import UnexpectedAnswer
from carrel.client.http.refusals import request_id_of
from carrel.text import clean_text, redact

KEPT = 16 << 10
"""Maximum bytes kept of a response."""
LONGEST = 2000
"""Maximum characters kept of one string in a request: it may be a document."""

SIGNED = "(signed address)"
"""Placeholder for the path of a signed address, which is secret as a whole."""

_SECRET = re.compile(r"authorization|api[_-]?key|password|secret", re.IGNORECASE)
_AUTHORIZATION = re.compile(r'("authorization"\s*:\s*)\{[^{}]*\}?')
"""Pattern of a connector's credentials in the beginning of a response."""


@dataclass(frozen=True)
class Call:
    """A finished request."""

    method: str
    path: str
    query: str
    """The query as sent, without the question mark."""
    status: int | None
    """Status code, or None without a response."""
    seconds: float
    """Seconds until the response was read."""
    bytes: int
    """Bytes received of the response body."""
    sent: str = field(default="", repr=False)
    """The JSON body, with long strings truncated."""
    upload: str = ""
    """The name of the uploaded file."""
    received: str = field(default="", repr=False)
    """The beginning of a textual response."""
    request_id: str = ""
    """The id of the request in the service's log, or ""."""

    @property
    def signed(self) -> bool:
        """Whether the request used a signed address, which is not kept."""
        return self.path == SIGNED


class Received(httpx.AsyncByteStream):
    """Passes on a response's bytes, at most `most` of them, and keeps the first ones."""

    def __init__(self, response: httpx.Response, most: int | None) -> None:
        self.beginning = bytearray()
        self._stream = cast(httpx.AsyncByteStream, response.stream)
        self._host = response.request.url.netloc.decode("ascii")
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if self._most is not None and size > self._most:
                raise endless(self._host, self._most)
            if len(self.beginning) < KEPT:
                self.beginning += chunk[: KEPT - len(self.beginning)]
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def endless(host: str, most: int) -> UnexpectedAnswer:
    """Return the error of an answer with more than `most` bytes."""
    return UnexpectedAnswer(
        f"{host} sent more than {most >> 20} MiB, and the rest was not read. Ask for"
        " less at a time, or check the address of this profile."
    )


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
    """Return the log entry of a finished request; `key` is redacted everywhere."""
    query = "" if path == SIGNED else request.url.query.decode("ascii", "replace")
    # String by string: redacting serialised JSON could remove a quotation mark.
    sent = "" if body is None else json.dumps(_redact(body, key), ensure_ascii=False)
    return Call(
        request.method,
        path,
        query,
        None if response is None else response.status_code,
        seconds,
        0 if response is None else response.num_bytes_downloaded,
        sent,
        clean_text(upload),
        "" if response is None else _redact_key(key, _text_of(response, path)),
        "" if response is None else request_id_of(response),
    )


def _redact_key(key: str, text: str) -> str:
    return redact(text.replace(key, "…") if key else text)


def _text_of(response: httpx.Response, path: str) -> str:
    if path == SIGNED or path.endswith("url"):
        return ""  # the request was for a signed address
    kind = response.headers.get("content-type", "")
    if not any(word in kind for word in ("json", "text", "xml", "event-stream")):
        return ""
    if "content-encoding" not in response.headers and isinstance(response.stream, Received):
        beginning = bytes(response.stream.beginning)
    else:
        try:
            beginning = response.content[:KEPT]
        except httpx.ResponseNotRead:
            return ""
    return _AUTHORIZATION.sub(r'\1"…"', clean_text(beginning.decode("utf-8", "replace")))


def _redact(value: Any, key: str, name: str = "") -> Any:
    """Return a named part of a request, redacted for the log."""
    if _SECRET.fullmatch(name) and isinstance(value, str | dict):
        return "…"
    if isinstance(value, str):
        if name in ("document_url", "image_url", "url") and value.lower().startswith("http"):
            return f"{urlsplit(value).scheme}://…"
        if len(value) > LONGEST:
            value = f"{value[:LONGEST]}… ({len(value):,} characters)"
        return _redact_key(key, value)
    if isinstance(value, list):
        return [_redact(item, key, name) for item in value]
    if isinstance(value, dict):
        return {inner: _redact(item, key, inner) for inner, item in value.items()}
    return value
