"""The parts of a query to a full-text index; each kind of database has a module with its own."""

from typing import NamedTuple


class Area(NamedTuple):
    """The chunks of a library: from one id to another, both included."""

    first: int
    last: int


class Weighted(NamedTuple):
    """A word of a query with its alternatives, and its share of a score."""

    match: str
    alternatives: int
    weight: float
