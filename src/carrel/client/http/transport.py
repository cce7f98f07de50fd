"""A connection pool to one service: sends requests, reads answers, words errors."""

import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from importlib.metadata import version
from typing import Any, TypedDict, TypeVar, Unpack, cast
from urllib.parse import quote

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from carrel.client.http import calls
from carrel.client.http.calls import SIGNED, Call
from carrel.client.http.errors import ClientError, UnexpectedAnswer, Unreachable
from carrel.client.http.refusals import connection_reason, refusal
from carrel.client.http.uploads import MultipartBody
from carrel.text import clean_json, clean_text

T = TypeVar("T")

# A short time to connect, so that a host that is gone is noticed within seconds.
TIMEOUT = httpx.Timeout(30, connect=3, write=60, pool=None)
"""Timeout of an ordinary call in seconds."""

# Below the five seconds after which common servers close an idle connection, so that no request
# starts on a closing connection.
_LIMITS = httpx.Limits(max_keepalive_connections=20, keepalive_expiry=4)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ERROR_BYTES = 1 << 20
"""Bytes read of an error's body, which a wrong address may send without an end."""
_ANSWER_BYTES = 256 << 20
"""Largest answer in bytes that is read into memory."""
_LEAST_KEY = 16
"""Characters from which a key is told from other words."""
_JSON = "application/json"
ANYTHING = "*/*"
"""Accept header of a download, the only kind of answer without a size limit."""

_Pairs = list[tuple[str, str | int | float | bool | None]]


class Options(TypedDict, total=False):
    """Further options of a request."""

    query: BaseModel | dict[str, Any] | None
    """Fields other than None become the query; lists repeat their key."""
    body: Any
    """Sent as JSON."""
    upload: MultipartBody
    accept: str
    prefer: str | None
    """Value of the Prefer header (RFC 7240)."""
    unhurried: bool
    """Wait for the answer without a timeout."""
    keyless: bool


class LoopbackTransport(httpx.AsyncBaseTransport):
    """Bypasses proxies. Loads certificates, which is slow, only with the first https request."""

    def __init__(self, limits: httpx.Limits) -> None:
        self._limits = limits
        self._plain = httpx.AsyncHTTPTransport(verify=False, limits=limits, trust_env=False)
        self._secure: httpx.AsyncHTTPTransport | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; return the answer once its headers arrived."""
        if request.url.scheme == "http":
            return await self._plain.handle_async_request(request)
        if self._secure is None:
            self._secure = httpx.AsyncHTTPTransport(limits=self._limits, trust_env=False)
        return await self._secure.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._plain.aclose()
        if self._secure is not None:
            await self._secure.aclose()


class Transport:
    """Sends requests to one service. The key goes only to that service's origin."""

    def __init__(
        self,
        url: str,
        api_key: str | None,
        *,
        timeout: httpx.Timeout = TIMEOUT,
        transport: httpx.AsyncBaseTransport | None = None,
        on_call: Callable[[Call], None] | None = None,
    ) -> None:
        self.move(url, api_key)
        self._on_call = on_call
        # Requests to this machine must bypass a proxy from the environment.
        here = self._url.host in _LOOPBACK
        self._http = httpx.AsyncClient(
            headers={"User-Agent": f"carrel/{version('carrel')}"},
            timeout=timeout,
            limits=_LIMITS,
            transport=transport or (LoopbackTransport(_LIMITS) if here else None),
            trust_env=not here,
        )

    def move(self, url: str, api_key: str | None) -> None:
        """Send later requests to another address. Running ones continue.

        Raises:
            ClientError: the address or the key is invalid.
        """
        try:
            address = httpx.URL(url.rstrip("/"))
        except httpx.InvalidURL as error:
            raise ClientError(f"“{clean_text(url)}” is not an address.") from error
        key = (api_key or "").strip()
        if not key.isascii() or not key.isprintable():
            raise ClientError("The API key holds characters that no key has. Set it again.")
        self._url, self._key = address, key

    @property
    def host(self) -> str:
        """The service's host and port, for display."""
        return _host(self._url)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def call(self, answer: type[T], method: str, path: str, **options: Unpack[Options]) -> T:
        """Send one request and return its JSON answer, cleaned, as `answer`.

        Raises:
            ClientError: the request failed, for the reason that the subclass tells.
        """
        async with self.open(method, path, **options) as response:
            received = await _read_body(response)
        return parse(answer, received, f"{method} {path}")

    async def send(self, method: str, path: str, **options: Unpack[Options]) -> None:
        """Send one request and discard the response body."""
        async with self.open(method, path, **options) as response:
            await _read_body(response)

    @asynccontextmanager
    async def open(
        self, method: str, path: str, **options: Unpack[Options]
    ) -> AsyncIterator[httpx.Response]:
        """Send one request and yield its answer while it arrives; leaving closes it."""
        accept = options.get("accept", _JSON)
        headers = {"Accept": accept}
        if accept != _JSON:
            # A small stream must not decompress into an endless one.
            headers["Accept-Encoding"] = "identity"
        if self._key and not options.get("keyless"):
            headers["Authorization"] = f"Bearer {self._key}"
        if prefer := options.get("prefer"):
            headers["Prefer"] = prefer
        upload = options.get("upload")
        if upload is not None:
            headers |= upload.headers
        request = self._http.build_request(
            method,
            f"{self._url}{path}",
            params=_parameters(options.get("query")),
            json=options.get("body"),
            content=upload,
            headers=headers,
        )
        self._check_without_key(request.url, b"" if upload is not None else request.content)
        if options.get("unhurried"):
            request.extensions["timeout"]["read"] = None
        body, name = options.get("body"), "" if upload is None else upload.name
        async with self._send(request, path, body=body, upload=name) as response:
            yield response

    def _check_without_key(self, url: httpx.URL, content: bytes) -> None:
        """Refuse a text with the key: a name or a question is shown and kept."""
        key = self._key.encode()
        if len(key) >= _LEAST_KEY and (key in content or key in url.raw_path):
            raise ClientError("This text holds the API key of the profile. Nothing was sent.")

    @asynccontextmanager
    async def open_signed(self, url: str) -> AsyncIterator[httpx.Response]:
        """Request a signed address, on whatever host, without the key."""
        try:
            request = self._http.build_request("GET", url, headers={"Accept-Encoding": "identity"})
        except httpx.InvalidURL:
            request = None
        if request is None or request.url.scheme not in ("http", "https") or not request.url.host:
            raise UnexpectedAnswer(f"{self.host} gave an address that cannot be opened.")
        async with self._send(request, SIGNED, follow_redirects=True) as response:
            yield response

    @asynccontextmanager
    async def _send(
        self,
        request: httpx.Request,
        path: str,
        *,
        follow_redirects: bool = False,
        body: Any = None,
        upload: str = "",
    ) -> AsyncIterator[httpx.Response]:
        start = time.monotonic()
        response: httpx.Response | None = None
        try:
            with _explain_errors(_host(request.url)):
                if self._http.is_closed:
                    raise Unreachable("The connection was closed.")
                response = await self._http.send(
                    request, stream=True, follow_redirects=follow_redirects
                )
                most = None if request.headers["accept"] == ANYTHING else _ANSWER_BYTES
                response.stream = calls.Received(response, most)
                if not response.is_success:
                    raise refusal(response, await _read_beginning(response), self._key)
                if request.headers.get("accept-encoding") == "identity":
                    _refuse_compressed(response)
                yield response
        finally:
            if response is not None:
                await response.aclose()
            if self._on_call is not None:
                seconds = time.monotonic() - start
                made = calls.call(
                    request, response, seconds, path=path, key=self._key, body=body, upload=upload
                )
                self._on_call(made)


def path_of(template: str, *parts: str | int) -> str:
    """Return a path with ids filled in, each escaped to a single segment."""
    for part in parts:
        if str(part) in ("", ".", ".."):
            raise ClientError(f"“{part}” is not an id.")
    return template.format(*(quote(str(part), safe="") for part in parts))


@cache
def _adapter(answer: Any) -> TypeAdapter[Any]:
    return TypeAdapter(answer)


def parse(answer: type[T], received: bytes | bytearray | str, what: str) -> T:
    """Parse and clean a JSON answer as `answer`; `what` names the request in an error.

    Raises:
        UnexpectedAnswer: the answer is not JSON, or does not follow the interface.
    """
    try:
        checked = _adapter(cast(Any, answer)).validate_python(clean_json(json.loads(received)))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise UnexpectedAnswer(
            f"The service's answer is not what the interface says ({what}: {where}: "
            f"{first['msg']}). Check the address of this profile."
        ) from None
    except (ValueError, RecursionError) as error:
        raise UnexpectedAnswer(
            f"The service's answer is not JSON ({what}). Check the address of this profile."
        ) from error
    return cast(T, checked)


@contextmanager
def _explain_errors(host: str) -> Iterator[None]:
    try:
        yield
    except httpx.ConnectTimeout as error:
        raise Unreachable(f"{host} does not answer. Check the network and the address.") from error
    except httpx.TimeoutException as error:
        raise Unreachable(f"{host} took too long to answer. Try again.") from error
    except httpx.ConnectError as error:
        raise Unreachable(connection_reason(host, error)) from error
    except (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ProxyError) as error:
        raise Unreachable(f"The connection to {host} was lost. Try again.") from error
    except httpx.HTTPError as error:
        raise UnexpectedAnswer(
            f"{host} sent something that cannot be read ({type(error).__name__})."
        ) from error


def _host(url: httpx.URL) -> str:
    return url.netloc.decode("ascii")


def _parameters(query: BaseModel | dict[str, Any] | None) -> _Pairs:
    if isinstance(query, BaseModel):
        query = query.model_dump(mode="json")
    return [
        (key, item if isinstance(item, str) else json.dumps(item))
        for key, value in (query or {}).items()
        for item in (value if isinstance(value, list) else [value])
        if item is not None
    ]


async def _read_body(response: httpx.Response) -> bytearray:
    """Return an answer's body, decompressed, up to a limit."""
    received = bytearray()
    async for chunk in response.aiter_bytes():
        received += chunk
        if len(received) > _ANSWER_BYTES:
            raise calls.endless(_host(response.request.url), _ANSWER_BYTES)
    return received


def _refuse_compressed(response: httpx.Response) -> None:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnexpectedAnswer(
            f"{_host(response.request.url)} compressed its answer, which was asked not to be."
        )


async def _read_beginning(response: httpx.Response) -> bytes:
    """Return an error's body, up to a limit."""
    received = bytearray()
    try:
        async for chunk in response.aiter_bytes():
            received += chunk
            if len(received) > _ERROR_BYTES:
                break
    except httpx.HTTPError:
        pass  # the status is enough
    return bytes(received)
