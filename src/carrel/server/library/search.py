"""Search in libraries: full text and vectors, fused by rank."""

import re
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

import sqlalchemy as sa
from pydantic import Field

from carrel.server.library.embeddings import Embedder
from carrel.server.library.vectors import VectorIndex
from carrel.server.records.tables import chunks, documents
from carrel.wire.libraries import SearchHit

_CANDIDATES = 50
_MAX_TERMS = 16
# The usual constant of reciprocal rank fusion: how fast a lower rank loses weight.
_RANK_CONSTANT = 60
_SNIPPET_WORDS = 40
_SNIPPET_CHARACTERS = 240
_WORD = re.compile(r"\w+")
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about an and are as at be but by can could did do does for from had has have how i if in
        is it its me my not of on or our should so than that the their them then there these they
        this to was we were what when where which who why will with would you your
        """,
    )
)


class Passage(SearchHit):
    """A chunk that was found, with where it is and its whole text."""

    library_id: str = Field(exclude=True)
    text: str = Field(exclude=True)


class Search:
    """Finds passages in the published text of documents."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors = VectorIndex()

    def find(
        self,
        connection: sa.Connection,
        library_ids: Sequence[str],
        query: str,
        limit: int,
        document_ids: Collection[str] | None = None,
    ) -> list[Passage]:
        """The passages of these libraries that answer a query best, best first; blocking.

        `document_ids` restricts the search to some documents. The score is 1 for a passage that
        comes first both by its words and by its meaning.
        """
        if not library_ids:
            return []
        depth = max(limit, _CANDIDATES)
        terms = match_expression(query)
        rankings = [_by_words(connection, library_ids, terms, depth, document_ids)]
        vectors = self._embedder.embed([query])
        if vectors is not None:
            near = [
                pair
                for library_id in library_ids
                for pair in self._vectors.nearest(
                    connection, library_id, vectors[0], depth, document_ids
                )
            ]
            rankings.append([id for _, id in sorted(near, reverse=True)[:depth]])
        scores = fuse(rankings)
        best = sorted(scores, key=lambda id: (-scores[id], id))[:limit]
        return _passages(connection, best, scores, terms)


def match_expression(query: str) -> str:
    """A full-text query for any word of a question; empty if it has none.

    Words without content of their own count only where there are no others.
    """
    words = list(dict.fromkeys(_WORD.findall(query.casefold())))
    content = [word for word in words if word not in _STOP_WORDS]
    return " OR ".join(f'"{word}"' for word in (content or words)[:_MAX_TERMS])


def fuse(rankings: Sequence[Sequence[int]]) -> dict[int, float]:
    """Reciprocal rank fusion: the score of each item in these rankings, 1 for first in all."""
    scores: dict[int, float] = {}
    best = len(rankings) / (_RANK_CONSTANT + 1)
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            scores[item] = scores.get(item, 0) + 1 / (_RANK_CONSTANT + rank) / best
    return scores


def _published() -> sa.ColumnElement[bool]:
    return sa.and_(
        documents.c.id == chunks.c.document_id,
        documents.c.indexed_generation == chunks.c.generation,
        sa.or_(documents.c.expires_at.is_(None), documents.c.expires_at > datetime.now(UTC)),
    )


def _by_words(
    connection: sa.Connection,
    library_ids: Sequence[str],
    terms: str,
    limit: int,
    document_ids: Collection[str] | None,
) -> list[int]:
    if not terms:
        return []
    index = sa.table("chunks_fts", sa.column("rowid", sa.Integer), sa.column("rank", sa.Float))
    query = (
        sa.select(chunks.c.id)
        .select_from(index)
        .join(chunks, chunks.c.id == index.c.rowid)
        .join(documents, _published())
        .where(sa.text("chunks_fts MATCH :terms"), chunks.c.library_id.in_(library_ids))
        .order_by(index.c.rank, chunks.c.id)
        .limit(limit)
    )
    if document_ids is not None:
        query = query.where(chunks.c.document_id.in_(document_ids))
    return list(connection.scalars(query, {"terms": terms}))


def _passages(
    connection: sa.Connection, ids: Sequence[int], scores: dict[int, float], terms: str
) -> list[Passage]:
    query = sa.select(
        chunks.c.id,
        chunks.c.library_id,
        chunks.c.document_id,
        chunks.c.page,
        chunks.c.text,
        documents.c.name,
    ).join(documents, _published())
    rows = {row.id: row for row in connection.execute(query.where(chunks.c.id.in_(ids)))}
    snippets = _snippets(connection, ids, terms)
    return [
        Passage(
            library_id=rows[id].library_id,
            document_id=rows[id].document_id,
            document_name=rows[id].name,
            page=rows[id].page,
            snippet=snippets.get(id) or _beginning(rows[id].text),
            score=round(scores[id], 4),
            text=rows[id].text,
        )
        for id in ids
        if id in rows
    ]


def _snippets(connection: sa.Connection, ids: Sequence[int], terms: str) -> dict[int, str]:
    """The part of each chunk where the words stand, the words between « and »."""
    if not terms:
        return {}
    query = sa.text(
        "SELECT rowid, snippet(chunks_fts, 0, '«', '»', '…', :words) AS snippet FROM chunks_fts"
        " WHERE chunks_fts MATCH :terms AND rowid IN :ids"
    ).bindparams(sa.bindparam("ids", expanding=True))
    rows = connection.execute(query, {"words": _SNIPPET_WORDS, "terms": terms, "ids": list(ids)})
    return {row.rowid: row.snippet for row in rows}


def _beginning(text: str) -> str:
    if len(text) <= _SNIPPET_CHARACTERS:
        return text
    return text[:_SNIPPET_CHARACTERS].rsplit(maxsplit=1)[0] + "…"
