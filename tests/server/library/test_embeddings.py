"""The embedding models of libraries: chosen, changed while the old one answers, away and back."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from carrel.server.records.sql.tables import vectors
from support import storage
from support.embedding import EmbeddingEngine, embedding_engine
from support.libraries import LibraryUnderTest, connect, new_library
from support.process import serve

OWN = {"model": "carrel-embed", "dimensions": 256}
LETTERS = {"model": "letters", "dimensions": 26}
RENT = b"The rent is 950 euros a month. It is paid in advance."
SOUP = b"Cook the soup with carrots and salt for an hour."
# What no word of the texts is in, and their letters are.
MEANT = "monthly payment of the tenant"


@pytest.fixture
def engine() -> Iterator[EmbeddingEngine]:
    with embedding_engine() as engine:
        yield engine


def paragraphs(number: int) -> bytes:
    """A document of so many chunks of a library with small ones."""
    said = ("The heron number {} waits at the water. " * 6).format
    return "\n\n".join(said(*[at] * 6) for at in range(number)).encode()


def embeddings(library: LibraryUnderTest) -> dict[str, Any]:
    response = library.http.get(f"{library.path}/embeddings")
    assert response.status_code == 200, response.text
    state: dict[str, Any] = response.json()
    return state


def change(library: LibraryUnderTest, model: str) -> httpx.Response:
    return library.http.put(f"{library.path}/embeddings", json={"model": model})


def until(library: LibraryUnderTest, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    deadline = time.monotonic() + 120
    while not true(state := embeddings(library)):
        assert time.monotonic() < deadline, state
        time.sleep(0.05)
    return state


def changed(state: dict[str, Any]) -> bool:
    return state["next"] is None and state["embedded"] == state["chunks"]


def kept(data: Path) -> set[int]:
    """The lengths of the stored vectors."""
    with storage.connected(data, reading=True) as connection:
        return set(connection.scalars(sa.select(sa.func.length(vectors.c.vector)).distinct()))


def only(data: Path, length: int) -> None:
    """Waits until the vectors of other models are removed."""
    deadline = time.monotonic() + 60
    while kept(data) != {length}:
        assert time.monotonic() < deadline, kept(data)
        time.sleep(0.05)


def test_the_old_model_answers_until_the_new_one_has_every_chunk(
    tmp_path: Path, engine: EmbeddingEngine
) -> None:
    data = tmp_path / "data"
    with serve(data, "--model-url", engine.url) as server, connect(server) as http:
        library = new_library(http, chunk_size=256)
        library.processed("rent.txt", RENT)
        library.processed("herons.txt", paragraphs(10))
        before = library.search(MEANT)
        assert {key: embeddings(library)[key] for key in OWN} == OWN

        engine.hold()
        answer = change(library, "letters").json()
        assert (answer["model"], answer["next"]["model"]) == ("carrel-embed", "letters")
        assert library.search(MEANT) == before
        # What is added meanwhile is found at once, and by the new model later.
        library.processed("soup.txt", SOUP)
        assert library.search("carrots")[0]["document_name"] == "soup.txt"
        assert kept(data) == {512}

        engine.release()
        state = until(library, changed)
        assert {key: state[key] for key in LETTERS} == LETTERS
        assert {RENT.decode(), SOUP.decode()} <= set(engine.texts)
        only(data, 52)
        assert library.search(SOUP.decode()[::-1].lower())[0]["document_name"] == "soup.txt"
        assert engine.texts[-1] == SOUP.decode()[::-1].lower()

        # And back: the server's own model takes over again.
        assert change(library, "carrel-embed").status_code == 200
        until(library, changed)
        assert library.search(MEANT)[0]["document_name"] == before[0]["document_name"]
        only(data, 512)


def test_a_killed_server_goes_on_with_what_it_had(tmp_path: Path, engine: EmbeddingEngine) -> None:
    data = tmp_path / "data"
    with serve(data, "--model-url", engine.url) as server, connect(server) as http:
        library = new_library(http, chunk_size=256)
        library.processed("herons.txt", paragraphs(300))
        before = library.search("heron")
        engine.hold(after=128)
        assert change(library, "letters").status_code == 200
        until(library, lambda state: state["next"] and state["next"]["embedded"] >= 128)
        assert library.search("heron") == before
        server.process.kill()
        server.process.wait()
    engine.texts.clear()
    engine.release()
    with serve(data, "--model-url", engine.url) as server, connect(server) as http:
        library = LibraryUnderTest(http, library.id)
        state = until(library, changed)
        assert state["model"] == "letters"
        assert len(set(engine.texts)) <= state["chunks"] - 128
        only(data, 52)


def test_without_its_model_a_library_is_searched_by_words_until_it_is_back(
    tmp_path: Path, engine: EmbeddingEngine
) -> None:
    data = tmp_path / "data"
    with serve(data, "--model-url", engine.url) as server, connect(server) as http:
        library = new_library(http)
        assert change(library, "letters").status_code == 200
        until(library, changed)
        engine.away = True
        library.processed("rent.txt", RENT)
        assert library.search("rent")[0]["document_name"] == "rent.txt"
        state = until(library, lambda state: state["error"] is not None)
        assert (state["chunks"], state["embedded"]) == (1, 0)
        assert change(library, "letters").status_code == 503
        engine.away = False
        state = until(library, changed)
        assert state["error"] is None
        assert library.search(RENT.decode()[::-1])[0]["document_name"] == "rent.txt"

        # A model that has changed under its name: its vectors are not mixed with the old.
        engine.dimensions = 20
        library.processed("soup.txt", SOUP)
        state = until(library, lambda state: state["error"] is not None)
        assert "have 20 dimensions now, and those of the library 26" in state["error"]
        assert library.search("carrots")[0]["document_name"] == "soup.txt"
        assert change(library, "letters").status_code == 200
        state = until(library, changed)
        assert (state["dimensions"], state["embedded"]) == (20, 2)
        assert kept(data) == {40}
    log = "".join(path.read_text() for path in (data / "log").iterdir())
    assert "words alone" in log
    assert "Traceback" not in log


def test_what_cannot_embed_is_refused(tmp_path: Path, engine: EmbeddingEngine) -> None:
    data = tmp_path / "data"
    with serve(data, "--model-url", engine.url) as server, connect(server) as http:
        library = new_library(http)
        for model, words in (("other", "No model address lists"), ("mute", "no embeddings")):
            refused = change(library, model)
            assert refused.status_code == 400
            assert words in refused.json()["message"]
        assert embeddings(library)["next"] is None
        _, stranger = storage.key_chain(data).add("other", "others", "other")
        http.headers["authorization"] = f"Bearer {stranger}"
        assert change(library, "letters").status_code == 404


def test_new_libraries_have_the_model_of_the_settings(
    tmp_path: Path, engine: EmbeddingEngine
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    settings = f'model_url = ["{engine.url}"]\nembedding_model = "letters"\n'
    (data / "settings.toml").write_text(settings)
    with serve(data) as server, connect(server) as http:
        library = new_library(http)
        library.processed("rent.txt", RENT)
        state = until(library, changed)
        assert {key: state[key] for key in LETTERS} == LETTERS


def test_one_server_embeds_for_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(tmp_path / "first") as first:
        monkeypatch.setenv("CARREL_MODEL_KEY", first.api_key)
        starting = serve(tmp_path / "second", "--model-url", f"{first.url}/v1")
        with starting as second, connect(second) as http:
            library = new_library(http)
            library.processed("rent.txt", RENT)
            library.processed("soup.txt", SOUP)
            assert change(library, "mistral-embed").status_code == 200
            state = until(library, changed)
            assert (state["model"], state["dimensions"]) == ("mistral-embed", 256)
            assert library.search(MEANT)[0]["document_name"] == "rent.txt"
    log = "".join(path.read_text() for path in (tmp_path / "second" / "log").iterdir())
    assert first.api_key not in log
