"""Search through the real server, in a library of 100,000 chunks beside another of 20,000.

The texts are made of words with frequencies by Zipf's law, so that there are rare, medium and
common ones; `QUERIES` is the published set, as places in that order. The floor is a bare FTS5
query for the same words in the same database, without a filter, vectors or snippets. Bounds are
milliseconds on two idle cores; each query counts with the median of its rounds, and rounds of
server and floor take turns. The server's CPU time is what its promises rest on: on a machine
with other work, time on the clock says little.
"""

import logging
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from benchmarks.report import Figure
from carrel.server.library.vectors.stored import SENTENCE_DIMENSIONS, stored_sentences
from carrel.server.models.vectors.embedder import Embedder
from carrel.server.records import embeddings
from carrel.server.records.embeddings import StoredVector
from carrel.server.records.sql.database import make_engine
from carrel.server.records.sql.tables import CHUNKS_PER_LIBRARY, chunks, documents, libraries, words
from support.libraries import connect, new_library
from support.process import RunningServer, processor_seconds, serve

CHUNKS = (100_000, 20_000)
"""Of the library that is searched, and of the one beside it."""
CHUNKS_PER_DOCUMENT = 20
WORDS_PER_CHUNK = 140
SENTENCES_PER_CHUNK = 10
VOCABULARY = 40_000
ROUNDS = 3
_AT_ONCE = 2_000

Places = NDArray[np.int64]
Texts = NDArray[np.str_]
Vectors = NDArray[np.float32]

QUERIES: dict[str, tuple[tuple[int, ...], ...]] = {
    "rare": (
        *((4_000 + 1_111 * number,) for number in range(10)),
        *((5_000 + 700 * number, 21_000 + 300 * number) for number in range(5)),
        *((9_000 + 500 * number, 600 + 40 * number, 12 + number) for number in range(5)),
    ),
    "medium": (
        *((300 + 130 * number,) for number in range(10)),
        *((250 + 70 * number, 900 + 90 * number) for number in range(5)),
        *((200 + 50 * number, 480 + 60 * number, 1_100 + 70 * number) for number in range(5)),
    ),
    "common": (
        *((4 + 6 * number,) for number in range(10)),
        *((5 + 4 * number, 31 + 7 * number) for number in range(5)),
        *((3 + 2 * number, 17 + 3 * number, 41 + 5 * number, 90 + number) for number in range(5)),
    ),
}
"""Queries of one word and of several, by the words' places: 1 is the most common."""

_SYLLABLES = tuple(a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u"))


def word(place: int) -> str:
    """The word at a place of the vocabulary."""
    count = len(_SYLLABLES)
    number = place * 7_919 % count**3
    return "".join(_SYLLABLES[number // count**power % count] for power in range(3)) + "n"


logging.getLogger("httpx").setLevel(logging.WARNING)


def measure() -> Iterable[Figure]:
    """p50 and p95 of each class of queries, their ratio to FTS5 alone, and the first search."""
    with tempfile.TemporaryDirectory() as temporary:
        data = Path(temporary) / "data"
        with serve(data) as server, connect(server) as http:
            names = {new_library(http).id: count for count in CHUNKS}
        _build(data, names)
        with serve(data) as server, connect(server) as http:
            yield from _searches(server, http, next(iter(names)), data / "carrel.db")


def _searches(
    server: RunningServer, http: httpx.Client, library_id: str, database: Path
) -> Iterator[Figure]:
    path = f"/v1/libraries/{library_id}/search"

    def through_server(query: str) -> float:
        began = time.perf_counter()
        answer = http.get(path, params={"query": query})
        spent = time.perf_counter() - began
        assert answer.json()["data"], query
        return spent

    bare = sqlite3.connect(f"file:{database}?mode=ro", uri=True)

    def floor(query: str) -> float:
        began = time.perf_counter()
        match = " OR ".join(query.split())
        bare.execute(
            "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rank LIMIT 10", [match]
        ).fetchall()
        return time.perf_counter() - began

    yield Figure("first search, at once after the start, ms", 1000 * through_server(word(5_000)))
    before = processor_seconds(server.process.pid)
    spent: dict[str, list[float]] = {}
    floors: dict[str, list[float]] = {}
    for kind, queries in QUERIES.items():
        texts = [" ".join(map(word, places)) for places in queries]
        rounds = [[(through_server(text), floor(text)) for text in texts] for _ in range(ROUNDS)]
        medians = [
            [statistics.median(times) for times in zip(*each, strict=True)]
            for each in zip(*rounds, strict=True)
        ]
        spent[kind] = [server for server, _ in medians]
        floors[kind] = [alone for _, alone in medians]
    everything = [value for values in spent.values() for value in values]
    alone = [value for values in floors.values() for value in values]
    searches = ROUNDS * sum(map(len, QUERIES.values()))
    processor = (processor_seconds(server.process.pid) - before) / searches
    yield Figure("processor time of the server a search, ms", 1000 * processor)
    yield Figure("p50, ms", 1000 * _quantile(everything, 0.5), 10, "lower")
    yield Figure("p95, ms", 1000 * _quantile(everything, 0.95), 25, "lower")
    for kind in QUERIES:
        yield Figure(
            f"p50 of {kind} words, ms",
            1000 * _quantile(spent[kind], 0.5),
            detail=f"p95 {1000 * _quantile(spent[kind], 0.95):.1f} ms, FTS5 alone"
            f" {1000 * _quantile(floors[kind], 0.5):.1f} ms,"
            f" p95 {1000 * _quantile(floors[kind], 0.95):.1f} ms",
        )
    yield Figure("ratio to FTS5 alone, of all queries' time", sum(everything) / sum(alone))
    bare.close()


def _quantile(values: list[float], part: float) -> float:
    return float(np.quantile(values, part))


def _build(data: Path, names: dict[str, int]) -> None:
    """Fills libraries with chunks as they are after processing, in bulk."""
    chance = np.random.default_rng(20)
    weights = 1 / np.arange(1, VOCABULARY + 1)
    vocabulary = np.array([word(place) for place in range(1, VOCABULARY + 1)])
    embedder = Embedder()
    meanings = embedder.embed(list(vocabulary))
    assert meanings is not None, "there are no vectors on this platform"
    engine = make_engine(f"sqlite:///{data / 'carrel.db'}")
    with engine.begin() as connection:
        numbers = dict(connection.execute(sa.select(libraries.c.id, libraries.c.number)).all())
        counts = np.zeros(VOCABULARY, np.int64)
        for library_id, count in names.items():
            first = numbers[library_id] * CHUNKS_PER_LIBRARY + 1
            for start in range(0, count, _AT_ONCE):
                drawn = chance.random((_AT_ONCE, WORDS_PER_CHUNK)) * weights.sum()
                places = np.searchsorted(weights.cumsum(), drawn)
                counts += np.bincount(np.unique(places), minlength=VOCABULARY)
                rows = _chunks(places, vocabulary, meanings)
                _add(connection, library_id, start, first + start, rows)
        connection.execute(
            words.insert(),
            [
                {"word": str(text), "documents": int(number)}
                for text, number in zip(vocabulary, counts, strict=True)
                if number
            ],
        )
    engine.dispose()


def _chunks(places: Places, vocabulary: Texts, meanings: Vectors) -> list[tuple[str, StoredVector]]:
    """Chunks of these words. As a vector is the mean of the words, none is computed from texts."""
    chunks = []
    for row in places:
        parts = meanings[row].reshape(SENTENCES_PER_CHUNK, -1, meanings.shape[1]).mean(axis=1)
        parts /= np.linalg.norm(parts, axis=1, keepdims=True)
        whole = parts.mean(axis=0)
        vector = (whole / np.linalg.norm(whole)).astype("e").tobytes()
        sentences = stored_sentences(parts[:, :SENTENCE_DIMENSIONS])
        chunks.append((" ".join(vocabulary[row]), StoredVector(vector, sentences)))
    return chunks


def _add(
    connection: sa.Connection,
    library: str,
    start: int,
    first: int,
    rows: list[tuple[str, StoredVector]],
) -> None:
    ids = [f"{library}-{start + at}" for at in range(0, len(rows), CHUNKS_PER_DOCUMENT)]
    connection.execute(
        documents.insert(),
        [
            {
                "id": id,
                "library_id": library,
                "name": f"{id}.txt",
                "blob": id,
                "size": 1,
                "uploaded_by_id": "local",
                "uploaded_by_type": "User",
                "created_at": datetime.now(UTC),
                "process_status": "done",
                "generation": 1,
                "indexed_generation": 1,
            }
            for id in ids
        ],
    )
    places = (divmod(at, CHUNKS_PER_DOCUMENT) for at in range(len(rows)))
    connection.execute(
        chunks.insert(),
        [
            {
                "id": first + at,
                "document_id": ids[document],
                "position": position,
                "page": 0,
                "text": text,
            }
            for at, ((document, position), (text, _)) in enumerate(zip(places, rows, strict=True))
        ],
    )
    embeddings.insert(connection, 0, {first + at: vector for at, (_, vector) in enumerate(rows)})
