"""Summaries come after everything else, and once for each text."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI

from carrel.server.errors import ApiError
from carrel.server.http.middleware import Authenticate
from carrel.server.library import summaries
from carrel.server.library.summaries import Summaries
from carrel.server.models.engine import Engine, ModelSession
from carrel.server.models.weights import built_in_weights
from carrel.server.routes import documents
from carrel.wire.documents import Document
from carrel.wire.models import ModelCapabilities, ModelCard
from support.processing import Lab
from support.sockets import serving

_HERONS = (
    "The grey heron is a tall bird. It stands still in shallow water and waits for fish."
    " It nests in high trees, together with many others."
)


class ScriptedEngine:
    """A model that says what it was asked last, and how often it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails = False
        self.is_built_in = False

    async def models(self) -> list[ModelCard]:
        """One."""
        return [ModelCard(id="m", capabilities=ModelCapabilities())]

    @asynccontextmanager
    async def session(self) -> AsyncIterator["ScriptedEngine"]:
        """Itself."""
        yield self

    answer = ModelSession.answer

    async def stream(self, body: dict[str, Any], tokens: int) -> AsyncGenerator[dict[str, Any]]:
        """An answer in two pieces."""
        self.asked.append(body["messages"][0]["content"])
        if self.fails:
            raise ApiError(503, "There is no model.")
        for text in ("About ", f"number {len(self.asked)}.\n"):
            yield {"choices": [{"delta": {"content": text}}]}
        yield {"choices": [], "usage": {"total_tokens": 7}}


async def _long_text() -> str:
    return _HERONS


@pytest.fixture
async def engine(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedEngine]:
    """The model of running summaries."""
    monkeypatch.setattr(summaries, "QUIET_SECONDS", 0)
    monkeypatch.setattr(summaries, "LOOK_SECONDS", 0.01)
    lab.reader.script = _long_text
    engine = ScriptedEngine()
    work = Summaries(lab.database, lambda: cast(Engine, engine), lambda: lab.service.active > 0)
    task = asyncio.create_task(work.run())
    yield engine
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _summary(
    lab: Lab, document: Any, other_than: str | None = None, seconds: float = 10
) -> str:
    async with asyncio.timeout(seconds):
        while True:
            now = await lab.get(document)
            if now.summary not in (None, other_than):
                return str(now.summary)
            await asyncio.sleep(0.01)


async def _answer(lab: Lab, document: Document) -> dict[str, Any]:
    """The document as a client gets it."""
    app = FastAPI()
    app.include_router(documents.router)
    app.add_middleware(Authenticate, access=lab.access)
    app.state.server = SimpleNamespace(database=lab.database)
    headers = {"authorization": f"Bearer {lab.api_key}"}
    path = f"/v1/libraries/{document.library_id}/documents/{document.id}"
    async with serving(app) as port, httpx.AsyncClient(headers=headers) as http:
        return dict((await http.get(f"http://127.0.0.1:{port}{path}")).json())


async def test_a_done_document_gets_a_summary(lab: Lab, engine: ScriptedEngine) -> None:
    document = await lab.until(await lab.add(await lab.new_library()), "done")
    main = (await lab.get(document)).tokens_processing_main_content
    assert await _summary(lab, document) == "About number 1."
    assert _HERONS in engine.asked[0]
    now = await lab.get(document)
    assert now.tokens_processing_summary == 7
    assert now.tokens_processing_total == (main or 0) + 7


async def test_new_text_gets_a_new_summary(lab: Lab, engine: ScriptedEngine) -> None:
    library_id = await lab.new_library()
    document = await lab.until(await lab.add(library_id), "done")
    first = await _summary(lab, document)
    await lab.service.reprocess(lab.caller, library_id, document.id)
    assert await _summary(lab, document, other_than=first) == "About number 2."


async def test_few_words_are_their_own_summary(lab: Lab, engine: ScriptedEngine) -> None:
    async def few_words() -> str:
        return "# Notice\n\n![img-0.jpeg](img-0.jpeg)\n\nThe room is closed.\n"

    lab.reader.script = few_words
    document = await lab.until(await lab.add(await lab.new_library()), "done")
    assert await _summary(lab, document) == "Notice The room is closed."
    assert engine.asked == []
    answer = await _answer(lab, document)
    assert answer["summary"] == "Notice The room is closed."
    assert answer["tokens_processing_summary"] == 0


async def test_without_a_model_it_waits(lab: Lab, engine: ScriptedEngine) -> None:
    engine.fails = True
    document = await lab.until(await lab.add(await lab.new_library()), "done")
    async with asyncio.timeout(10):
        while len(engine.asked) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert (await lab.get(document)).process_status == "done"
    engine.fails = False
    assert (await _summary(lab, document)).startswith("About")


async def test_the_built_in_test_model_invents_none(lab: Lab, engine: ScriptedEngine) -> None:
    engine.is_built_in = True
    document = await lab.until(await lab.add(await lab.new_library()), "done")
    await asyncio.sleep(0.2)
    assert ((await lab.get(document)).summary, engine.asked) == (None, [])
    engine.is_built_in = False
    assert (await _summary(lab, document)).startswith("About")


async def test_the_embedded_model_makes_a_summary(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.reader.script = _long_text
    monkeypatch.setattr(summaries, "QUIET_SECONDS", 0)
    model = Engine(model_path=built_in_weights())
    document = await lab.until(await lab.add(await lab.new_library()), "done")
    task = asyncio.create_task(Summaries(lab.database, lambda: model, lambda: False).run())
    try:
        summary = await _summary(lab, document, seconds=60)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await model.stop()
    assert len(summary.split()) > 3
    assert ((await lab.get(document)).tokens_processing_summary or 0) > 30
