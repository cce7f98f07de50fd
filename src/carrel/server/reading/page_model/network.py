"""The page model: a small graph network over pieces of text, in numpy.

A piece sees itself, its nearest neighbours in four directions, its row and the page, a few times
over; then it is given a role, and each pair of neighbours what they share. The weights are taught
by `tools/teaching`; `card.md` beside them says from what, and how good they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from carrel.server.reading.page_model.features import DIRECTIONS, Floats, Indexes, PageFeatures

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
    neighbour. `told` are the tags of a tagged file's pieces.
    """

    roles: Floats
    flags: Floats
    shared: Floats
    neighbours: Indexes
    told: Indexes = field(default_factory=lambda: np.zeros((0, 9), int))

    def role(self, *names: Role) -> Floats:
        """Return how likely each piece has one of some roles."""
        total: Floats = self.roles[:, [*map(ROLES.index, names)]].sum(1)
        return total

    def flag(self, name: str) -> Floats:
        """Return how likely each piece has a flag."""
        of: Floats = self.flags[:, FLAGS.index(name)]
        return of


def look(pages: Sequence[PageFeatures]) -> list[PageView]:
    """Look at pages, all at once."""
    weights = load_weights(WEIGHTS)
    spans = list(pairwise(accumulate((len(page.pieces) for page in pages), initial=0)))
    count = spans[-1][1]
    pieces = np.concatenate([page.pieces for page in pages])
    x = ((pieces - weights["piece_mean"]) * weights["piece_scale"]).clip(-6, 6)
    pairs = np.concatenate([page.pairs for page in pages], axis=1)
    pairs = ((pairs - weights["pair_mean"]) * weights["pair_scale"]).clip(-6, 6)
    every_pair = pairs.transpose(1, 0, 2).reshape(count, -1)
    # What each sees: itself, its neighbours or nothing, the means of its row and of its page.
    seen = np.full((count, 1 + len(DIRECTIONS) + 2), count)
    seen[:, 0] = np.arange(count)
    means, end = [], count + 1
    for page, (start, stop) in zip(pages, spans, strict=True):
        known = stop - start != page.neighbours.T
        np.copyto(seen[start:stop, 1:-2], page.neighbours.T + start, where=known)
        mean = np.zeros((page.rows[-1] + 2, stop - start), np.float32)
        mean[page.rows, np.arange(stop - start)] = mean[-1] = 1
        means.append((slice(start, stop), slice(end, end + len(mean)), mean / mean.sum(1)[:, None]))
        seen[start:stop, -2], seen[start:stop, -1] = end + page.rows, end + page.rows[-1] + 1
        end += len(mean)
    whole = np.zeros((end, len(weights["leave"])), np.float32)
    h = whole[:count]
    h += np.maximum(x @ weights["enter"] + weights["enter_bias"], 0)
    for layer in range(sum(name.startswith("mix_bias") for name in weights)):
        for some, place, mean in means:
            whole[place] = mean @ h[some]
        mixed = whole.take(seen, axis=0).reshape(count, -1) @ weights[f"mix{layer}"]
        # What a neighbour says depends on how it stands to the piece.
        mixed += every_pair @ weights[f"pair{layer}"].reshape(-1, whole.shape[1])
        mixed += weights[f"mix_bias{layer}"]
        h += np.maximum(mixed, 0, out=mixed)
        h /= np.sqrt((h * h).mean(1, keepdims=True) + 1e-3)
    said = h @ weights["leave"] + weights["leave_bias"]
    between = pairs @ weights["pair"] + weights["pair_bias"][:, None]
    between += _by_direction(h @ weights["one"])
    others = _by_direction(whole[: count + 1] @ weights["other"])
    between += others[np.arange(len(DIRECTIONS))[:, None], seen.T[1:-2]]
    shared = np.maximum(between, 0, out=between) @ weights["share"]
    shared = _sigmoid(shared + weights["share_bias"][:, None])
    roles, flags = said[:, : len(ROLES)], _sigmoid(said[:, len(ROLES) :])
    chances = np.exp(roles - roles.max(1, keepdims=True))
    chances /= chances.sum(1, keepdims=True)
    return [
        PageView(chances[start:stop], flags[start:stop], shared[:, start:stop], page.neighbours)
        for page, (start, stop) in zip(pages, spans, strict=True)
    ]


def _by_direction(values: Floats) -> Floats:
    """Return values of pieces by direction."""
    return values.reshape(len(values), len(DIRECTIONS), -1).swapaxes(0, 1)


def _sigmoid(values: Floats) -> Floats:
    result: Floats = 1 / (1 + np.exp(-values.clip(-30, 30)))
    return result


@cache
def load_weights(path: Path) -> dict[str, Floats]:
    """Return the network's weights."""
    with np.load(path) as file:
        return {name: file[name].astype(np.float32) for name in file.files}
