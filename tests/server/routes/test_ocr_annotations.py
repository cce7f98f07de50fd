"""Annotations over the wire, by a model that sees and counts tokens."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from support.office import png, slide_picture, slide_text, slides_file
from support.process import serve
from support.service import Request, reply, service

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCHEMA = {
    "type": "object",
    "properties": {"what": {"type": "string"}},
    "required": ["what"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "shown", "schema": SCHEMA}}
ANSWER = '{"what": "a teal field"}'


class SeeingModel:
    """Sees pictures, takes four letters for a token, and always says the same."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    async def __call__(self, request: Request) -> None:
        if request.target == "/tokenize":
            text = json.loads(request.body)["content"]
            await request.write(reply({"tokens": [0] * (len(text) // 4)}))
        elif request.target == "/v1/chat/completions":
            self.asked.append(json.loads(request.body))
            delta = {"choices": [{"index": 0, "delta": {"content": ANSWER}}]}
            events = f"data: {json.dumps(delta)}\n\ndata: [DONE]\n\n".encode()
            await request.write(reply(events, content_type="text/event-stream"))
        elif request.target == "/props":
            props = {
                "chat_template_caps": {},
                "default_generation_settings": {"n_ctx": 2048},
                "modalities": {"vision": True},
            }
            await request.write(reply(props))
        else:
            await request.write(reply({"data": [{"id": "seeing"}]}))


class Bench:
    def __init__(self, http: httpx.AsyncClient, model: SeeingModel) -> None:
        self.http = http
        self.model = model

    async def ocr(self, path: Path, **fields: Any) -> dict[str, Any]:
        self.model.asked.clear()
        content = await asyncio.to_thread(path.read_bytes)
        file = await self.http.post("/v1/files", files={"file": (path.name, content)})
        body = {"model": None, "document": {"file_id": file.json()["id"]}, **fields}
        answer = await self.http.post("/v1/ocr", json=body)
        assert answer.status_code == 200, answer.text
        result: dict[str, Any] = answer.json()
        return result


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bench(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bench]:
    data: Path = tmp_path_factory.mktemp("bench") / "data"
    model = SeeingModel()
    async with service(model) as upstream:
        starting = serve(data, "--model-url", f"{upstream.url}/v1")
        server = await asyncio.to_thread(starting.__enter__)
        headers = {"Authorization": f"Bearer {server.api_key}"}
        async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60) as http:
            yield Bench(http, model)
        await asyncio.to_thread(starting.__exit__, None, None, None)


@pytest.fixture
def slides(tmp_path: Path) -> Path:
    shapes = slide_text(2, "Two fields", placeholder="title") + slide_picture(3, 20)
    return slides_file(tmp_path / "a.pptx", [shapes, shapes], picture=png(50, 30))


async def test_each_picture_is_shown_and_annotated(bench: Bench, slides: Path) -> None:
    result = await bench.ocr(slides, bbox_annotation_format=FORMAT)
    images = [image for page in result["pages"] for image in page["images"]]
    assert [image["image_annotation"] for image in images] == [ANSWER] * 2
    assert all(image.get("image_base64") is None for image in images), "nobody asked for it"
    assert len(bench.model.asked) == 2
    text, shown = bench.model.asked[0]["messages"][-1]["content"]
    assert "Two fields" in text["text"]
    assert shown["image_url"]["url"].startswith("data:image/jpeg;base64,")


async def test_pictures_that_were_asked_for_come_with_their_annotations(
    bench: Bench, slides: Path
) -> None:
    result = await bench.ocr(
        slides, bbox_annotation_format=FORMAT, include_image_base64=True, pages=[1]
    )
    ((image,),) = [page["images"] for page in result["pages"]]
    assert image["image_annotation"] == ANSWER
    assert image["image_base64"].startswith("data:image/jpeg;base64,")


async def test_the_whole_selection_is_annotated_in_one_request(bench: Bench, slides: Path) -> None:
    result = await bench.ocr(
        slides, document_annotation_format=FORMAT, document_annotation_prompt="What is shown?"
    )
    assert result["document_annotation"] == ANSWER
    (asked,) = bench.model.asked
    question = asked["messages"][-1]["content"]
    assert question.startswith("What is shown?")
    assert question.count("Two fields") == 2
    assert "document_annotation_condensed" not in result["usage_info"]


async def test_a_document_longer_than_the_context_is_condensed_and_the_usage_says_so(
    bench: Bench, tmp_path: Path
) -> None:
    path = tmp_path / "long.txt"
    await asyncio.to_thread(path.write_text, "A long document. " + "Many words. " * 2000)
    result = await bench.ocr(path, document_annotation_format=FORMAT)
    assert result["usage_info"]["document_annotation_condensed"] is True
    question = bench.model.asked[0]["messages"][-1]["content"]
    assert "A long document." in question
    assert len(question) // 4 < 2048
