"""Pictures in messages, for a model that can see: they travel whole, never by address."""

import asyncio
import base64
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from PIL import Image

from support.process import serve
from support.service import Request, reply, service

pytestmark = pytest.mark.asyncio(loop_scope="module")


def png() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (4, 3), "teal").save(file, "PNG")
    return file.getvalue()


PICTURE = png()
DATA_URL = f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"


class SeeingModel:
    """Says that it can see, and keeps what it was shown."""

    def __init__(self) -> None:
        self.shown: list[dict[str, Any]] = []
        self.targets: list[str] = []

    async def __call__(self, request: Request) -> None:
        self.targets.append(request.target)
        known: dict[str, Any] = {
            "/tokenize": {"tokens": [1, 2]},
            "/v1/models": {"data": [{"id": "seeing"}]},
            "/props": {
                "chat_template_caps": {"supports_tools": True},
                "default_generation_settings": {"n_ctx": 4096},
                "modalities": {"vision": True},
            },
            "/v1/chat/completions/input_tokens": {"input_tokens": 40},
        }
        if request.target == "/v1/chat/completions":
            self.shown = json.loads(request.body)["messages"][-1]["content"]
            delta = {"choices": [{"index": 0, "delta": {"content": "Teal."}}]}
            events = f"data: {json.dumps(delta)}\n\ndata: [DONE]\n\n".encode()
            await request.write(reply(events, content_type="text/event-stream"))
        elif request.target in known:
            await request.write(reply(known[request.target]))
        else:
            await request.write(reply(PICTURE, content_type="image/png"))


class Bench:
    def __init__(self, http: httpx.AsyncClient, model: SeeingModel, model_url: str) -> None:
        self.http = http
        self.model = model
        self.model_url = model_url

    async def show(self, image: str | dict[str, str]) -> httpx.Response:
        content = [
            {"type": "text", "text": "Which colour?"},
            {"type": "image_url", "image_url": image},
        ]
        body = {"model": "seeing", "messages": [{"role": "user", "content": content}]}
        return await self.http.post("/v1/chat/completions", json=body)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bench(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bench]:
    data: Path = tmp_path_factory.mktemp("bench") / "data"
    model = SeeingModel()
    async with service(model) as upstream:
        starting = serve(data, "--model-url", f"{upstream.url}/v1")
        server = await asyncio.to_thread(starting.__enter__)
        headers = {"Authorization": f"Bearer {server.api_key}"}
        async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=30) as http:
            yield Bench(http, model, upstream.url)
        await asyncio.to_thread(starting.__exit__, None, None, None)


@pytest.mark.parametrize("image", [DATA_URL, {"url": DATA_URL, "detail": "high"}])
async def test_a_picture_is_shown_to_a_model_that_sees(
    bench: Bench, image: str | dict[str, str]
) -> None:
    answer = await bench.show(image)
    assert answer.json()["choices"][0]["message"]["content"] == "Teal."
    assert bench.model.shown == [
        {"type": "text", "text": "Which colour?"},
        {"type": "image_url", "image_url": {"url": DATA_URL}},
    ]


async def test_a_file_s_signed_address_is_shown_as_its_bytes(bench: Bench) -> None:
    file = await bench.http.post("/v1/files", files={"file": ("teal.png", PICTURE)})
    signed = await bench.http.get(f"/v1/files/{file.json()['id']}/url")
    assert (await bench.show(signed.json()["url"])).status_code == 200
    assert bench.model.shown[1]["image_url"]["url"] == DATA_URL


async def test_a_private_address_is_reached_by_neither_the_server_nor_the_model(
    bench: Bench,
) -> None:
    bench.model.shown = []
    refused = await bench.show(f"{bench.model_url}/secret.png")
    assert 400 <= refused.status_code < 500
    assert bench.model.shown == []
    assert "/secret.png" not in bench.model.targets


async def test_what_is_no_picture_is_refused(bench: Bench) -> None:
    refused = await bench.show("data:text/plain,hello")
    assert refused.status_code == 400
    assert "no picture" in refused.json()["message"]


@pytest.mark.parametrize(
    ("text", "tokens", "counted"),
    [("Which colour?", 10, False), ("colour " * 150, 10, True), ("Which colour?", 1000, True)],
)
async def test_only_a_prompt_that_may_be_long_is_counted_before_the_model_is_asked(
    bench: Bench, text: str, tokens: int, counted: bool
) -> None:
    bench.model.targets.clear()
    messages = [{"role": "user", "content": text}]
    body = {"model": "seeing", "max_tokens": tokens, "messages": messages}
    answer = await bench.http.post("/v1/chat/completions", json=body)
    assert answer.status_code == 200
    assert ("/v1/chat/completions/input_tokens" in bench.model.targets) is counted
