"""Finds the indexed words that a misspelt word, or a part of a word, may stand for."""

import sqlalchemy as sa

from carrel.server.library.fulltext.fts5 import FTS5
from carrel.server.library.fulltext.tsvector import TSVector
from carrel.server.records.sql.tables import words

_MOST = 4
"""The most words that a misspelt one may stand for."""
_CANDIDATES = 60
_ONE_MISTAKE = 7
"""Words up to this length may differ by one mistake, longer ones by two."""
_SHORT = 7
"""In words up to this length one mistake may leave no three letters in a row."""


def similar(connection: sa.Connection, index: FTS5 | TSVector, word: str) -> list[str]:
    """Return the known words that contain `word`, or else the nearest in spelling, best first."""
    candidates = _find_sharing_letters(index, word)
    longer = [known for known in candidates if word in known]
    if longer:
        return sorted(longer, key=len)[:_MOST]
    if len(word) <= _SHORT:
        candidates |= _find_beginning_alike(connection, word)
    allowed = 1 if len(word) <= _ONE_MISTAKE else 2
    mistakes = {
        known: distance(word, known)
        for known in candidates
        if abs(len(known) - len(word)) <= allowed
    }
    least = min(mistakes.values(), default=allowed + 1)
    if least > allowed:
        return []
    nearest = [known for known, count in mistakes.items() if count == least]
    return sorted(nearest, key=lambda known: (-candidates[known], known))[:_MOST]


def distance(one: str, other: str) -> int:
    """Return the edit distance of two words: letters added, removed, replaced or swapped with a
    neighbour.
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _find_sharing_letters(index: FTS5 | TSVector, word: str) -> dict[str, int]:
    """Return the words that share the most trigrams, with their document counts."""
    runs = sorted({word[start : start + 3] for start in range(len(word) - 2)})
    return index.find_sharing(runs, _CANDIDATES) if runs else {}


def _find_beginning_alike(connection: sa.Connection, word: str) -> dict[str, int]:
    """Return the words of about the same length and letters that begin with the same letter."""
    query = sa.select(words.c.word, words.c.documents).where(
        words.c.word >= word[0],
        words.c.word < chr(ord(word[0]) + 1),
        sa.func.length(words.c.word).between(len(word) - 1, len(word) + 1),
    )
    letters = set(word)
    return {
        row.word: row.documents
        for row in connection.execute(query)
        if len(letters.symmetric_difference(row.word)) <= 2
    }
