"""A client of an OpenAI-compatible address."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx
from httpx_sse import EventSource, SSEError
from pydantic_core import from_json

from carrel.server.errors import ApiError

_CONNECT_SECONDS = 10
_LIMITS = {"timeout": httpx.Timeout(None, connect=_CONNECT_SECONDS).as_dict()}
_END_SECONDS = 0.1
"""Time to read a response to its end, else the connection is closed."""
_BYTES_PER_TOKEN = 4
"""The estimate for an address without a tokenizer."""
_RETRY_SECONDS = 3
# Statuses of an address or a model without embeddings.
_NOT_OFFERED = (404, 405, 501)


@dataclass(frozen=True)
class ModelAddress:
    """A model's base address, to which `/chat/completions` is added, its key and default model."""

    url: str
    key: str | None = field(default=None, repr=False)
    model: str | None = None
    """The model to list first; without it, the order is the address's own."""


@dataclass(frozen=True)
class Abilities:
    """The properties that an address reports; None if it does not."""

    models: dict[str, int | None] = field(default_factory=dict)
    """Context lengths by model name."""
    context_length: int | None = None
    """The context length of models without one of their own."""
    tools: bool | None = None
    images: bool | None = None
    llama: bool = False
    """Whether it is llama.cpp, which enforces JSON schemas, counts tokens and has more samplers."""

    @property
    def default_model(self) -> str | None:
        """The first of the models."""
        return next(iter(self.models), None)

    def context_of(self, model: str | None) -> int | None:
        """Return the context length of a model, in tokens."""
        return self.models.get(model or "") or self.context_length


@dataclass(frozen=True)
class PassedOn:
    """The answer of an address, as it came."""

    content: bytes
    media_type: str


class ModelClient:
    """A client of one address."""

    def __init__(self, http: httpx.AsyncBaseTransport, address: ModelAddress) -> None:
        self._http = http
        self._url = address.url.rstrip("/")
        self._root = self._url.removesuffix("/v1")
        self._first = address.model
        self._headers = {"user-agent": "carrel"}
        if address.key:
            self._headers["authorization"] = f"Bearer {address.key}"

    async def abilities(self, known: Abilities | None = None) -> Abilities:
        """Return the properties of the address: `known` again if it still lists the same models.

        Raises:
            ApiError: 503, the address does not answer.
        """
        listed = await self._ask("GET", f"{self._url}/models")
        models = {
            str(card["id"]): _whole_number(card.get("max_model_len"))
            for card in listed.get("data") or ()
            if isinstance(card, dict) and card.get("id")
        }
        if self._first in models:
            models = {self._first: models[self._first], **models}
        if known is not None and known.models == models:
            return known
        props: dict[str, Any] = {}
        with suppress(ApiError):
            props = await self._ask("GET", f"{self._root}/props")
        # Only llama.cpp reports this field.
        if "chat_template_caps" in props:
            return Abilities(
                models=models,
                context_length=props["default_generation_settings"]["n_ctx"],
                tools=bool(props["chat_template_caps"].get("supports_tools")),
                images=bool((props.get("modalities") or {}).get("vision")),
                llama=True,
            )
        return Abilities(models)

    async def take_turn(self) -> None:
        """Wait for one turn of llama.cpp's loop, which serves all requests.

        Raises:
            ApiError: nothing answers there.
        """
        # Its health is answered beside the loop.
        await self._send("GET", f"{self._root}/lora-adapters")

    async def count_tokens(self, text: str) -> int:
        """Return the tokens of a text, estimated if the address has no tokenizer."""
        try:
            answer = await self._ask("POST", f"{self._root}/tokenize", json={"content": text})
            return len(answer["tokens"])
        except (ApiError, KeyError, TypeError):
            return -(-len(text.encode()) // _BYTES_PER_TOKEN)

    async def count_prompt(self, body: dict[str, Any]) -> int | None:
        """Return a conversation's tokens in the model's template if the address reports them."""
        try:
            answer = await self._ask(
                "POST", f"{self._url}/chat/completions/input_tokens", json=body
            )
            return int(answer["input_tokens"])
        except (ApiError, KeyError, TypeError):
            return None

    async def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the vectors of texts.

        Raises:
            ApiError: 400, this model has none; or the address refused or failed.
        """
        response = await self._send("POST", f"{self._url}/embeddings", json=body)
        if response.status_code in _NOT_OFFERED:
            raise ApiError(
                400,
                f"The model {str(body['model'])[:80]} offers no embeddings. Choose another.",
                param="model",
            )
        return _answer(response)

    async def pass_on(self, path: str, content: bytes, kind: str) -> PassedOn | None:
        """Pass a request on unread; return None where the address has no such route.

        Raises:
            ApiError: the address refused or failed.
        """
        headers = {"content-type": kind}
        response = await self._send("POST", f"{self._url}{path}", content=content, headers=headers)
        if response.status_code in _NOT_OFFERED:
            return None
        if response.status_code != 200:
            raise _refusal_of(response)
        return PassedOn(response.content, response.headers.get("content-type", "application/json"))

    async def stream(self, body: dict[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """Yield the chunks of one completion. Closing the iterator closes the connection.

        Raises:
            ApiError: the address refused, failed or broke off: it ended the stream without a
                finish reason and without `[DONE]`.
        """
        body = {**body, "stream": True, "stream_options": {"include_usage": True}}
        finished = False
        try:
            async with self._open("POST", f"{self._url}/chat/completions", json=body) as response:
                if response.status_code != 200:
                    await response.aread()
                    raise _refusal_of(response)
                async with aclosing(EventSource(response).aiter_sse()) as events:
                    async for event in events:
                        if event.data == "[DONE]":
                            await _end(events)
                            return
                        chunk = _chunk(event.data)
                        finished = finished or any(
                            choice.get("finish_reason") for choice in chunk.get("choices") or ()
                        )
                        yield chunk
        except (httpx.HTTPError, SSEError) as error:
            raise unreachable() from error
        if not finished:
            raise unreachable()

    async def _ask(self, method: str, url: str, **options: Any) -> dict[str, Any]:
        return _answer(await self._send(method, url, **options))

    async def _send(self, method: str, url: str, **options: Any) -> httpx.Response:
        try:
            async with self._open(method, url, **options) as response:
                await response.aread()
                return response
        except httpx.HTTPError as error:
            raise unreachable() from error

    @asynccontextmanager
    async def _open(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, **options: Any
    ) -> AsyncIterator[httpx.Response]:
        # The transport without a client: cookies, redirects and merged addresses only take time.
        request = httpx.Request(
            method, url, headers={**self._headers, **(headers or {})}, extensions=_LIMITS, **options
        )
        response = await self._http.handle_async_request(request)
        try:
            yield response
        finally:
            await response.aclose()


class ReusingTransport(httpx.AsyncBaseTransport):
    """Reuses connections, and retries once on a new one if a reused one turns out closed.

    llama.cpp closes a connection after a stream without notice, sometimes just as it is
    reused. No answer was sent then, and a completion is safe to
    retry.
    """

    def __init__(self) -> None:
        self._kept = _transport(keepalive=8)
        self._new = _transport(keepalive=0)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the head of the answer."""
        try:
            return await self._kept.handle_async_request(request)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            return await self._new.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._kept.aclose()
        await self._new.aclose()


def _transport(keepalive: int) -> httpx.AsyncHTTPTransport:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=keepalive)
    return httpx.AsyncHTTPTransport(verify=_certificates(), limits=limits, trust_env=False)


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


def _answer(response: httpx.Response) -> dict[str, Any]:
    if response.status_code != 200:
        raise _refusal_of(response)
    with suppress(ValueError):
        answer = response.json()
        if isinstance(answer, dict):
            return answer
    raise unreachable()


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) else None


async def _end(events: AsyncIterator[object]) -> None:
    """Read a response to its end, so that the connection can be reused."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_END_SECONDS):
            async for _ in events:
                pass


def _chunk(data: str) -> dict[str, Any]:
    try:
        # This takes half the time of the standard library.
        chunk = from_json(data)
    except ValueError as error:
        raise unreachable() from error
    if not isinstance(chunk, dict):
        raise unreachable()
    if "error" in chunk:
        raise _failure(error_message(chunk))
    return chunk


def _refusal_of(response: httpx.Response) -> ApiError:
    """Return the error of an unsuccessful response."""
    try:
        said = error_message(response.json())
    except ValueError:
        said = ""
    status = response.status_code
    if status in (400, 413, 422):
        return ApiError(400, said or "The language model refused this request.")
    if status in (401, 403):
        return ApiError(
            503,
            "The language model's address refuses this server's key. Correct model_key in the"
            " server's settings.",
        )
    if status == 404:
        return ApiError(
            503,
            "There is no OpenAI-compatible service at the language model's address. Check"
            " --model-url; it usually ends in /v1.",
        )
    if status == 429:
        wait = response.headers.get("retry-after", "")
        return ApiError(
            429,
            said or "The language model is busy. Try again later.",
            code="1300",
            headers={"retry-after": wait if wait.isdecimal() else str(_RETRY_SECONDS)},
        )
    return _failure(said)


def error_message(body: Any) -> str:
    """Return an address's own words in the body of an error, empty if it has none."""
    error = body.get("error", body) if isinstance(body, dict) else None
    if isinstance(error, dict):
        error = error.get("message")
    return error if isinstance(error, str) else ""


def _failure(said: str) -> ApiError:
    return ApiError(503, f"The language model failed: {said or 'it did not say why'}. Try again.")


def unreachable() -> ApiError:
    """Return the error of an address that does not answer, or answers wrongly."""
    return ApiError(
        503,
        "The language model does not answer, or broke off. Try again; if that fails too, see the"
        " server's log and check the model's address.",
        headers={"retry-after": str(_RETRY_SECONDS)},
    )


def retry_after(error: ApiError) -> float:
    """Return the seconds after which an error may be over."""
    return float((error.headers or {}).get("retry-after", _RETRY_SECONDS))
