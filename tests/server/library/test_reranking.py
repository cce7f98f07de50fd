"""A reranker at an address puts passages in order; without its answer they keep theirs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.answering import Answering, answering
from support.home import new_server
from support.libraries import LibraryUnderTest, connect, new_library


class Reranker:
    """Scores texts as `score` says; keeps the bodies it got."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.fails = False
        self.scale = 1.0


@pytest.fixture(scope="module")
def bench(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Reranker, LibraryUnderTest]]:
    reranker = Reranker()

    class Handler(Answering):
        def do_POST(self) -> None:
            body = self.body()
            reranker.bodies.append({**body, "path": self.path, **self.headers})
            if reranker.fails:
                self.reply(500, {})
                return
            scores = [
                {"index": at, "relevance_score": reranker.scale * ("attic" in text) + 0.1}
                for at, text in enumerate(body["documents"])
            ]
            self.reply(200, {"results": scores})

    data: Path = tmp_path_factory.mktemp("data")
    with answering(Handler) as url:
        settings = f'rerank_url = "{url}/v1"\nrerank_key = "secret"\nrerank_model = "judge"\n'
        (data / "data").mkdir()
        (data / "data" / "settings.toml").write_text(settings)
        with new_server(data, one=True) as server, connect(server) as http:
            library = new_library(http)
            library.processed("cellar.txt", b"The bicycle cellar is open all day.")
            library.processed("attic.txt", b"In the attic a bicycle may stand, too.")
            yield reranker, library


def test_the_reranker_s_order_is_the_order(bench: tuple[Reranker, LibraryUnderTest]) -> None:
    reranker, library = bench
    hits = library.search("bicycle cellar", limit=1)
    assert [hit["document_name"] for hit in hits] == ["attic.txt"]
    body = reranker.bodies[-1]
    assert (body["path"], body["model"], body["query"]) == (
        "/v1/rerank",
        "judge",
        "bicycle cellar",
    )
    assert body["authorization"] == "Bearer secret"
    assert len(body["documents"]) == 2 and body["top_n"] == 1


def test_logits_become_scores(bench: tuple[Reranker, LibraryUnderTest]) -> None:
    reranker, library = bench
    reranker.scale = 5
    first, second = library.search("bicycle cellar")
    assert 1 > first["score"] > second["score"] > 0.5
    reranker.scale = 1


def test_a_reranker_that_fails_changes_nothing(bench: tuple[Reranker, LibraryUnderTest]) -> None:
    reranker, library = bench
    reranker.fails = True
    hits = library.search("bicycle cellar")
    assert [hit["document_name"] for hit in hits] == ["cellar.txt", "attic.txt"]
    reranker.fails = False
