"""The list of models, and a server that goes by its models' own names."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from support.home import own_home
from support.libraries import connect
from support.process import serve

PAGE = "data:text/plain;base64,T2YgbGFudGVybnMu"


def listed(http: httpx.Client) -> dict[str, dict[str, Any]]:
    return {card["id"]: card for card in http.get("/v1/models").json()["data"]}


def test_every_alias_is_listed_with_what_its_model_can_do(http: httpx.Client) -> None:
    cards = listed(http)
    abilities = {
        name: {ability for ability, has in card["capabilities"].items() if has}
        for name, card in cards.items()
    }
    chat = {"completion_chat", "function_calling"}
    assert abilities["smollm2"] == abilities["mistral-small-latest"] == chat
    assert abilities["carrel-ocr"] == abilities["mistral-ocr-latest"] == {"ocr", "vision"}
    assert abilities["carrel-embed"] == abilities["mistral-embed"] == set()
    assert next(iter(cards)) == "smollm2"
    for name, card in cards.items():
        assert card["type"] == "base" and card["created"] > 0
        assert all(name in cards[alias]["aliases"] for alias in card["aliases"])


def test_one_model_is_found_by_each_of_its_names(http: httpx.Client) -> None:
    for name, card in listed(http).items():
        # Each server says since when it has its models.
        found = http.get(f"/v1/models/{name}").json()
        assert found | {"created": 0} == card | {"created": 0}
    dated = http.get("/v1/models/mistral-large-2411").json()
    assert (dated["id"], dated["aliases"][0]) == ("mistral-large-2411", "smollm2")
    unknown = http.get("/v1/models/some/other")
    assert unknown.status_code == 404
    assert unknown.json()["type"] == "not_found_error"


@pytest.fixture(scope="module", params=["option", "settings"])
def strict(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """A client of a server that is told to be strict, in either way."""
    folder = tmp_path_factory.mktemp("strict")
    data = folder / "data"
    options = ["--strict-models"]
    if request.param == "settings":
        options = []
        data.mkdir()
        (data / "settings.toml").write_text("strict_models = true\n")
    with pytest.MonkeyPatch.context() as monkeypatch:
        own_home(monkeypatch, folder / "home")
        with serve(data, *options) as running, connect(running) as http:
            yield http


def test_a_strict_server_lists_the_models_own_names_alone(strict: httpx.Client) -> None:
    assert list(listed(strict)) == ["smollm2", "carrel-embed", "carrel-ocr"]
    assert strict.get("/v1/models/mistral-large-2411").status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "own"),
    [
        ("chat/completions", {"messages": [{"role": "user", "content": "Hi"}]}, "smollm2"),
        ("embeddings", {"input": "Hi"}, "carrel-embed"),
        ("ocr", {"document": {"type": "document_url", "document_url": PAGE}}, "carrel-ocr"),
    ],
)
def test_a_strict_server_refuses_a_vendor_s_name(
    strict: httpx.Client, path: str, body: dict[str, Any], own: str
) -> None:
    for name in ("mistral-small-latest", "mistral-embed", "mistral-ocr-latest", "gpt-4o"):
        refused = strict.post(f"/v1/{path}", json={"model": name, **body})
        assert (refused.status_code, refused.json()["code"]) == (400, "1500")
        assert own in refused.json()["message"]
    limit = {"max_tokens": 1} if path.startswith("chat") else {}
    assert strict.post(f"/v1/{path}", json={"model": own, **body, **limit}).status_code == 200
