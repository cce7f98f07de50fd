"""The interface of a full-text index; each kind of database has a module that implements it."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from carrel.server.library.fulltext.words import Term


class Area(NamedTuple):
    """The chunks from one id to another, both included: those of a library."""

    first: int
    last: int


class Weighted(NamedTuple):
    """A word of a query with its alternatives, and its share of a score."""

    match: str
    alternatives: int
    weight: float


class Index(Protocol):
    """The words of chunks. A `match` is an expression of words in the index's own language."""

    AND: str
    OR: str

    def expression(self, term: Term) -> str:
        """Return the expression that matches a word of a query."""

    def count(self, area: Area, match: str, limit: int) -> int:
        """Return the number of matching chunks, counted up to `limit`."""

    def newest(self, area: Area, match: str, offset: int) -> int | None:
        """Return the id of the matching chunk that has `offset` newer ones."""

    def rank(
        self,
        area: Area,
        match: str,
        words: Sequence[Weighted],
        limit: int,
        document_ids: Collection[str] | None = None,
    ) -> Mapping[int, float]:
        """Return the scores of the best matching chunks by BM25, best first.

        `document_ids` restricts the search to some documents.
        """

    def highlight(self, ids: Sequence[int], match: str, start: str, end: str) -> Mapping[int, str]:
        """Return the texts of the chunks that match, with each match between `start` and `end`."""

    def find_sharing(self, runs: Sequence[str], limit: int) -> Mapping[str, int]:
        """Return the words that share the most of these trigrams, with their document counts."""
