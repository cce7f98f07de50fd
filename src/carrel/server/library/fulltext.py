"""Finding chunks by their words, in a bounded time whatever the words.

Ranking costs time for every chunk that has one of the words, so that a common word alone would
take longer than everything else. Counting is cheap: words are counted first, and those that
stand in too many chunks only narrow down what rarer ones find.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import sqlalchemy as sa

from carrel.server.library.spelling import similar
from carrel.server.library.words import Term
from carrel.server.records.tables import CHUNKS_PER_LIBRARY, chunks

RANKED = 2500
"""How many chunks are ranked for one query at most."""
_ENOUGH = 20
"""Where all common words together stand in fewer chunks, two of them are enough."""


@dataclass(frozen=True)
class Wanted:
    """A word of a query, with what it may stand for, as it is found in one library."""

    match: str
    chunks: int
    """In how many chunks it stands; at most `RANKED` + 1 are counted."""


@dataclass(frozen=True)
class Found:
    """Chunks with how much of what was asked is in them, from 0 to 1, best first.

    `match` finds the words.
    """

    scores: dict[int, float]
    match: str


def find(
    connection: sa.Connection,
    number: int,
    terms: Sequence[Term],
    limit: int,
    document_ids: Collection[str] | None = None,
) -> Found:
    """The chunks of library `number` that fit the words best; blocking."""
    first = number * CHUNKS_PER_LIBRARY
    area = _Area(connection, first, first + CHUNKS_PER_LIBRARY - 1)
    wanted = [word for term in terms if (word := area.wanted(term)) is not None]
    if not wanted:
        return Found({}, "")
    anything = " OR ".join(word.match for word in wanted)
    if document_ids is None:
        scores = area.ranked(*area.choose(wanted), limit)
    else:
        scores = area.ranked_in(document_ids, anything, limit)
    # Words that are nowhere count too: who asks for six words has not found them in two.
    missing = (len(terms) - len(wanted)) * _weight(0, area.size)
    everything = missing + sum(_weight(word.chunks, area.size) for word in wanted)
    return Found({id: min(1.0, score / everything) for id, score in scores.items()}, anything)


def highlighted(
    connection: sa.Connection, ids: Sequence[int], match: str, start: str, end: str
) -> dict[int, str]:
    """The text of those chunks that have the words, each word between `start` and `end`."""
    query = sa.text(
        "SELECT rowid, highlight(chunks_fts, 0, :start, :end) AS text FROM chunks_fts"
        " WHERE chunks_fts MATCH :match AND rowid IN :ids"
    ).bindparams(sa.bindparam("ids", expanding=True))
    values = {"start": start, "end": end, "match": match, "ids": list(ids)}
    return {row.rowid: row.text for row in connection.execute(query, values)}


class _Area:
    """The chunks from one id to another: those of a library."""

    def __init__(self, connection: sa.Connection, first: int, last: int) -> None:
        self._connection = connection
        self._first = first
        self._last = last

    @cached_property
    def size(self) -> int:
        """About how many chunks there are: ids of deleted documents leave gaps."""
        newest = sa.select(sa.func.max(chunks.c.id)).where(
            chunks.c.id.between(self._first, self._last)
        )
        return (self._connection.scalar(newest) or self._first) - self._first + 1

    def wanted(self, term: Term) -> Wanted | None:
        """A term as it is found here; a word that is not is taken for similar ones."""
        count = self.count(term.match)
        if count or term.word is None:
            return Wanted(term.match, count) if count else None
        alternatives = [f'"{word}"' for word in similar(self._connection, term.word)]
        known = [match for match in alternatives if self.count(match)]
        if not known:
            return None
        match = f"({' OR '.join(known)})"
        return Wanted(match, self.count(match))

    def count(self, match: str) -> int:
        """How many chunks match; more than `RANKED` are not counted."""
        query = sa.text(
            "SELECT count(*) FROM (SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH :match"
            " AND rowid BETWEEN :first AND :last LIMIT :most)"
        )
        return int(self._connection.scalar(query, self._bound(match, most=RANKED + 1)) or 0)

    def choose(self, wanted: Sequence[Wanted]) -> tuple[str, int]:
        """What to rank: an expression, and the first id that counts.

        Any of the words, if that is not too much; or else the rare ones, and chunks that have
        all of the others. What is still too much is bounded to the newest.
        """
        anything = " OR ".join(word.match for word in wanted)
        if self.count(anything) <= RANKED:
            return anything, self._first
        rare: list[Wanted] = []
        for word in sorted(wanted, key=lambda word: word.chunks):
            if sum(each.chunks for each in rare) + word.chunks <= RANKED:
                rare.append(word)
        common = [word for word in wanted if word not in rare]
        together = " AND ".join(word.match for word in common)
        if not rare and len(common) > 2 and self.count(together) < _ENOUGH:
            pairs = (f"({one.match} AND {other.match})" for one, other in combinations(common, 2))
            together = " OR ".join(pairs)
        match = " OR ".join([*(word.match for word in rare), f"({together})"])
        return match, self._newest(match)

    def ranked(self, match: str, start: int, limit: int) -> dict[int, float]:
        """The score of the best chunks from `start`, best first."""
        query = sa.text(
            "SELECT rowid, rank FROM chunks_fts WHERE chunks_fts MATCH :match"
            " AND rowid BETWEEN :start AND :last ORDER BY rank LIMIT :most"
        )
        rows = self._connection.execute(query, self._bound(match, start=start, most=limit))
        return {row.rowid: -row.rank for row in rows}

    def ranked_in(self, document_ids: Collection[str], match: str, limit: int) -> dict[int, float]:
        """The score of the best chunks of some documents, best first."""
        # With "+" a chunk is ranked after it is known to belong to one of them.
        query = sa.text(
            "SELECT chunks_fts.rowid, rank FROM chunks_fts"
            " JOIN chunks ON chunks.id = chunks_fts.rowid"
            " WHERE chunks_fts MATCH :match AND chunks_fts.rowid BETWEEN :first AND :last"
            " AND document_id IN :document_ids ORDER BY +rank LIMIT :most"
        ).bindparams(sa.bindparam("document_ids", expanding=True))
        values = self._bound(match, document_ids=list(document_ids), most=limit)
        return {row.rowid: -row.rank for row in self._connection.execute(query, values)}

    def _newest(self, match: str) -> int:
        """The id from which on as many chunks match as may be ranked."""
        query = sa.text(
            "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH :match"
            " AND rowid BETWEEN :first AND :last ORDER BY rowid DESC LIMIT 1 OFFSET :most"
        )
        found = self._connection.scalar(query, self._bound(match, most=RANKED - 1))
        return self._first if found is None else int(found)

    def _bound(self, match: str, **more: object) -> dict[str, object]:
        return {"match": match, "first": self._first, "last": self._last, **more}


def _weight(count: int, size: int) -> float:
    """What a word that stands in `count` of `size` chunks is worth, as bm25 has it."""
    return max(1e-6, math.log((size - count + 0.5) / (count + 0.5)))
