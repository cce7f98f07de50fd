"""All pages that are taught, one after the other in a few arrays, and batches of them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from carrel.server.reading.page_model.features import DIRECTIONS
from teaching.dataset import UNKNOWN, Taught

NODES = 6144
"""Pieces in a batch: pages are added while they fit."""
PAGES = 256
NOTHING = np.iinfo(np.int16).max
"""In place of the way to a neighbour, where there is none."""


class Shelf(NamedTuple):
    """The pieces of all pages; the last is none, which fills batches up.

    `x` and `pairs` are the bits of numbers in half precision. `ways` lead to neighbours: their
    number less the piece's own. `trust` is that in the teachers, `told` whether the truth tells of
    headings.
    """

    x: np.ndarray
    pairs: np.ndarray
    ways: np.ndarray
    rows: np.ndarray
    roles: np.ndarray
    flags: np.ndarray
    shared: np.ndarray
    trust: np.ndarray
    told: np.ndarray


class Batch(NamedTuple):
    """The pieces of some pages: their numbers on the shelf, and their rows and pages here."""

    pieces: np.ndarray
    rows: np.ndarray
    pages: np.ndarray


def shelved(pages: Sequence[Taught]) -> tuple[Shelf, np.ndarray, np.ndarray]:
    """Return a shelf, how many pieces each of its pages has, and how often each is taught."""
    counts = np.array([len(page.roles) for page in pages])
    ways = []
    for page, count in zip(pages, counts, strict=True):
        way = page.features.neighbours - np.arange(count)
        ways.append(np.where(page.features.neighbours < count, way, NOTHING).astype(np.int16))
    nothing = np.full((len(DIRECTIONS), 1), NOTHING, np.int16)
    return (
        Shelf(
            _joined([page.features.pieces for page in pages], 0).view(np.uint16),
            _joined([page.features.pairs for page in pages], 0, axis=1).view(np.uint16),
            np.concatenate([*ways, nothing], axis=1),
            _joined([page.features.rows for page in pages], 0),
            _joined([page.roles for page in pages], UNKNOWN),
            _joined([page.flags for page in pages], UNKNOWN),
            _joined([page.shared for page in pages], UNKNOWN, axis=1),
            _of_pieces([page.kind.trust for page in pages], counts),
            _of_pieces([page.kind.headings for page in pages], counts),
        ),
        counts,
        np.array([page.kind.often for page in pages]),
    )


def _of_pieces(values: Sequence[float], counts: np.ndarray) -> np.ndarray:
    """Return values of pages, each for all its pieces; of none, 0."""
    return np.append(np.repeat(values, counts), 0).astype(np.float32)


def _joined(parts: Sequence[np.ndarray], last: int, axis: int = 0) -> np.ndarray:
    shape = list(parts[0].shape)
    shape[axis] = 1
    return np.concatenate([*parts, np.full(shape, last, parts[0].dtype)], axis=axis)


def batches(rows: np.ndarray, counts: np.ndarray, order: np.ndarray) -> Iterator[Batch]:
    """Yield pages in an order of their numbers."""
    starts = np.concatenate([[0], np.cumsum(counts)])
    waiting: list[int] = []
    held = 0
    for number in order:
        if counts[number] > NODES:
            continue
        if held + counts[number] > NODES or len(waiting) == PAGES:
            yield _batch(rows, starts, waiting)
            waiting, held = [], 0
        waiting.append(number)
        held += counts[number]
    if waiting:
        yield _batch(rows, starts, waiting)


def _batch(rows: np.ndarray, starts: np.ndarray, pages: Sequence[int]) -> Batch:
    batch = Batch(
        np.full(NODES, starts[-1], np.int32),
        np.full(NODES, NODES, np.int32),
        np.full(NODES, PAGES, np.int32),
    )
    at = row = 0
    for number, page in enumerate(pages):
        first, end = starts[page], starts[page + 1]
        here = slice(at, at + end - first)
        batch.pieces[here] = np.arange(first, end)
        batch.rows[here] = rows[first:end] + row
        batch.pages[here] = number
        at, row = here.stop, row + int(rows[end - 1]) + 1
    return batch
