"""The full-text index of PostgreSQL: a `tsvector` for each chunk, and a GIN index over them.

The vector also has the number of the chunk's library as a word, so that a search in a library reads
no other's chunks. PostgreSQL has no document frequencies, which BM25 needs: the caller counts them,
and `ts_rank` stands for the term frequency in a chunk.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from carrel.server.library.fulltext.index import Area, Weighted
from carrel.server.library.fulltext.words import Term, fold
from carrel.server.records.sql.tables import CHUNKS_PER_LIBRARY

_QUERY = "to_tsquery('carrel', %s)"
_IN_AREA = f"FROM chunks WHERE search @@ (%s::tsquery && {_QUERY}) AND id BETWEEN %s AND %s"
_COUNT = f"SELECT count(*) FROM (SELECT 1 {_IN_AREA} LIMIT %s) AS matching"
_NEWEST = f"SELECT id {_IN_AREA} ORDER BY id DESC LIMIT 1 OFFSET %s"
# One word once is 6 / pi² of the highest rank, to which it rises when the word is there often.
_SHARE = (
    "%s::float8 * least(pi() ^ 2 / 6,"
    f" %s * pi() ^ 2 / 6 * ts_rank('{{1, 1, 1, 1}}', search, {_QUERY}))"
)
# The shares are those of a chunk of average length: as in BM25, long ones count less.
_RANK = """
    SELECT id, share * 2.2 / (1.2 * (0.25 + 0.75 * words / avg(words) OVER ()) + 1) AS score
    FROM (SELECT id, length(search)::float8 AS words, {shares} AS share {in_area} {among})
        AS matching
    ORDER BY score DESC, id LIMIT %s
"""
_AMONG = "AND document_id = ANY(%s)"
_TEXTS = "SELECT id, text FROM chunks WHERE id = ANY(%s)"
_MATCHING = f"""
    SELECT word FROM unnest(%s::text[]) AS word WHERE to_tsvector('carrel', word) @@ {_QUERY}
"""
_SHARING = """
    SELECT word, documents FROM words WHERE carrel_runs(word) && %s::text[]
    ORDER BY cardinality(ARRAY(
        SELECT unnest(carrel_runs(word)) INTERSECT SELECT unnest(%s::text[])
    )) DESC, documents DESC LIMIT %s
"""
_WORD = re.compile(r"\w+")


class TSVector:
    """The index on one connection; blocking. It has the methods of `FTS5`."""

    AND, OR = " & ", " | "

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def expression(self, term: Term) -> str:
        """Return the expression that matches a word of a query."""
        if term.word is not None:
            return f"'{term.word}'"
        pairs = " <-> ".join(f"'{pair}'" for pair in term.pairs)
        return f"{pairs}:*" if term.is_prefix else f"({pairs})"

    def count(self, area: Area, match: str, limit: int) -> int:
        """Return the number of matching chunks, counted up to `limit`."""
        [[count]] = self._rows(_COUNT, *_arguments(area, match), limit)
        return int(count)

    def newest(self, area: Area, match: str, offset: int) -> int | None:
        """Return the id of the matching chunk that has `offset` newer ones."""
        found = self._rows(_NEWEST, *_arguments(area, match), offset)
        return int(found[0][0]) if found else None

    def rank(
        self,
        area: Area,
        match: str,
        words: Sequence[Weighted],
        limit: int,
        document_ids: Collection[str] | None = None,
    ) -> dict[int, float]:
        """Return the scores of the best matching chunks, best first; they are close to BM25.

        `document_ids` restricts the search to some documents.
        """
        query = _RANK.format(
            shares=" + ".join([_SHARE] * len(words)),
            in_area=_IN_AREA,
            among="" if document_ids is None else _AMONG,
        )
        shares = [value for word in words for value in (word.weight, word.alternatives, word.match)]
        among = [] if document_ids is None else [list(document_ids)]
        return dict(self._rows(query, *shares, *_arguments(area, match), *among, limit))

    def highlight(self, ids: Sequence[int], match: str, start: str, end: str) -> dict[int, str]:
        """Return the texts of the chunks that match, with each match between `start` and `end`."""
        texts = dict(self._rows(_TEXTS, list(ids)))
        words = {word: fold(word) for text in texts.values() for word in _WORD.findall(text)}
        matching = {row[0] for row in self._rows(_MATCHING, list(set(words.values())), match)}

        def mark(found: re.Match[str]) -> str:
            return f"{start}{found[0]}{end}" if words[found[0]] in matching else found[0]

        return {id: _WORD.sub(mark, text) for id, text in texts.items()}

    def find_sharing(self, runs: Sequence[str], limit: int) -> dict[str, int]:
        """Return the words that share the most of these trigrams, with their document counts."""
        return dict(self._rows(_SHARING, list(runs), list(runs), limit))

    def _rows(self, query: str, *values: object) -> Sequence[Any]:
        return self._connection.exec_driver_sql(query, values).all()


def _arguments(area: Area, match: str) -> tuple[object, ...]:
    return f"'#{area.first // CHUNKS_PER_LIBRARY}'", match, *area
