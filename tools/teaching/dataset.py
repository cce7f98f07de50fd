"""Pages of a corpus as numbers: features of their pieces, and what is right about each."""

import hashlib
import json
import lzma
import pickle
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pypdfium2
from PIL import Image

from carrel.server.reading.layout.blocks import PageParts
from carrel.server.reading.ocr.process import OCREngine, read_page
from carrel.server.reading.page.elements import Line, PageFrame
from carrel.server.reading.page.lines import runs_from_right
from carrel.server.reading.page.parsed import ParsedPage
from carrel.server.reading.page.rules import Shade
from carrel.server.reading.page_model.features import (
    PageFeatures,
    Surroundings,
    page_features,
)
from carrel.server.reading.page_model.network import FLAGS, ROLES, SHARED
from carrel.server.reading.page_model.pieces import mirrored_rows, page_pieces
from carrel.server.reading.pdf.document import OCR_DPI, OCR_SIDE, POINTS
from carrel.server.reading.pdf.pictures import finest_picture
from carrel.server.reading.scans.recognition import recognise_page
from teaching.variation import as_scanned, varied

UNKNOWN = -1

_FOUND = 0.7
"""Least part of the pieces of a scan whose element is known: else it was read turned, or badly."""
_PURE = 0.85
"""Least part of a piece of a scan that is of its element."""

Label = dict[str, Any] | None
"""An element of the truth; None for a piece that is part of none."""


@dataclass
class LabelledPage:
    """A page's pieces in rows, what is drawn around them, and each piece's element."""

    name: str
    rows: list[list[Line]]
    around: Surroundings
    labels: list[Label]


class Kind(NamedTuple):
    """How pages of a kind are taught."""

    often: float
    """How many times a view of one comes in a round."""
    trust: float
    """In what the teachers say, where there are some; the rest is the truth's."""
    headings: bool
    """Whether the truth tells of headings, or the teachers alone."""
    varied: int = 5
    """Variations of a page that are taught beside it."""


SET = Kind(2, 0.5, headings=False)
"""Set pages have headings where real ones have none: what looks like one is drawn by chance."""
SCAN = Kind(3, 0.2, headings=True)
TAGGED = Kind(2, 0.3, headings=True)
HAND = Kind(3, 0.15, headings=True, varied=16)
UNTOLD = Kind(0.9, 1, headings=False)


@dataclass
class Taught:
    """A page's features and truth: roles, flags and what neighbours share, -1 where unknown."""

    kind: Kind
    features: PageFeatures
    roles: np.ndarray
    flags: np.ndarray
    shared: np.ndarray


def documents(folder: Path) -> list[Path]:
    """Return the documents of a corpus, in an order that their names do not decide."""
    found = (path for each in (folder, *folder.iterdir()) for path in each.glob("*.pdf"))
    return sorted(found, key=lambda path: hashlib.sha256(path.name.encode()).digest())


def labelled_pages(document: Path) -> list[LabelledPage]:
    """Return the pages of a document that have text; without labels, nothing is known of them.

    A page without letters is read by OCR, as it would be.
    """
    from carrel.server.reading.pdf.liteparse import parse_pages

    data, labels = document.read_bytes(), document.with_suffix(".json")
    with pypdfium2.PdfDocument(data) as pdf:
        if labels.exists():
            truth = [page["elements"] for page in json.loads(labels.read_text())["pages"]]
        else:
            truth = [[] for _ in pdf]
        found = []
        for parsed in parse_pages(data, range(len(truth))):
            name = f"{document.parent.name}/{document.stem}/{parsed.index}"
            parts = scanned_parts(pdf[parsed.index]) if parsed.needs_ocr else _parts(parsed)
            page = _labelled(name, parts, truth[parsed.index])
            if page:
                found.append(page)
    return found


def _parts(parsed: ParsedPage) -> PageParts:
    return PageParts(
        PageFrame(*parsed.size),
        parsed.items,
        links=parsed.links,
        rules=parsed.rules,
        shades=parsed.shades,
        drawings=parsed.drawings,
    )


@cache
def _engine() -> OCREngine:
    return OCREngine()


def scanned_parts(page: pypdfium2.PdfPage) -> PageParts:
    """Return what OCR finds in a page's picture."""
    sharpest = max(OCR_DPI / POINTS, finest_picture(page))
    picture = page.render(scale=min(OCR_SIDE / max(page.get_size()), sharpest)).to_pil()

    def look(picture: Image.Image) -> dict[str, Any]:
        # The models were trained with OpenCV's BGR order.
        return read_page(_engine(), np.ascontiguousarray(np.asarray(picture)[:, :, ::-1]))

    return recognise_page(picture.convert("RGB"), page.get_size(), look)


def _labelled(
    name: str, parts: PageParts, elements: Sequence[dict[str, Any]]
) -> LabelledPage | None:
    rows = page_pieces(parts.items, parts.lines, parts.rules, parts.links)
    if not rows:
        return None
    pieces = [piece for row in rows for piece in row]
    scanned = not parts.items
    labels = _labels(pieces, elements, scanned=scanned)
    if scanned and elements and sum(map(bool, labels)) < _FOUND * len(labels):
        return None
    labels = [
        {**label, "role": None} if label and _is_moot(piece, label, parts.shades) else label
        for piece, label in zip(pieces, labels, strict=True)
    ]
    width, height = parts.frame.upright_size
    if runs_from_right(piece.text for piece in pieces):
        labels = [label for row in _by_row(labels, rows) for label in reversed(row)]
        rows, parts = mirrored_rows(rows, width), parts.mirrored()
    drawn = (parts.rules, parts.shades, [*parts.figures, *parts.drawings])
    return LabelledPage(name, rows, Surroundings(width, height, *drawn, scanned=scanned), labels)


def _is_moot(piece: Line, label: dict[str, Any], shades: Sequence[Shade]) -> bool:
    """Return whether corpora disagree on a piece: text on a shade is an aside in some."""
    return label["role"] in {"text", "aside"} and any(s.box.holds_centre(piece.box) for s in shades)


def _by_row(labels: Sequence[Label], rows: Sequence[Sequence[Line]]) -> Iterator[list[Label]]:
    rest = iter(labels)
    for row in rows:
        yield [next(rest) for _ in row]


def _labels(
    pieces: Sequence[Line], elements: Sequence[dict[str, Any]], *, scanned: bool
) -> list[Label]:
    """Return for each piece the element of which most of it is part.

    What OCR found as one is part of none where it is of several elements.
    """
    places = [(box, element) for element in elements for box in element["boxes"]]
    if not places:
        return [None] * len(pieces)
    boxes = np.array([box for box, _ in places])
    owners = np.array([id(element) for _, element in places])
    found: list[Label] = []
    for piece in pieces:
        left, top, right, bottom = piece.box
        # OCR's boxes reach into the lines above and below.
        rim = (bottom - top) / 4 if scanned else 0
        box = np.array([left, top + rim, right, bottom - rim])
        shared = np.minimum(boxes[:, 2:], box[2:]) - np.maximum(boxes[:, :2], box[:2])
        areas = np.maximum(shared, 0).prod(1)
        best = int(areas.argmax())
        most = areas[best] > 0.3 * (box[2:] - box[:2]).prod()
        alone = not scanned or areas[owners == owners[best]].sum() > _PURE * areas.sum()
        found.append(places[best][1] if most and alone else None)
    return found


def kind_of(page: LabelledPage) -> Kind:
    """Return how a page is taught, by the folder that its name begins with."""
    folder = page.name.split("/")[0]
    if not any(page.labels):
        return UNTOLD
    told = {"tagged": TAGGED, "hand": HAND}
    return told.get(folder) or (SCAN if page.around.scanned else SET)


def views(page: LabelledPage, seed: int) -> Iterator[Taught]:
    """Yield a page as it is, some variations of it, and about as OCR would see it."""
    # Each page has chance of its own: one more changes no other.
    digest = hashlib.sha256(f"{seed} {page.name}".encode()).digest()
    random = np.random.default_rng(int.from_bytes(digest[:8]))
    whole, kind = (page.rows, page.around, page.labels), kind_of(page)
    yield seen(*whole, kind)
    for _ in range(kind.varied):
        yield seen(*varied(*whole, random), kind)
    rows, around, labels = varied(*whole, random) if random.random() < 0.5 else whole
    if not around.scanned:
        rows, around = as_scanned(rows, around, random)
    yield seen(rows, around, labels, kind)


def seen(
    rows: list[list[Line]], around: Surroundings, labels: Sequence[Label], kind: Kind = SET
) -> Taught:
    features = page_features([(rows, around)])[0]
    # Half precision: a corpus must fit into memory.
    pieces, pairs = features.pieces.astype(np.float16), features.pairs.astype(np.float16)
    return Taught(kind, replace(features, pieces=pieces, pairs=pairs), *_truth(labels, features))


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
