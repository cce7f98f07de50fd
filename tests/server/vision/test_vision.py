"""A vision model reads pages beside the built-in reader: a scripted one, and a real llama.cpp."""

import asyncio
import base64
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from carrel.server.models import weights
from carrel.server.models.process import EmbeddedProcess
from carrel.server.settings import FolderSettings, ServerSettingsError, VisionModel
from carrel.server.vision import client as vision_client
from carrel.server.vision.client import ModelRefuses, PageUnread, VisionClient
from support.documents import TEXT, digital_pdf, picture
from support.libraries import connect
from support.office import slide_text, slides_file
from support.process import RunningServer, serve
from support.service import Answer, Request, Service, reply, service

pytestmark = pytest.mark.timeout(120)

KEY = "sk-very-secret-7713"
INVENTED = TEXT.replace("a week", "a fortnight")
"""The page's text with words that are not on it."""


def said(text: str, reason: str = "stop") -> bytes:
    """A finished chat completion."""
    return reply({"choices": [{"message": {"content": text}, "finish_reason": reason}]})


@dataclass
class Setup:
    """A server whose settings name a scripted vision model."""

    server: RunningServer
    model: Service
    folder: Path

    async def ocr(self, path: Path, model: str | None = None, **fields: Any) -> list[Any]:
        """The pages of a document."""
        return await asyncio.to_thread(self._ocr, path, model, fields)

    def _ocr(self, path: Path, model: str | None, fields: dict[str, Any]) -> list[Any]:
        with connect(self.server) as http, path.open("rb") as file:
            http.timeout = httpx.Timeout(100)
            id = http.post("/v1/files", files={"file": file}).json()["id"]
            document = {"type": "file", "file_id": id}
            answer = http.post("/v1/ocr", json={"model": model, "document": document, **fields})
        pages: list[Any] = answer.raise_for_status().json()["pages"]
        return pages


@asynccontextmanager
async def setup(folder: Path, *answers: Answer, pages: str = "named") -> AsyncIterator[Setup]:
    data = folder / "data"
    data.mkdir()
    async with service(*answers) as model:
        (data / "settings.toml").write_text(
            f'ocr_url = "{model.url}/v1"\nocr_model = "seer"\nocr_key = "{KEY}"\n'
            f'ocr_for = "{pages}"\n'
        )
        running = serve(data)
        server = await asyncio.to_thread(running.__enter__)
        try:
            yield Setup(server, model, folder)
        finally:
            await asyncio.to_thread(running.__exit__, None, None, None)


async def test_a_request_that_names_the_model_gets_its_reading_beside_the_built_in_one(
    tmp_path: Path,
) -> None:
    page = picture(tmp_path / "page.png")
    async with setup(tmp_path, said(f"```markdown\n# Rules\n\n{INVENTED}\n```")) as at:
        fields = {"confidence_scores_granularity": "word", "include_blocks": True}
        [read] = await at.ocr(page, "seer", **fields)
        [again] = await at.ocr(page, "seer", **fields)
        [built_in] = await at.ocr(page)
        [asked] = at.model.requests
        log = at.server.log
    assert again == read, "it was kept"
    assert read["markdown"] == f"# Rules\n\n{INVENTED}"
    assert read["vision"]["model"] == "seer"
    assert read["vision"]["built_in_markdown"] == built_in["markdown"]
    assert 0.8 < read["vision"]["agreement"] < 1
    assert "vision" not in built_in
    scores = read["confidence_scores"]["word_confidence_scores"]
    doubtful = {score["text"].strip() for score in scores if score["confidence"] < 0.7}
    assert doubtful == {"Rules", "fortnight."}
    title, text = read["blocks"]
    assert (title["type"], title["top_left_x"]) == ("title", None)
    assert text["content"] == INVENTED
    assert 0 < text["top_left_x"] < text["bottom_right_x"] <= read["dimensions"]["width"]
    body = json.loads(asked.body)
    url = body["messages"][0]["content"][1]["image_url"]["url"]
    shown = Image.open(io.BytesIO(base64.b64decode(url.removeprefix("data:image/jpeg;base64,"))))
    with Image.open(page) as drawn:
        assert shown.size == drawn.size
    assert body["model"] == "seer"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in log


async def test_the_models_are_listed(tmp_path: Path) -> None:
    async with setup(tmp_path, said("")) as at:
        with connect(at.server) as http:
            cards = await asyncio.to_thread(lambda: http.get("/v1/models").json()["data"])
    assert [card["id"] for card in cards if card["capabilities"]["ocr"]][:2] == [
        "carrel-ocr", "seer",
    ]  # fmt: skip


async def test_doubtful_pages_alone_are_shown_to_the_model(tmp_path: Path) -> None:
    clean = picture(tmp_path / "clean.png")
    pages = tmp_path / "pages.tiff"
    with Image.open(picture(tmp_path / "sharp.png", size=24)) as sharp, Image.open(clean) as good:
        tiny = sharp.resize((sharp.width // 6, sharp.height // 6), Image.Resampling.BILINEAR)
        coarse = tiny.resize(sharp.size, Image.Resampling.BICUBIC)
        coarse.save(pages, save_all=True, append_images=[good])
    async with setup(tmp_path, said("As the model reads it."), pages="doubtful") as at:
        first, second = await at.ocr(pages)
        built_in = await at.ocr(pages, "carrel-ocr")
        assert len(at.model.requests) == 1
    assert first["markdown"] == "As the model reads it."
    assert "vision" not in second
    assert "reading room opens" in second["markdown"]
    assert all("vision" not in page for page in built_in)


async def test_a_page_that_fails_falls_back_and_is_asked_for_again(tmp_path: Path) -> None:
    page = picture(tmp_path / "page.png")
    cut_off, busy = said("over and over and over", "length"), reply({}, 503)
    async with setup(tmp_path, cut_off, busy, said(TEXT), pages="all") as at:
        [failed] = await at.ocr(page)
        [read] = await at.ocr(page)
        requests = len(at.model.requests)
    assert "reading room opens" in failed["markdown"]
    assert failed["vision"] == {
        "model": "seer", "error": "the model's answer was cut off at its longest length",
    }  # fmt: skip
    assert read["vision"]["agreement"] == 1
    assert requests == 3, "the busy address was asked again"


async def test_a_refusal_spares_the_other_pages_and_shows_no_key(tmp_path: Path) -> None:
    refused = reply({"error": {"message": f"{KEY} may not send images"}}, 400)
    async with setup(tmp_path, refused, pages="all") as at:
        read = await at.ocr(digital_pdf(tmp_path / "a.pdf", pages=12))
        log, requests = at.server.log, len(at.model.requests)
    errors = {page["vision"]["error"] for page in read}
    assert errors == {"the model refuses the page: … may not send images"}
    assert all("Rules of the Reading Room" in page["markdown"] for page in read)
    assert requests <= 2 * vision_client.AT_ONCE
    assert KEY not in log


async def test_several_pages_are_read_at_once_and_office_documents_by_their_own_text(
    tmp_path: Path,
) -> None:
    under_way = most = 0
    together = asyncio.Event()

    async def answer(request: Request) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if under_way == vision_client.AT_ONCE:
            together.set()
        await asyncio.wait_for(together.wait(), 30)
        under_way -= 1
        await request.write(said(TEXT))

    slides = slides_file(tmp_path / "a.pptx", [slide_text(2, "One slide")])
    async with setup(tmp_path, answer, pages="all") as at:
        read = await at.ocr(digital_pdf(tmp_path / "a.pdf", pages=9))
        [slide] = await at.ocr(slides)
    assert [page["markdown"] for page in read] == [TEXT] * 9
    assert most == vision_client.AT_ONCE
    assert slide["markdown"] == "One slide"
    assert "vision" not in slide


@pytest.fixture
def jpeg() -> bytes:
    encoded = io.BytesIO()
    Image.new("RGB", (64, 64), "white").save(encoded, "JPEG")
    return encoded.getvalue()


async def _refusal(model: VisionModel, jpeg: bytes) -> PageUnread:
    client = VisionClient(model)
    try:
        with pytest.raises(PageUnread) as caught:
            await client.read(jpeg)
    finally:
        await client.close()
    return caught.value


async def test_llama_cpp_without_a_vision_model_is_a_clear_refusal(jpeg: bytes) -> None:
    process = EmbeddedProcess(weights.built_in_weights)
    try:
        async with process.address() as address:
            error = await _refusal(VisionModel(address.url, "any", address.key), jpeg)
            wrong_key = await _refusal(VisionModel(address.url, "any", KEY), jpeg)
    finally:
        await process.stop()
    assert isinstance(error, ModelRefuses)
    assert "image" in str(error)
    assert "refuses the key: correct ocr_key" in str(wrong_key)


async def test_a_silent_address_and_an_absent_one_are_errors_in_words(
    jpeg: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vision_client, "PAGE_SECONDS", 0.2)
    monkeypatch.setattr(vision_client, "_ATTEMPT_DELAYS", (0.01, 0.01))

    async def silent(request: Request) -> None:
        await request.closed()

    async with service(silent) as model:
        error = await _refusal(VisionModel(model.url, "seer"), jpeg)
        assert len(model.requests) == 1
    assert str(error).startswith("no answer from the model in")
    error = await _refusal(VisionModel(model.url, "seer"), jpeg)
    assert str(error) == "the model's address does not answer"
    for body in (b"<html>", reply([]), reply({"choices": [{"message": {"content": None}}]})):
        answer = body if body.startswith(b"HTTP") else reply(body)
        async with service(answer) as model:
            error = await _refusal(VisionModel(model.url, "seer"), jpeg)
        assert "answer" in str(error)


def test_an_address_needs_its_model(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('ocr_url = "http://localhost:1/v1"')
    with pytest.raises(ServerSettingsError, match="ocr_url needs ocr_model"):
        FolderSettings.load(path)
