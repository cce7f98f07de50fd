"""Variations of a page: what else it could look like, and how OCR would see it."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from carrel.server.reading.page.elements import Box, Line
from carrel.server.reading.page.rules import Rule, Shade
from carrel.server.reading.page_model.features import Surroundings
from carrel.server.reading.page_model.pieces import piece_rows

Rows = list[list[Line]]


def varied(
    rows: Rows, around: Surroundings, labels: Sequence[Any], random: np.random.Generator
) -> tuple[Rows, Surroundings, list[Any]]:
    """Return a page of other proportions, some without its faces, rules or shades, or a part of it.

    Nothing of that changes what its pieces are.
    """
    found, kept = _stretched(rows, around, random), list(labels)
    rows, around = found
    if random.random() < 0.15:
        rows = [[piece._replace(bold=False, italic=False) for piece in row] for row in rows]
    if random.random() < 0.25:
        rules = [rule for rule in around.rules if rule.across] if random.random() < 0.5 else []
        around = replace(around, rules=rules)
    if random.random() < 0.35:
        around = replace(around, shades=())
    part = random.random()
    if part < 0.05:
        rows, kept = _part(rows, kept, 1, 3, random)
    elif part < 0.3:
        rows, kept = _part(rows, kept, 4, len(rows), random)
    elif part < 0.34:
        rows, kept, around = _map(rows, kept, around, random)
    if random.random() < 0.25:
        rows, kept = _split(rows, kept, random)
    return rows, around, kept


def _stretched(
    rows: Rows, around: Surroundings, random: np.random.Generator
) -> tuple[Rows, Surroundings]:
    """Move lines apart or together; letters keep their height."""
    x, y = (float(np.exp(random.normal(0, spread))) for spread in (0.06, 0.08))

    def box(old: Box) -> Box:
        return Box(old.left * x, old.top * y, old.right * x, old.bottom * y)

    def piece(old: Line) -> Line:
        middle, half = old.box.centre[1] * y, old.box.height / 2
        place = Box(old.box.left * x, middle - half, old.box.right * x, middle + half)
        return old._replace(box=place)

    def rule(old: Rule) -> Rule:
        along, at = (x, y) if old.across else (y, x)
        return old._replace(at=old.at * at, start=old.start * along, end=old.end * along)

    def shade(old: Shade) -> Shade:
        return old._replace(box=box(old.box))

    moved = replace(
        around,
        width=around.width * x,
        height=around.height * y,
        rules=list(map(rule, around.rules)),
        shades=list(map(shade, around.shades)),
        figures=list(map(box, around.figures)),
    )
    return [list(map(piece, row)) for row in rows], moved


def _part(
    rows: Rows, labels: list[Any], least: int, most: int, random: np.random.Generator
) -> tuple[Rows, list[Any]]:
    """Return a stretch of a page's rows."""
    if len(rows) <= least:
        return rows, labels
    count = int(random.integers(least, min(most, len(rows)) + 1))
    first = int(random.integers(0, len(rows) - count + 1))
    before = sum(map(len, rows[:first]))
    here = sum(map(len, rows[first : first + count]))
    return rows[first : first + count], labels[before : before + here]


def _map(
    rows: Rows, labels: list[Any], around: Surroundings, random: np.random.Generator
) -> tuple[Rows, list[Any], Surroundings]:
    """Strew short texts over a picture, as names are on a map; other texts stay below or above."""
    tall = around.height * float(random.uniform(0.2, 0.6))
    top = float(random.choice([0.1 * around.height, 0.9 * around.height - tall]))
    left, right = 0.1 * around.width, 0.9 * around.width
    found: list[tuple[Line, Any]] = []
    taken: list[Box] = []
    for number, (piece, label) in enumerate(zip(chain(*rows), labels, strict=True)):
        box = piece.box
        if box.bottom < top or box.top > top + tall:
            found.append((piece, label))
        if len(piece.text) > 20 or len(taken) == 40:
            continue
        x = float(random.uniform(left, max(left + 1, right - box.width)))
        y = float(random.uniform(top, max(top, top + tall - box.height)))
        place = Box(x, y, x + box.width, y + box.height)
        if not any(
            place.left < other.right + 4
            and other.left < place.right + 4
            and place.top < other.bottom + 2
            and other.top < place.bottom + 2
            for other in taken
        ):
            taken.append(place)
            name = {"id": f"map {number}", "role": "figure_label"}
            found.append((piece._replace(box=place), name))
    if not found:
        return rows, labels, around
    about = {id(piece): label for piece, label in found}
    again = piece_rows([piece for piece, _ in found])
    figures = [*around.figures, Box(left, top, right, top + tall)]
    shown = replace(around, figures=figures, rules=(), shades=())
    return again, [about[id(piece)] for piece in chain(*again)], shown


def _split(rows: Rows, labels: list[Any], random: np.random.Generator) -> tuple[Rows, list[Any]]:
    """Part some pieces at a blank, as wide blanks do."""
    rest = iter(labels)
    found: Rows = []
    kept: list[Any] = []
    for row in rows:
        parts = [_halves(piece, random) if random.random() < 0.03 else [piece] for piece in row]
        for pieces, label in zip(parts, rest, strict=False):
            kept += [label] * len(pieces)
        found.append(list(chain(*parts)))
    return found, kept


def _halves(piece: Line, random: np.random.Generator) -> list[Line]:
    words = piece.text.split(" ")
    if len(words) < 2:
        return [piece]
    cut = int(random.integers(1, len(words)))
    first, second = " ".join(words[:cut]), " ".join(words[cut:])
    left, top, right, bottom = piece.box
    letter = (right - left) / len(piece.text)
    return [
        piece._replace(text=first, box=Box(left, top, left + letter * len(first), bottom)),
        piece._replace(text=second, box=Box(right - letter * len(second), top, right, bottom)),
    ]


def as_scanned(
    rows: Rows, around: Surroundings, random: np.random.Generator
) -> tuple[Rows, Surroundings]:
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
                piece._replace(box=place, size=height, bold=False, italic=False, mono=False)
            )
        found.append(scanned)
    rules = [
        rule._replace(faint=False)
        for rule in around.rules
        if not rule.faint and random.random() < 0.9 and rule.end - rule.start > 20
    ]
    kept = around.figures if random.random() < 0.5 else ()
    return found, Surroundings(around.width, around.height, rules, (), kept, scanned=True)
