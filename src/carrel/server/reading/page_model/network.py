"""The page model: a small graph network over pieces of text, in numpy.

Each piece sees itself, its nearest neighbours in four directions, its row and the page, a few
times over; then it is given a role, and each pair of neighbours what they share. The weights are
taught by `tools/teaching`; `card.md` beside them says from what, and how good they are.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from carrel.server.reading.page_model.features import Floats, Indexes, PageFeatures

Role = Literal[
    "text",
    "heading",
    "list_item",
    "cell",
    "caption",
    "footnote",
    "running_head",
    "folio",
    "code",
    "quote",
    "formula",
    "figure_label",
    "contents_entry",
    "reference",
    "aside",
    "form_field",
]
ROLES: tuple[Role, ...] = get_args(Role)
FLAGS = ("head", "wide", "tall", "first")
"""Flags of a piece: in a table's head, in a cell over several columns, over several rows, at the
start of its block."""
SHARED = ("block", "cell", "table", "row", "column")
"""The kinds of wholes that two neighbours may both be part of."""

WEIGHTS = Path(__file__).parent / "weights.npz"


@dataclass(frozen=True)
class PageView:
    """The model's view of a page, as probabilities.

    `roles` and `flags` have a row for each piece; `shared` for each direction, piece and its
    neighbour.
    """

    roles: Floats
    flags: Floats
    shared: Floats
    neighbours: Indexes

    def role(self, *names: Role) -> Floats:
        """Return how likely each piece has one of some roles."""
        total: Floats = self.roles[:, [ROLES.index(name) for name in names]].sum(1)
        return total

    def flag(self, name: str) -> Floats:
        """Return how likely each piece has a flag."""
        of: Floats = self.flags[:, FLAGS.index(name)]
        return of


def look(features: PageFeatures) -> PageView:
    """Look at a page."""
    weights = _weights()
    count = len(features.pieces)
    x = _scale(features.pieces, weights["piece_mean"], weights["piece_scale"])
    pairs = _scale(features.pairs, weights["pair_mean"], weights["pair_scale"])
    h = _relu(x @ weights["enter"] + weights["enter_bias"])
    starts = np.flatnonzero(np.diff(features.rows, prepend=-1))
    sizes = np.diff(starts, append=count)[:, None].astype(np.float32)
    nowhere = np.zeros((1, h.shape[1]), np.float32)
    layer = 0
    while f"mix{layer}" in weights:
        whole = np.concatenate([h, nowhere])
        of_rows = (np.add.reduceat(h, starts) / sizes)[features.rows]
        of_page = np.broadcast_to(h.mean(0), h.shape)
        seen = [h, *(whole[n] for n in features.neighbours), of_rows, of_page]
        mixed = np.concatenate(seen, axis=1) @ weights[f"mix{layer}"]
        # What a neighbour says depends on how it stands to the piece.
        for direction in range(len(features.neighbours)):
            mixed += pairs[direction] @ weights[f"pair{layer}"][direction]
        h = h + _relu(mixed + weights[f"mix_bias{layer}"])
        h = h / np.sqrt((h * h).mean(1, keepdims=True) + 1e-3)
        layer += 1
    said = h @ weights["leave"] + weights["leave_bias"]
    roles, flags = said[:, : len(ROLES)], said[:, len(ROLES) :]
    whole = np.concatenate([h, nowhere])
    ones = h @ weights["one"]
    others = whole @ weights["other"]
    shared = [
        _relu(
            ones[:, direction * PAIR : (direction + 1) * PAIR]
            + others[neighbours, direction * PAIR : (direction + 1) * PAIR]
            + pairs[direction] @ weights["pair"][direction]
            + weights["pair_bias"][direction]
        )
        @ weights["share"][direction]
        + weights["share_bias"][direction]
        for direction, neighbours in enumerate(features.neighbours)
    ]
    chances = np.exp(roles - roles.max(1, keepdims=True))
    chances /= chances.sum(1, keepdims=True)
    return PageView(chances, _sigmoid(flags), _sigmoid(np.stack(shared)), features.neighbours)


PAIR = 32
"""Width of the layer that judges pairs."""


def _scale(values: Floats, mean: Floats, scale: Floats) -> Floats:
    scaled: Floats = np.clip((values - mean) * scale, -6, 6)
    return scaled


def _relu(values: Floats) -> Floats:
    return np.maximum(values, 0, out=values)


def _sigmoid(values: Floats) -> Floats:
    result: Floats = 1 / (1 + np.exp(-np.clip(values, -30, 30)))
    return result


@cache
def _weights() -> dict[str, Floats]:
    with np.load(WEIGHTS) as file:
        return {name: file[name].astype(np.float32) for name in file.files}
