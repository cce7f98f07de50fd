"""Pages of a corpus as numbers: features of their pieces, and what is right about each."""

import hashlib
import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.lines import runs_from_right
from carrel.server.reading.page.parsed import ParsedPage
from carrel.server.reading.page_model.features import (
    PageFeatures,
    Surroundings,
    page_features,
)
from carrel.server.reading.page_model.network import FLAGS, ROLES, SHARED
from carrel.server.reading.page_model.pieces import mirrored_rows, page_pieces
from carrel.server.reading.pdf.liteparse import parse_pages

UNKNOWN = -1


@dataclass
class Taught:
    """A page's features and truth: roles, flags and what neighbours share, -1 where unknown."""

    features: PageFeatures
    roles: np.ndarray
    flags: np.ndarray
    shared: np.ndarray


def documents(folder: Path) -> list[Path]:
    """Return the labels of a corpus, in an order that their names do not decide."""
    found = (path for each in (folder, *folder.iterdir()) for path in each.glob("*.json"))
    return sorted(found, key=lambda path: hashlib.sha256(path.name.encode()).digest())


def taught_pages(
    labels: Path, random: np.random.Generator, *, scans: bool = True
) -> Iterator[Taught]:
    """Yield the pages of a document; with `scans` each also as OCR would see it."""
    truth = json.loads(labels.read_text())
    data = labels.with_suffix(".pdf").read_bytes()
    count = len(truth["pages"])
    for parsed in parse_pages(data, range(count)):
        page = truth["pages"][parsed.index]
        taught = _taught(parsed, page["elements"], None)
        if taught is not None:
            yield taught
        scanned = _taught(parsed, page["elements"], random) if scans else None
        if scanned is not None:
            yield scanned


def _taught(
    parsed: ParsedPage, elements: Sequence[dict[str, Any]], random: np.random.Generator | None
) -> Taught | None:
    rows = page_pieces(parsed.items, [], parsed.rules, parsed.links)
    if not rows:
        return None
    labels = [_label(piece, elements) for row in rows for piece in row]
    around = Surroundings(parsed.width, parsed.height, parsed.rules, parsed.shades, parsed.drawings)
    if runs_from_right(piece.text for row in rows for piece in row):
        labels = [label for row in _by_row(labels, rows) for label in reversed(row)]
        rows, around = mirrored_rows(rows, around.width), around.mirrored()
    if random is not None:
        rows, around = _as_scanned(rows, around, random)
    features = page_features(rows, around)
    truth = _truth(labels, features)
    # Half precision: a corpus must fit into memory.
    pieces, pairs = features.pieces.astype(np.float16), features.pairs.astype(np.float16)
    return Taught(replace(features, pieces=pieces, pairs=pairs), *truth)


def _by_row(
    labels: Sequence[dict[str, Any] | None], rows: Sequence[Sequence[Line]]
) -> Iterator[list[dict[str, Any] | None]]:
    rest = iter(labels)
    for row in rows:
        yield [next(rest) for _ in row]


def _label(piece: Line, elements: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the element of which most of a piece is part."""
    best, most = None, 0.0
    box = piece.box
    for element in elements:
        for left, top, right, bottom in element["boxes"]:
            across = min(box.right, right) - max(box.left, left)
            down = min(box.bottom, bottom) - max(box.top, top)
            if across > 0 and down > 0 and across * down > most:
                best, most = element, across * down
    return best if most > 0.3 * box.width * box.height else None


def _truth(
    labels: Sequence[dict[str, Any] | None], features: PageFeatures
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = len(labels)
    roles = np.full(count, UNKNOWN, np.int8)
    flags = np.full((count, len(FLAGS)), UNKNOWN, np.int8)
    shared = np.full((*features.neighbours.shape, len(SHARED)), UNKNOWN, np.int8)
    seen: set[Any] = set()
    for number, label in enumerate(labels):
        if label is None or label["role"] not in ROLES:
            continue
        roles[number] = ROLES.index(label["role"])
        if label["role"] == "cell":
            flags[number, :3] = (
                bool(label.get("head")),
                (label.get("colspan") or 1) > 1,
                (label.get("rowspan") or 1) > 1,
            )
        flags[number, 3] = label["id"] not in seen
        seen.add(label["id"])
    for direction, neighbours in enumerate(features.neighbours):
        for number, other in enumerate(neighbours):
            mine, its = labels[number], labels[other] if other < count else None
            if mine is not None and its is not None:
                shared[direction, number] = _shared(mine, its)
    return roles, flags, shared


def _shared(one: dict[str, Any], two: dict[str, Any]) -> list[int]:
    same = int(one["id"] == two["id"])
    cells = one["role"] == two["role"] == "cell"
    table = int(cells and one["table"] == two["table"])
    if not table:
        return [same, UNKNOWN, table, UNKNOWN, UNKNOWN]
    return [same, same, table, _meet(one, two, "row"), _meet(one, two, "column")]


def _meet(one: dict[str, Any], two: dict[str, Any], what: str) -> int:
    span = {"row": "rowspan", "column": "colspan"}[what]
    start = max(one[what], two[what])
    end = min(one[what] + (one.get(span) or 1), two[what] + (two.get(span) or 1))
    return int(start < end)


def _as_scanned(
    rows: Sequence[Sequence[Line]], around: Surroundings, random: np.random.Generator
) -> tuple[list[list[Line]], Surroundings]:
    """Return the pieces as OCR finds them: no faces, sizes by height, places not quite right."""
    shake = float(random.uniform(0.01, 0.06))
    found = []
    for row in rows:
        scanned = []
        for piece in row:
            box, size = piece.box, piece.size
            left, top, right, bottom = (
                edge + float(random.normal(0, shake * size)) for edge in box
            )
            height = 1.0 * size * float(random.normal(1, 0.04))
            middle = (top + bottom) / 2
            place = Box(left, middle - height / 2, max(right, left + 1), middle + height / 2)
            scanned.append(
                replace(piece, box=place, size=height, bold=False, italic=False, mono=False)
            )
        found.append(scanned)
    rules = [
        rule._replace(faint=False)
        for rule in around.rules
        if not rule.faint and random.random() < 0.9 and rule.end - rule.start > 20
    ]
    kept = around.figures if random.random() < 0.5 else ()
    return found, Surroundings(around.width, around.height, rules, (), kept, scanned=True)


def gather(
    folder: Path,
    seed: int,
    most: int | None = None,
    *,
    scans: bool = True,
    cache: Path | None = None,
) -> list[Taught]:
    """All pages of a corpus, or those of its first documents; `cache` keeps what was parsed."""
    pages: list[Taught] = []
    for labels in documents(folder)[:most]:
        kept = cache / f"{labels.parent.name}-{labels.stem}.pickle" if cache else None
        if kept and kept.exists():
            pages += pickle.loads(kept.read_bytes())
            continue
        # Each document has chance of its own: one more changes no other.
        digest = hashlib.sha256(f"{seed} {labels.stem}".encode()).digest()
        random = np.random.default_rng(int.from_bytes(digest[:8]))
        found = list(taught_pages(labels, random, scans=scans))
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(pickle.dumps(found))
        pages += found
    return pages
