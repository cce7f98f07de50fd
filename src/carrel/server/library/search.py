"""Search in libraries: words and meaning, put together."""

import logging
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import sqlalchemy as sa
from pydantic import Field

from carrel.server.library import snippets
from carrel.server.library.fulltext import search as fulltext
from carrel.server.library.fulltext.words import Term, terms
from carrel.server.library.places import TextPlaces
from carrel.server.library.vectors.nearest import Finish, Nearest
from carrel.server.library.vectors.stored import VectorIndex
from carrel.server.models.vectors.embedder import Embedder
from carrel.server.records import embeddings
from carrel.server.records.sql.conditions import NOW, is_unexpired
from carrel.server.records.sql.tables import OWN_EMBEDDING, chunks, documents
from carrel.wire.libraries import SearchHit

if TYPE_CHECKING:
    from carrel.server.library.vectors.stored import Vectors

log = logging.getLogger(__name__)

WORDS_SHARE = 0.4
"""The share of the words in a score; the rest is meaning. The
retrieval benchmark chose it."""
ANSWERS = 0.3
"""Score that a passage needs to be taken for an answer. In the retrieval benchmark, every passage
found by words of its question has it, and the best of 9 in 10 questions without an answer has not.
"""
_CANDIDATES = 50
"""Least number of passages that each kind of search gives to the ranking."""


_FOUND = (
    sa.select(
        chunks.c.id,
        chunks.c.document_id,
        chunks.c.page,
        chunks.c.text,
        chunks.c.layout,
        documents.c.library_id,
        documents.c.name,
    )
    .join(documents)
    .where(chunks.c.id.in_(sa.bindparam("ids", expanding=True)), is_unexpired(documents, NOW))
)


class FoundPassage(SearchHit):
    """A found chunk, its place and its whole text."""

    library_id: str = Field(exclude=True)
    text: str = Field(exclude=True)
    is_weak: bool = Field(default=False, exclude=True)
    """Whether it is probably about something else."""


class Search:
    """Finds passages in the searchable text of documents."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors = VectorIndex()

    def warm(self, connection: sa.Connection) -> None:
        """Prepare the first search, so that it is as fast as the next; blocking."""
        if self._vectors.warm(connection):
            self._embedder.embed([""])

    def find(
        self,
        connection: sa.Connection,
        library_ids: Sequence[str],
        query: str,
        limit: int,
        document_ids: Collection[str] | None = None,
        *,
        vectors: "Mapping[str, Vectors] | None" = None,
    ) -> list[FoundPassage]:
        """Return the passages of these libraries that answer a query best, best first; blocking.

        `document_ids` restricts the search to some documents. The score is at most 1. `vectors` has
        the query's vector by each model; a library whose model is missing is searched by words
        alone.
        """
        wanted = terms(query)
        asked = dict(vectors or {})
        own = self._embedder.embed([query])
        if own is not None:
            asked[OWN_EMBEDDING] = own[0]
        scores: dict[int, float] = {}
        matching: dict[str, list[int]] = {}
        weak: set[int] = set()
        depth = max(limit, _CANDIDATES)
        for library in embeddings.find_searched(connection, library_ids):
            compare: Finish | None = None
            vector = asked.get(library.model)
            if vector is not None and len(vector) != library.dimensions:
                log.warning(
                    "library %s: words alone are searched, its model has changed", library.id
                )
            elif vector is not None:
                question = Nearest(library, vector, depth, document_ids)
                compare = self._vectors.begin(connection, question)
            found = fulltext.find(connection, library.number, wanted, depth, document_ids)
            near = compare(found.scores) if compare else {}
            fused = fuse(found.scores, near)
            scores |= fused
            least = _least_answer(library.model, by_words_alone=not near)
            if found.lacks_code:
                # The nearest is about another number.
                least = math.inf
            weak.update(id for id, score in fused.items() if score < least)
            matching.setdefault(found.match, []).extend(fused)
        best = sorted(scores, key=lambda id: (-scores[id], id))[:limit]
        highlighted: dict[int, str] = {}
        for match, ids in matching.items():
            shown = [id for id in best if id in ids]
            if match and shown:
                highlighted |= fulltext.highlight(
                    connection, shown, match, snippets.START, snippets.END
                )
        return [*_passages(connection, best, scores, weak, highlighted, wanted)]


def fuse(words: Mapping[int, float], meaning: Mapping[int, float]) -> dict[int, float]:
    """Return one score from the scores of words and of meaning, each from 0 to 1.

    The score of words is squared: some of a query's words are often there by chance.
    """
    return {
        id: WORDS_SHARE * words.get(id, 0) ** 2 + (1 - WORDS_SHARE) * max(0.0, meaning.get(id, 0))
        for id in words.keys() | meaning.keys()
    }


def _least_answer(model: str, *, by_words_alone: bool) -> float:
    """Return the lowest score of an answer, by the scale of its model's similarities."""
    if by_words_alone:
        return WORDS_SHARE * ANSWERS
    return ANSWERS if model == OWN_EMBEDDING else 0.0


def _passages(
    connection: sa.Connection,
    ids: Sequence[int],
    scores: Mapping[int, float],
    weak: Collection[int],
    highlighted: Mapping[int, str],
    wanted: Sequence[Term],
) -> Iterator[FoundPassage]:
    found = connection.execute(_FOUND, {"ids": ids, "now": datetime.now(UTC)})
    rows = {row.id: row for row in found}
    for id in ids:
        if id not in rows:
            continue
        row = rows[id]
        spans = snippets.matches(row.text, highlighted.get(id), wanted)
        snippet, matches, shown = snippets.snippet(row.text, spans)
        layout = TextPlaces.from_json(row.layout)
        inside = [span for span in spans if shown[0] <= span[0] and span[1] <= shown[1]]
        yield FoundPassage(
            library_id=row.library_id,
            document_id=row.document_id,
            document_name=row.name,
            page=row.page,
            snippet=snippet,
            matches=matches,
            score=round(scores[id], 4),
            box=layout.box(inside or [shown]) if layout else None,
            text=row.text,
            is_weak=id in weak,
        )
