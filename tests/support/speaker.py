"""A service whose agent answers on time: so many tokens a second, whatever the reader does."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from support.scripted import AGENT

TOKEN = 4
"""Characters of a token."""

END = "That was all."
"""How every answer ends."""

_PARTS = (
    "## Notice\n\nThe **notice period** is *three months* to the end of a quarter, as `§ 4` has it."
    " Notice must be given in writing, and it goes to the address above. " + "More of it. " * 20,
    "1. Notice is given in writing.\n2. It goes to the address above.\n3. It counts from the day"
    " on which it arrives.",
    "| Year | Rent     |\n|------|----------|\n| 2024 | 1,200.00 |\n| 2025 | 1,240.00 |",
    "```python\n"
    + "def rent(year: int) -> float:\n    return 1200 * 1.03 ** (year - 2024)\n" * 4
    + "```",
)


def speech(characters: int) -> str:
    """A Markdown text of about that length: headings, prose, lists, tables and code."""
    text = "\n\n".join(_PARTS) + "\n\n"
    return text * (characters // len(text)) + END


def speaker(characters: int, rate: int) -> ASGIApp:
    """The service; `rate` in tokens a second."""

    async def known(request: Request) -> JSONResponse:
        return JSONResponse(
            {
                "/v1/models": {"data": [{"id": "large", "max_context_length": 8192}]},
                "/v1/agents/agent": AGENT,
                "/v1/agents": [AGENT],
            }.get(request.url.path, {})
        )

    async def answer(request: Request) -> StreamingResponse:
        return StreamingResponse(_events(characters, rate), media_type="text/event-stream")

    return Starlette(
        routes=[
            Route("/v1/agents/completions", answer, methods=["POST"]),
            Route("/{path:path}", known),
        ]
    )


async def _events(characters: int, rate: int) -> AsyncIterator[str]:
    began = time.perf_counter()
    for number, token in enumerate(_tokens(speech(characters))):
        if (early := began + number / rate - time.perf_counter()) > 0:
            await asyncio.sleep(early)
        yield _event({"content": token}, None)
    yield _event({}, "stop")
    yield "data: [DONE]\n\n"


def _tokens(text: str) -> Iterator[str]:
    return (text[at : at + TOKEN] for at in range(0, len(text), TOKEN))


def _event(delta: dict[str, str], reason: str | None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return f"data: {json.dumps({'id': 'c', 'model': 'm', 'choices': [choice]})}\n\n"
