"""Asks a vision model at an OpenAI-compatible address for the text of a page."""

import asyncio
import base64
import re

import httpx

from carrel.server.models.address import error_message
from carrel.server.settings import VisionModel
from carrel.text import clean_text

AT_ONCE = 4
"""Most pages that a model reads at the same time."""
PAGE_SECONDS = 120.0
"""Time-out of one attempt at a page."""
_ATTEMPT_DELAYS = (1.0, 4.0)
"""Seconds before each retry, unless the address asks for longer."""
_MOST_DELAY = 30.0
"""Longest pause that a busy service may ask for."""
_CONNECT_SECONDS = 10.0
_MOST_LETTERS = 200
"""Most letters of an address's own error that are repeated."""
_PROMPT = (
    "Transcribe this page into Markdown, word for word and in reading order. Write headings with"
    " #, tables as Markdown tables and formulas as LaTeX between dollar signs. Keep the page's"
    " language and spelling. Write nothing that is not on the page: no comment, no description of"
    " pictures, no code fence around the answer. Where a word cannot be read, write [illegible]."
)
_FENCE = re.compile(r"\A\s*```(?:markdown|md)?[ \t]*\n(.*?)\n```\s*\Z", re.DOTALL)


class PageUnread(Exception):
    """The model did not read a page; the message is fit to be shown and holds no key."""


class ModelRefuses(PageUnread):
    """The address refuses every page, as for a model without vision."""


class VisionClient:
    """A client of one vision model. Close it after use."""

    def __init__(self, model: VisionModel) -> None:
        self._model = model
        self._url = model.url.rstrip("/")
        self._http = httpx.AsyncClient(
            timeout=httpx.Timeout(PAGE_SECONDS, connect=_CONNECT_SECONDS),
            headers={"authorization": f"Bearer {model.key}"} if model.key else {},
            trust_env=False,
        )
        self._places = asyncio.Semaphore(AT_ONCE)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def read(self, jpeg: bytes) -> str:
        """Return the Markdown of a page; empty for a blank one.

        Raises:
            PageUnread: the model does not answer, or not to the end.
            ModelRefuses: it refuses the page and would refuse the next one.
        """
        async with self._places:
            for delay in _ATTEMPT_DELAYS:
                try:
                    return await self._ask(jpeg)
                except _Busy as busy:
                    await asyncio.sleep(min(busy.seconds or delay, _MOST_DELAY))
            return await self._ask(jpeg)

    async def _ask(self, jpeg: bytes) -> str:
        picture = f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"
        content = [
            {"type": "text", "text": _PROMPT},
            {"type": "image_url", "image_url": {"url": picture}},
        ]
        body = {
            "model": self._model.name,
            "messages": [{"role": "user", "content": content}],
            "temperature": 0,
        }
        try:
            # httpx counts the time between bytes, which some servers send to keep a connection.
            async with asyncio.timeout(PAGE_SECONDS):
                answer = await self._http.post(f"{self._url}/chat/completions", json=body)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise PageUnread(f"no answer from the model in {PAGE_SECONDS:.0f} seconds") from error
        except httpx.HTTPError as error:
            raise _Busy("the model's address does not answer") from error
        if answer.status_code != 200:
            raise _failure(answer)
        return _markdown(answer)


class _Busy(PageUnread):
    """A temporary failure."""

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


def _failure(answer: httpx.Response) -> PageUnread:
    status, reported = answer.status_code, _message(answer)
    if status in (401, 403):
        return ModelRefuses("the model's address refuses the key: correct ocr_key")
    if status == 404:
        return ModelRefuses(
            "the address does not offer this model: check ocr_url, which usually ends in /v1, and"
            " ocr_model"
        )
    # llama.cpp answers 500 to a picture for a model without a projector.
    if (status < 500 and status not in (408, 429)) or "image" in reported.lower():
        return ModelRefuses(f"the model refuses the page: {reported or f'status {status}'}")
    wait = answer.headers.get("retry-after", "")
    seconds = float(wait) if wait.isdecimal() else None
    return _Busy(f"the model failed: {reported or f'status {status}'}", seconds)


def _message(answer: httpx.Response) -> str:
    """Return the address's own error, on one line, without the request's key."""
    try:
        error = error_message(answer.json())
    except ValueError:
        return ""
    key = answer.request.headers.get("authorization", "").removeprefix("Bearer ")
    if key:
        error = error.replace(key, "…")
    return " ".join(clean_text(error).split())[:_MOST_LETTERS]


def _markdown(answer: httpx.Response) -> str:
    """Return the text of a finished answer.

    Raises:
        PageUnread: it is empty or was cut off, as the answers of models that repeat themselves are.
    """
    try:
        choice = answer.json()["choices"][0]
        text = choice["message"]["content"]
    except (ValueError, LookupError, TypeError) as error:
        raise PageUnread("the model's answer is no chat completion") from error
    if not isinstance(text, str):
        raise PageUnread("the model's answer has no text")
    if choice.get("finish_reason") == "length":
        raise PageUnread("the model's answer was cut off at its longest length")
    fenced = _FENCE.match(text)
    return clean_text(fenced[1] if fenced else text).strip()
