"""Full-text search in bounded time, whatever the words.

Ranking takes time for each chunk with one of the words: a common word alone would
take longer than everything else. Counting is cheap: words are counted first, and those
in too many chunks only filter the results of rarer ones.
"""

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import sqlalchemy as sa

from carrel.server.library.spelling import similar
from carrel.server.library.words import Term
from carrel.server.records.tables import CHUNKS_PER_LIBRARY

_IN_AREA = "FROM chunks_fts WHERE chunks_fts MATCH ? AND rowid BETWEEN ? AND ?"
_COUNT = f"SELECT count(*) FROM (SELECT rowid {_IN_AREA} LIMIT ?)"
_RANK = f"SELECT rowid, rank {_IN_AREA} ORDER BY rank LIMIT ?"
_NEWEST = f"SELECT rowid {_IN_AREA} ORDER BY rowid DESC LIMIT 1 OFFSET ?"
# The "+" makes SQLite filter by document before it ranks.
_RANK_IN = """
    SELECT chunks_fts.rowid, rank FROM chunks_fts JOIN chunks ON chunks.id = chunks_fts.rowid
    WHERE chunks_fts MATCH ? AND chunks_fts.rowid BETWEEN ? AND ?
    AND document_id IN (SELECT value FROM json_each(?)) ORDER BY +rank LIMIT ?
"""
_HIGHLIGHT = """
    SELECT rowid, highlight(chunks_fts, 0, ?, ?) FROM chunks_fts
    WHERE chunks_fts MATCH ? AND rowid IN (SELECT value FROM json_each(?))
"""

RANKED = 2500
"""Maximum number of chunks ranked for one query."""
_ENOUGH = 20
"""Below this number of chunks with all common words, any two of them suffice."""


@dataclass(frozen=True)
class Wanted:
    """A word of a query with its alternatives, as found in one library."""

    match: str
    chunks: int
    """Number of chunks with it, counted up to `RANKED` + 1."""


@dataclass(frozen=True)
class FullTextHit:
    """Chunks with their share of the query, from 0 to 1, best first.

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
) -> FullTextHit:
    """The chunks of library `number` that fit the words best; blocking."""
    first = number * CHUNKS_PER_LIBRARY
    area = _Area(connection, first, first + CHUNKS_PER_LIBRARY - 1)
    wanted = [word for term in terms if (word := area.wanted(term)) is not None]
    if not wanted:
        return FullTextHit({}, "")
    anything = " OR ".join(word.match for word in wanted)
    if document_ids is None:
        scores = area.ranked(*area.choose(wanted), limit)
    else:
        scores = area.ranked_in(document_ids, anything, limit)
    # Unknown words count too: two matched words of six are a poor match.
    missing = (len(terms) - len(wanted)) * _weight(0, area.size)
    everything = missing + sum(_weight(word.chunks, area.size) for word in wanted)
    return FullTextHit({id: min(1.0, score / everything) for id, score in scores.items()}, anything)


def highlighted(
    connection: sa.Connection, ids: Sequence[int], match: str, start: str, end: str
) -> dict[int, str]:
    """The text of those chunks that have the words, each word between `start` and `end`."""
    values = (start, end, match, json.dumps(list(ids)))
    return dict(_rows(connection, _HIGHLIGHT, values))


def _rows(connection: sa.Connection, query: str, values: tuple[object, ...]) -> Sequence[Any]:
    """The driver's raw rows of a query: there are too many to wrap."""
    return connection.exec_driver_sql(query, values).all()


class _Area:
    """The chunks from one id to another: those of a library."""

    def __init__(self, connection: sa.Connection, first: int, last: int) -> None:
        self._connection = connection
        self._first = first
        self._last = last

    @cached_property
    def size(self) -> int:
        """Approximate number of chunks: ids of deleted documents leave gaps."""
        query = "SELECT max(id) FROM chunks WHERE id BETWEEN ? AND ?"
        [[newest]] = _rows(self._connection, query, (self._first, self._last))
        return int(newest or self._first) - self._first + 1

    def wanted(self, term: Term) -> Wanted | None:
        """A term of this library; an unknown word stands for similar ones."""
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
        """Number of matching chunks, counted up to `RANKED` + 1."""
        [[count]] = self._rows(_COUNT, match, self._first, RANKED + 1)
        return int(count)

    def choose(self, wanted: Sequence[Wanted]) -> tuple[str, int]:
        """The expression to rank, and the first id to consider.

        Any of the words if few chunks match; else the rare ones, and chunks that have
        all of the others. If too many still match, the newest are ranked.
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
        return {id: -rank for id, rank in self._rows(_RANK, match, start, limit)}

    def ranked_in(self, document_ids: Collection[str], match: str, limit: int) -> dict[int, float]:
        """The score of the best chunks of some documents, best first."""
        among = json.dumps(list(document_ids))
        return {id: -rank for id, rank in self._rows(_RANK_IN, match, self._first, among, limit)}

    def _newest(self, match: str) -> int:
        """The id from which `RANKED` chunks match."""
        found = self._rows(_NEWEST, match, self._first, RANKED - 1)
        return int(found[0][0]) if found else self._first

    def _rows(self, query: str, match: str, first: int, *more: object) -> Sequence[Any]:
        return _rows(self._connection, query, (match, first, self._last, *more))


def _weight(count: int, size: int) -> float:
    """The inverse document frequency of BM25 of a word in `count` of `size` chunks."""
    return max(1e-6, math.log((size - count + 0.5) / (count + 0.5)))
