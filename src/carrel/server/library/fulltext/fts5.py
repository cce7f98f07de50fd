"""The full-text index of SQLite: FTS5 tables with the row ids of chunks and of words."""

import json
from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from carrel.server.library.fulltext.index import Area, Weighted
from carrel.server.library.fulltext.words import Term

_IN_AREA = "FROM chunks_fts WHERE chunks_fts MATCH ? AND rowid BETWEEN ? AND ?"
_COUNT = f"SELECT count(*) FROM (SELECT rowid {_IN_AREA} LIMIT ?)"
# With the "+" SQLite keeps the best rows: FTS5 would sort all, each with its words' positions.
_RANK = f"SELECT rowid, -rank {_IN_AREA} ORDER BY +rank, rowid LIMIT ?"
_NEWEST = f"SELECT rowid {_IN_AREA} ORDER BY rowid DESC LIMIT 1 OFFSET ?"
# Here it makes SQLite filter by document before it ranks.
_RANK_IN = """
    SELECT chunks_fts.rowid, -rank FROM chunks_fts JOIN chunks ON chunks.id = chunks_fts.rowid
    WHERE chunks_fts MATCH ? AND chunks_fts.rowid BETWEEN ? AND ?
    AND document_id IN (SELECT value FROM json_each(?)) ORDER BY +rank LIMIT ?
"""
_HIGHLIGHT = """
    SELECT rowid, highlight(chunks_fts, 0, ?, ?) FROM chunks_fts
    WHERE chunks_fts MATCH ? AND rowid IN (SELECT value FROM json_each(?))
"""
_RUN = "SELECT rowid FROM words_fts WHERE words_fts MATCH ?"
_SHARING = """
    SELECT word, documents FROM ({}) AS sharing JOIN words ON words.id = sharing.rowid
    GROUP BY words.id ORDER BY count(*) DESC, documents DESC LIMIT ?
"""


class FTS5:
    """The index on one connection; blocking.

    A `match` is an expression of words in the index's own language.
    """

    AND, OR = " AND ", " OR "

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def expression(self, term: Term) -> str:
        """Return the expression that matches a word of a query."""
        if term.word is not None:
            return f'"{term.word}"'
        return f'segmented : "{" ".join(term.pairs)}"' + (" *" if term.is_prefix else "")

    def count(self, area: Area, match: str, limit: int) -> int:
        """Return the number of matching chunks, counted up to `limit`."""
        [[count]] = self._rows(_COUNT, match, *area, limit)
        return int(count)

    def newest(self, area: Area, match: str, offset: int) -> int | None:
        """Return the id of the matching chunk that has `offset` newer ones."""
        found = self._rows(_NEWEST, match, *area, offset)
        return int(found[0][0]) if found else None

    def rank(
        self,
        area: Area,
        match: str,
        words: Sequence[Weighted],
        limit: int,
        document_ids: Collection[str] | None = None,
    ) -> dict[int, float]:
        """Return the scores of the best matching chunks by BM25, best first.

        `document_ids` restricts the search to some documents. FTS5 computes the words' weights.
        """
        if document_ids is None:
            return dict(self._rows(_RANK, match, *area, limit))
        among = json.dumps(list(document_ids))
        return dict(self._rows(_RANK_IN, match, *area, among, limit))

    def highlight(self, ids: Sequence[int], match: str, start: str, end: str) -> dict[int, str]:
        """Return the texts of the chunks that match, with each match between `start` and `end`."""
        return dict(self._rows(_HIGHLIGHT, start, end, match, json.dumps(list(ids))))

    def find_sharing(self, runs: Sequence[str], limit: int) -> dict[str, int]:
        """Return the words that share the most of these trigrams, with their document counts."""
        query = _SHARING.format(" UNION ALL ".join([_RUN] * len(runs)))
        return dict(self._rows(query, *(f'"{run}"' for run in runs), limit))

    def _rows(self, query: str, *values: object) -> Sequence[Any]:
        # The driver itself: SQLAlchemy takes longer than a short query, and wraps every row.
        driver = self._connection.connection.driver_connection
        assert driver is not None
        rows: list[Any] = driver.execute(query, values).fetchall()
        return rows
