"""Full-text search in bounded time, whatever the words.

Ranking takes time for each chunk with one of the words: a common word alone would
take longer than everything else. Counting is cheap: words are counted first, and those
in too many chunks only filter the results of rarer ones.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import sqlalchemy as sa

from carrel.server.library.fulltext.fts5 import FTS5
from carrel.server.library.fulltext.index import Area, Weighted
from carrel.server.library.fulltext.spelling import similar
from carrel.server.library.fulltext.tsvector import TSVector
from carrel.server.library.fulltext.words import Term, is_code
from carrel.server.records.sql.tables import CHUNKS_PER_LIBRARY, chunks

RANKED = 2500
"""Maximum number of chunks ranked for one query."""
_ENOUGH = 20
"""Below this number of chunks with all common words, any two of them suffice."""
_NEWEST = sa.select(sa.func.max(chunks.c.id)).where(
    chunks.c.id.between(sa.bindparam("first"), sa.bindparam("last"))
)


@dataclass(frozen=True)
class Wanted:
    """A word of a query with its alternatives, as found in one library."""

    match: str
    chunks: int
    """Number of chunks with it, counted up to `RANKED` + 1."""
    alternatives: int = 1


@dataclass(frozen=True)
class FullTextHit:
    """Chunks with their share of the query, from 0 to 1, best first.

    `match` finds the words. `lacks_code` says that a number or code of the query is in no chunk.
    """

    scores: Mapping[int, float]
    match: str
    lacks_code: bool = False


def find(
    connection: sa.Connection,
    number: int,
    terms: Sequence[Term],
    limit: int,
    document_ids: Collection[str] | None = None,
) -> FullTextHit:
    """Return the chunks of library `number` that fit the words best; blocking."""
    area = _Words(connection, number)
    found = {term.text: area.look_up(term) for term in terms}
    lacks_code = any(is_code(word) and wanted is None for word, wanted in found.items())
    wanted = [word for word in found.values() if word is not None]
    if not wanted:
        return FullTextHit({}, "", lacks_code)
    anything = area.any_of(wanted)
    scores = area.rank(wanted, limit, document_ids)
    # Unknown words count too: two matched words of six are a poor match.
    missing = (len(terms) - len(wanted)) * _weight(0, area.size)
    everything = missing + sum(_weight(word.chunks, area.size) for word in wanted)
    # FTS5 weighs by all libraries: words that every chunk of this one has can weigh more than
    # everything. Cut at 1, all its chunks would tie, the one with the exact number among them.
    most = max([everything, *(score + missing for score in scores.values())])
    shares = {id: score / most for id, score in scores.items()}
    return FullTextHit(shares, anything, lacks_code)


def highlight(
    connection: sa.Connection, ids: Sequence[int], match: str, start: str, end: str
) -> Mapping[int, str]:
    """Return the texts of the chunks that have the words, each word between `start` and `end`."""
    return _index(connection).highlight(ids, match, start, end)


def _index(connection: sa.Connection) -> FTS5 | TSVector:
    return TSVector(connection) if connection.dialect.name == "postgresql" else FTS5(connection)


class _Words:
    """The words of the chunks of one library."""

    def __init__(self, connection: sa.Connection, number: int) -> None:
        self._connection = connection
        self._index = _index(connection)
        first = number * CHUNKS_PER_LIBRARY
        self._area = Area(first, first + CHUNKS_PER_LIBRARY - 1)

    @cached_property
    def size(self) -> int:
        """Approximate number of chunks: ids of deleted documents leave gaps."""
        newest = self._connection.scalar(_NEWEST, self._area._asdict())
        return int(newest or self._area.first) - self._area.first + 1

    def look_up(self, term: Term) -> Wanted | None:
        """Return the term of this library for a word; similar words stand in for an unknown one."""
        match = self._index.expression(term)
        count = self.count(match)
        if count or term.word is None:
            return Wanted(match, count) if count else None
        alternatives = [
            self._index.expression(Term(word, word))
            for word in similar(self._connection, self._index, term.word)
        ]
        known = [match for match in alternatives if self.count(match)]
        if not known:
            return None
        match = f"({self._index.OR.join(known)})"
        return Wanted(match, self.count(match), len(known))

    def count(self, match: str) -> int:
        """Return the number of matching chunks, counted up to `RANKED` + 1."""
        return self._index.count(self._area, match, RANKED + 1)

    def any_of(self, wanted: Sequence[Wanted]) -> str:
        """Return the expression that matches any of some words."""
        return self._index.OR.join(word.match for word in wanted)

    def rank(
        self, wanted: Sequence[Wanted], limit: int, document_ids: Collection[str] | None
    ) -> Mapping[int, float]:
        """Return the scores of the best chunks, best first, or of the best of some documents."""
        match, first = self.any_of(wanted), self._area.first
        if document_ids is None:
            match, first = self._choose(wanted)
        weighted = [
            Weighted(word.match, word.alternatives, _weight(word.chunks, self.size))
            for word in wanted
        ]
        area = Area(first, self._area.last)
        return self._index.rank(area, match, weighted, limit, document_ids)

    def _choose(self, wanted: Sequence[Wanted]) -> tuple[str, int]:
        """Return the expression to rank and the first id to consider.

        Matches any word if few chunks have one; else any rare word, or all of the common ones. If
        too many still match, only the newest are ranked.
        """
        anything = self.any_of(wanted)
        are_few = sum(word.chunks for word in wanted) <= RANKED
        if are_few or (len(wanted) > 1 and self.count(anything) <= RANKED):
            return anything, self._area.first
        rare: list[Wanted] = []
        for word in sorted(wanted, key=lambda word: word.chunks):
            if sum(other.chunks for other in rare) + word.chunks <= RANKED:
                rare.append(word)
        common = [word.match for word in wanted if word not in rare]
        together = self._index.AND.join(common)
        if not rare and len(common) > 2:
            number = self.count(together)
            if _ENOUGH <= number <= RANKED:
                return together, self._area.first
            if number < _ENOUGH:
                pairs = (f"({self._index.AND.join(pair)})" for pair in combinations(common, 2))
                together = self._index.OR.join(pairs)
        match = self._index.OR.join([*(word.match for word in rare), f"({together})"])
        newest = self._index.newest(self._area, match, RANKED - 1)
        return match, self._area.first if newest is None else newest


def _weight(count: int, size: int) -> float:
    """Return the inverse document frequency of BM25 of a word in `count` of `size` chunks."""
    return max(1e-6, math.log((size - count + 0.5) / (count + 0.5)))
