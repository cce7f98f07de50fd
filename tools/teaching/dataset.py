"""Pages of a corpus as numbers: features of their pieces, and what is right about each."""

import hashlib
import json
import lzma
import pickle
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2

from carrel.server.reading.page.elements import Line
from carrel.server.reading.page.lines import runs_from_right
from carrel.server.reading.page.parsed import ParsedPage
from carrel.server.reading.page_model.features import (
    PageFeatures,
    Surroundings,
    page_features,
)
from carrel.server.reading.page_model.network import FLAGS, ROLES, SHARED
from carrel.server.reading.page_model.pieces import mirrored_rows, page_pieces
from teaching.variation import as_scanned, varied

UNKNOWN = -1
VARIED = 5
"""Variations of a page that are taught beside it."""

Label = dict[str, Any] | None
"""An element of the truth; None for a piece that is part of none."""


@dataclass
class LabelledPage:
    """A page's pieces in rows, what is drawn around them, and each piece's element."""

    name: str
    rows: list[list[Line]]
    around: Surroundings
    labels: list[Label]


@dataclass
class Taught:
    """A page's features and truth: roles, flags and what neighbours share, -1 where unknown."""

    features: PageFeatures
    roles: np.ndarray
    flags: np.ndarray
    shared: np.ndarray


def documents(folder: Path) -> list[Path]:
    """Return the documents of a corpus, in an order that their names do not decide."""
    found = (path for each in (folder, *folder.iterdir()) for path in each.glob("*.pdf"))
    return sorted(found, key=lambda path: hashlib.sha256(path.name.encode()).digest())


def labelled_pages(document: Path) -> list[LabelledPage]:
    """Return the pages of a document that have text; without labels, nothing is known of them."""
    from carrel.server.reading.pdf.liteparse import parse_pages

    data, labels = document.read_bytes(), document.with_suffix(".json")
    if labels.exists():
        truth = [page["elements"] for page in json.loads(labels.read_text())["pages"]]
    else:
        truth = [[] for _ in pypdfium2.PdfDocument(data)]
    found = []
    for parsed in parse_pages(data, range(len(truth))):
        name = f"{document.parent.name}/{document.stem}/{parsed.index}"
        page = _labelled(name, parsed, truth[parsed.index])
        if page:
            found.append(page)
    return found


def _labelled(
    name: str, parsed: ParsedPage, elements: Sequence[dict[str, Any]]
) -> LabelledPage | None:
    rows = page_pieces(parsed.items, [], parsed.rules, parsed.links)
    if not rows:
        return None
    labels = _labels([piece for row in rows for piece in row], elements)
    width, height = parsed.size
    drawn = (parsed.rules, parsed.shades, parsed.drawings)
    if runs_from_right(piece.text for row in rows for piece in row):
        labels = [label for row in _by_row(labels, rows) for label in reversed(row)]
        rows = mirrored_rows(rows, width)
        drawn = (
            [rule.mirrored(width) for rule in parsed.rules],
            [shade.mirrored(width) for shade in parsed.shades],
            [box.mirrored(width) for box in parsed.drawings],
        )
    around = Surroundings(width, height, *drawn)
    return LabelledPage(name, rows, around, labels)


def _by_row(labels: Sequence[Label], rows: Sequence[Sequence[Line]]) -> Iterator[list[Label]]:
    rest = iter(labels)
    for row in rows:
        yield [next(rest) for _ in row]


def _labels(pieces: Sequence[Line], elements: Sequence[dict[str, Any]]) -> list[Label]:
    """Return for each piece the element of which most of it is part."""
    places = [(box, element) for element in elements for box in element["boxes"]]
    if not places:
        return [None] * len(pieces)
    boxes = np.array([box for box, _ in places])
    found: list[Label] = []
    for piece in pieces:
        box = np.array(piece.box)
        shared = np.minimum(boxes[:, 2:], box[2:]) - np.maximum(boxes[:, :2], box[:2])
        areas = np.maximum(shared, 0).prod(1)
        best = int(areas.argmax())
        most = areas[best] > 0.3 * piece.box.width * piece.box.height
        found.append(places[best][1] if most else None)
    return found


def views(page: LabelledPage, seed: int) -> Iterator[Taught]:
    """Yield a page as it is, some variations of it, and as OCR would see it."""
    # Each page has chance of its own: one more changes no other.
    digest = hashlib.sha256(f"{seed} {page.name}".encode()).digest()
    random = np.random.default_rng(int.from_bytes(digest[:8]))
    whole = (page.rows, page.around, page.labels)
    yield seen(*whole)
    for _ in range(VARIED):
        yield seen(*varied(*whole, random))
    rows, around, labels = varied(*whole, random) if random.random() < 0.5 else whole
    yield seen(*as_scanned(rows, around, random), labels)


def seen(rows: list[list[Line]], around: Surroundings, labels: Sequence[Label]) -> Taught:
    features = page_features([(rows, around)])[0]
    # Half precision: a corpus must fit into memory.
    pieces, pairs = features.pieces.astype(np.float16), features.pairs.astype(np.float16)
    return Taught(replace(features, pieces=pieces, pairs=pairs), *_truth(labels, features))


def _truth(
    labels: Sequence[Label], features: PageFeatures
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = len(labels)
    roles = np.full(count, UNKNOWN, np.int8)
    flags = np.full((count, len(FLAGS)), UNKNOWN, np.int8)
    shared = np.full((*features.neighbours.shape, len(SHARED)), UNKNOWN, np.int8)
    begun: set[Any] = set()
    for number, label in enumerate(labels):
        if label is None:
            continue
        if label["role"] in ROLES:
            roles[number] = ROLES.index(label["role"])
        if label["role"] == "cell":
            flags[number, :3] = (
                UNKNOWN if label["head"] is None else label["head"],
                (label.get("colspan") or 1) > 1,
                (label.get("rowspan") or 1) > 1,
            )
        if label["id"] is not None:
            flags[number, 3] = label["id"] not in begun
            begun.add(label["id"])
    for direction, neighbours in enumerate(features.neighbours):
        for number, other in enumerate(neighbours):
            mine, its = labels[number], labels[other] if other < count else None
            if mine is not None and its is not None:
                shared[direction, number] = _shared(mine, its)
    return roles, flags, shared


def _shared(one: dict[str, Any], two: dict[str, Any]) -> list[int]:
    same = int(one["id"] == two["id"]) if one["id"] and two["id"] else UNKNOWN
    cells = one["role"] == two["role"] == "cell"
    table = int(cells and one["table"] == two["table"])
    if not cells and not (one["role"] and two["role"]):
        table = UNKNOWN
    if table != 1:
        return [same, UNKNOWN, table, UNKNOWN, UNKNOWN]
    return [same, same, table, _meet(one, two, "row"), _meet(one, two, "column")]


def _meet(one: dict[str, Any], two: dict[str, Any], what: str) -> int:
    span = {"row": "rowspan", "column": "colspan"}[what]
    start = max(one[what], two[what])
    end = min(one[what] + (one.get(span) or 1), two[what] + (two.get(span) or 1))
    return int(start < end)


def parsed_corpus(folder: Path, workers: int, most: int | None = None) -> list[LabelledPage]:
    """Return all pages of a corpus, or those of its first documents."""
    with ProcessPoolExecutor(workers, get_context("forkserver")) as pool:
        return list(chain(*pool.map(labelled_pages, documents(folder)[:most], chunksize=4)))


def taught(pages: Iterable[LabelledPage], seed: int, workers: int) -> list[Taught]:
    """Return every view of the pages."""
    look = partial(_all_views, seed=seed)
    with ProcessPoolExecutor(workers, get_context("forkserver")) as pool:
        return list(chain(*pool.map(look, pages, chunksize=32)))


def _all_views(page: LabelledPage, seed: int) -> list[Taught]:
    return list(views(page, seed))


def write_pages(pages: Sequence[LabelledPage], path: Path) -> None:
    """Write pages into one file, which another machine can teach from."""
    with lzma.open(path, "wb", preset=1) as file:
        pickle.dump(pages, file)


def read_pages(path: Path) -> list[LabelledPage]:
    """Read a file of `write_pages`, of our own making."""
    with lzma.open(path) as file:
        found: list[LabelledPage] = pickle.load(file)
    return found
