"""Embeddings: of the server's own weights, over the wire, and of a model at an address."""

import base64
import json
import math
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from carrel.server.errors import ApiError
from carrel.server.models.address import ModelAddress
from carrel.server.models.engine import Engine
from carrel.server.models.vectors.embedder import Embedder
from carrel.server.models.vectors.embeddings import Embeddings
from carrel.wire.generation.embeddings import EmbeddingList, EmbeddingRequest
from support.service import Request, Service, reply, service


def embed(http: httpx.Client, input: str | list[str], **options: Any) -> dict[str, Any]:
    body = {"model": "mistral-embed", "input": input, **options}
    response = http.post("/v1/embeddings", json=body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def vectors(answer: dict[str, Any]) -> list[list[float]]:
    return [item["embedding"] for item in answer["data"]]


def likeness(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_an_answer_has_the_interface_s_shape(http: httpx.Client) -> None:
    answer = embed(http, ["a lamp", "a chair and a table"])
    assert answer.keys() == {"id", "object", "model", "data", "usage"}
    assert (answer["object"], answer["model"]) == ("list", "mistral-embed")
    assert [item["index"] for item in answer["data"]] == [0, 1]
    assert {item["object"] for item in answer["data"]} == {"embedding"}
    assert [len(vector) for vector in vectors(answer)] == [256, 256]
    used = answer["usage"]["prompt_tokens"]
    assert used >= 7
    assert answer["usage"] == {
        "prompt_tokens": used,
        "completion_tokens": 0,
        "total_tokens": used,
    }


def test_what_means_the_same_is_near(http: httpx.Client) -> None:
    texts = ["The rent is 950 euros a month.", "monthly payment for the flat", "a recipe for soup"]
    rent, payment, soup = vectors(embed(http, texts))
    assert likeness(rent, payment) > likeness(rent, soup)
    assert vectors(embed(http, texts[0])) == [pytest.approx(rent, abs=1e-6)]


def test_base64_holds_the_same_numbers(http: httpx.Client) -> None:
    [plain] = vectors(embed(http, "a lamp"))
    [text] = vectors(embed(http, "a lamp", encoding_format="base64"))
    packed = base64.b64decode(str(text))
    assert list(struct.unpack("<256f", packed)) == pytest.approx(plain, abs=1e-7)


def test_numbers_come_whole_and_as_bits(http: httpx.Client) -> None:
    [plain] = vectors(embed(http, "a lamp"))
    scale = 127 / max(map(abs, plain))
    whole = [round(number * scale) for number in plain]
    signs = [number > 0 for number in plain]
    bits = [sum(signs[at + place] << (7 - place) for place in range(8)) for at in range(0, 256, 8)]
    for kind, expected in {
        "int8": whole,
        "uint8": [number + 128 for number in whole],
        "ubinary": bits,
        "binary": [number - 128 for number in bits],
    }.items():
        [numbers] = vectors(embed(http, "a lamp", output_dtype=kind))
        assert numbers == expected
        assert all(isinstance(number, int) for number in numbers)
        [text] = vectors(embed(http, "a lamp", output_dtype=kind, encoding_format="base64"))
        signed = "B" if kind.startswith("u") else "b"
        packed = base64.b64decode(str(text))
        assert list(struct.unpack(f"{len(numbers)}{signed}", packed)) == expected


def test_fewer_dimensions_are_the_first_of_them(http: httpx.Client) -> None:
    [whole] = vectors(embed(http, "a lamp"))
    for name in ("output_dimension", "dimensions"):
        [short] = vectors(embed(http, "a lamp", **{name: 64}))
        assert math.hypot(*short) == pytest.approx(1, abs=1e-5)
        length = math.hypot(*whole[:64])
        assert short == pytest.approx([number / length for number in whole[:64]], abs=1e-5)


def test_a_text_without_a_word_has_a_vector_of_zeros(http: httpx.Client) -> None:
    assert vectors(embed(http, "")) == [[0.0] * 256]


@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        ({"output_dimension": 257}, "output_dimension"),
        ({"input": ["a", "b" * 100_001]}, "input"),
    ],
)
def test_what_cannot_be_done_is_refused(
    http: httpx.Client, wrong: dict[str, Any], param: str
) -> None:
    body = {"model": "mistral-embed", "input": "a", **wrong}
    response = http.post("/v1/embeddings", json=body)
    assert response.status_code == 400, response.text
    assert response.json()["param"] == param


def test_only_an_embedding_model_embeds(http: httpx.Client) -> None:
    for model in ("smollm2", "mistral-small-latest", "no-such-model"):
        response = http.post("/v1/embeddings", json={"model": model, "input": "a"})
        assert (response.status_code, response.json()["code"]) == (400, "1500")
        assert "carrel-embed" in response.json()["message"]


@pytest.mark.parametrize(
    "name", ["mistral-embed-2312", "codestral-embed", "text-embedding-3-small"]
)
def test_vendor_names_mean_the_one_model(http: httpx.Client, name: str) -> None:
    assert embed(http, "a", model=name)["model"] == name


def test_the_model_is_listed_as_what_it_is(http: httpx.Client) -> None:
    card = http.get("/v1/models/carrel-embed").json()
    assert card["aliases"] == ["mistral-embed"]
    assert not any(card["capabilities"].values())
    assert embed(http, "a", model=card["id"])["model"] == "carrel-embed"


def answered(*rows: list[float]) -> bytes:
    # Out of order, as the interface allows.
    data = [{"index": index, "embedding": row} for index, row in enumerate(rows)]
    return reply({"data": data[::-1], "usage": {"prompt_tokens": 5, "total_tokens": 5}})


@asynccontextmanager
async def embeddings_at(answer: bytes) -> AsyncIterator[tuple[Embeddings, Service]]:
    async def handle(request: Request) -> None:
        listed = reply({"data": [{"id": "chatty"}, {"id": "nomic"}]})
        known = {"/v1/models": listed, "/v1/embeddings": answer}
        await request.write(known.get(request.target) or reply({"detail": "Not Found"}, 404))

    async with service(handle) as running:
        engine = Engine(addresses=[ModelAddress(f"{running.url}/v1")])
        try:
            yield Embeddings(engine, Embedder()), running
        finally:
            await engine.stop()


async def create(embeddings: Embeddings, model: str = "nomic", **options: Any) -> EmbeddingList:
    request = EmbeddingRequest.model_validate({"model": model, "input": ["a", "b"], **options})
    return await embeddings.create(request, seconds=30)


async def test_a_model_at_the_address_embeds_there() -> None:
    async with embeddings_at(answered([1, 0], [0, 1])) as (embeddings, running):
        answer = await create(embeddings, output_dimension=2)
        assert [item.embedding for item in answer.data] == [[1, 0], [0, 1]]
        assert (answer.model, answer.usage.prompt_tokens) == ("nomic", 5)
        assert json.loads(running.requests[-1].body) == {
            "model": "nomic",
            "input": ["a", "b"],
            "encoding_format": "float",
            "dimensions": 2,
        }
        packed = (await create(embeddings, encoding_format="base64")).data[0].embedding
        assert packed == base64.b64encode(struct.pack("<2f", 1, 0)).decode()


async def test_a_name_the_address_does_not_know_is_the_server_s_own_model() -> None:
    async with embeddings_at(answered([1.0])) as (embeddings, _):
        answer = await create(embeddings, "mistral-embed")
        assert [len(item.embedding) for item in answer.data] == [256, 256]


@pytest.mark.parametrize(
    ("answer", "options", "status"),
    [
        (reply({"error": {"message": "no embeddings here"}}, 501), {}, 400),
        (reply({"detail": "Not Found"}, 404), {}, 400),
        (reply({"error": {"message": "too long"}}, 400), {}, 400),
        (reply({"error": {"message": "out of memory"}}, 500), {}, 503),
        (reply({"data": "nonsense"}), {}, 503),
        (answered([1.0]), {}, 503),
        (answered([1.0], [2.0]), {"output_dimension": 3}, 400),
    ],
)
async def test_what_goes_wrong_at_the_address_is_told(
    answer: bytes, options: dict[str, Any], status: int
) -> None:
    async with embeddings_at(answer) as (embeddings, _):
        with pytest.raises(ApiError) as caught:
            await create(embeddings, **options)
    assert caught.value.status == status
