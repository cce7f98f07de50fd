"""Teaches the page model: gradient descent on pages, many at a time, in JAX."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from carrel.server.reading.page_model.features import DIRECTIONS, PAIR_FEATURES
from carrel.server.reading.page_model.network import FLAGS, PAIR, ROLES, SHARED
from teaching.dataset import UNKNOWN, Taught

WIDTH, LAYERS = 64, 4
NODES = 6144
"""Pieces in a batch: pages are added while they fit."""
PAGES = 256
NOISE, DROPPED = 0.1, 0.1
"""Deviation of the noise on features, and the part of a layer that is left out, in teaching."""

Weights = dict[str, Any]
_SCALES = ("_mean", "_scale")
"""Ends of the names of what is not taught: `_` stands before these."""


def batches(pages: Sequence[Taught], random: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Batches of one shape, in random order."""
    waiting: list[Taught] = []
    held = 0
    for number in random.permutation(len(pages)):
        page = pages[number]
        count = len(page.roles)
        if count > NODES:
            continue
        if held + count > NODES or len(waiting) == PAGES:
            yield _batch(waiting)
            waiting, held = [], 0
        waiting.append(page)
        held += count
    if waiting:
        yield _batch(waiting)


def _batch(pages: Sequence[Taught]) -> dict[str, Any]:
    features = len(pages[0].features.pieces[0])
    batch: dict[str, Any] = {
        "x": np.zeros((NODES, features), np.float32),
        "pairs": np.zeros((len(DIRECTIONS), NODES, PAIR_FEATURES), np.float32),
        "neighbours": np.full((len(DIRECTIONS), NODES), NODES, np.int32),
        "rows": np.full(NODES, NODES - 1, np.int32),
        "page": np.full(NODES, PAGES - 1, np.int32),
        "roles": np.full(NODES, UNKNOWN, np.int8),
        "flags": np.full((NODES, len(FLAGS)), UNKNOWN, np.int8),
        "shared": np.full((len(DIRECTIONS), NODES, len(SHARED)), UNKNOWN, np.int8),
    }
    at = row = 0
    for number, page in enumerate(pages):
        count = len(page.roles)
        here = slice(at, at + count)
        batch["x"][here] = page.features.pieces
        batch["pairs"][:, here] = page.features.pairs
        neighbours = page.features.neighbours
        batch["neighbours"][:, here] = np.where(neighbours < count, neighbours + at, NODES)
        batch["rows"][here] = page.features.rows + row
        batch["page"][here] = number
        batch["roles"][here] = page.roles
        batch["flags"][here] = page.flags
        batch["shared"][:, here] = page.shared
        at, row = at + count, row + int(page.features.rows[-1]) + 1
    return batch


def initial(pages: Sequence[Taught], seed: int) -> Weights:
    """Weights before the first step; features are scaled by what a sample of pages shows."""
    random = np.random.default_rng(seed)
    sample = pages[:2000]
    x = np.concatenate([page.features.pieces for page in sample]).astype(np.float32)
    pairs = np.concatenate(
        [page.features.pairs.reshape(-1, PAIR_FEATURES) for page in sample]
    ).astype(np.float32)

    def matrix(*shape: int) -> np.ndarray:
        return random.normal(0, np.sqrt(1.6 / shape[-2]), shape).astype(np.float32)

    d = len(DIRECTIONS)
    weights = {
        "enter": matrix(x.shape[1], WIDTH),
        "enter_bias": np.zeros(WIDTH, np.float32),
        "leave": matrix(WIDTH, len(ROLES) + len(FLAGS)),
        "leave_bias": np.zeros(len(ROLES) + len(FLAGS), np.float32),
        "one": matrix(WIDTH, d * PAIR),
        "other": matrix(WIDTH, d * PAIR),
        "pair": matrix(d, PAIR_FEATURES, PAIR),
        "pair_bias": np.zeros((d, PAIR), np.float32),
        "share": matrix(d, PAIR, len(SHARED)),
        "share_bias": np.zeros((d, len(SHARED)), np.float32),
    }
    for layer in range(LAYERS):
        weights[f"mix{layer}"] = matrix((3 + d) * WIDTH, WIDTH) * 0.7
        weights[f"pair{layer}"] = matrix(d, PAIR_FEATURES, WIDTH) * 0.3
        weights[f"mix_bias{layer}"] = np.zeros(WIDTH, np.float32)
    scales = {
        "piece_mean": x.mean(0),
        "piece_scale": 1 / (x.std(0) + 0.02),
        "pair_mean": pairs.mean(0),
        "pair_scale": 1 / (pairs.std(0) + 0.02),
    }
    return {**weights, **{f"_{name}": value for name, value in scales.items()}}


def _forward(weights: Weights, batch: dict[str, Any], key: Any) -> tuple[Any, Any, Any]:
    noise, drops, *kept = jax.random.split(key, 2 + LAYERS)

    def scaled(values: Any, name: str) -> Any:
        mean, scale = weights[f"_{name}_mean"], weights[f"_{name}_scale"]
        return jnp.clip((values - mean) * scale, -6, 6)

    x, pairs = scaled(batch["x"], "piece"), scaled(batch["pairs"], "pair")
    # A corpus is small beside the pages there are: nothing may hang on one feature's exact value.
    x += NOISE * jax.random.normal(noise, x.shape)
    x *= jax.random.bernoulli(drops, 1 - DROPPED / 2, x.shape)
    rows, page, neighbours = batch["rows"], batch["page"], batch["neighbours"]

    def mean(h: Any, groups: Any, count: int) -> Any:
        sums = jax.ops.segment_sum(h, groups, count)
        sizes = jax.ops.segment_sum(jnp.ones(len(h)), groups, count)
        return (sums / jnp.maximum(sizes, 1)[:, None])[groups]

    h = jax.nn.relu(x @ weights["enter"] + weights["enter_bias"])
    nowhere = jnp.zeros((1, WIDTH))
    for layer in range(LAYERS):
        whole = jnp.concatenate([h, nowhere])
        seen = [h, *(whole[n] for n in neighbours), mean(h, rows, NODES), mean(h, page, PAGES)]
        mixed = jnp.concatenate(seen, axis=1) @ weights[f"mix{layer}"]
        mixed += jnp.einsum("dnf,dfw->nw", pairs, weights[f"pair{layer}"])
        mixed = jax.nn.relu(mixed + weights[f"mix_bias{layer}"])
        h = h + mixed * jax.random.bernoulli(kept[layer], 1 - DROPPED, h.shape) / (1 - DROPPED)
        h = h / jnp.sqrt((h * h).mean(1, keepdims=True) + 1e-3)
    said = h @ weights["leave"] + weights["leave_bias"]
    whole = jnp.concatenate([h, nowhere])
    ones, others = h @ weights["one"], whole @ weights["other"]
    shared = []
    for d in range(len(DIRECTIONS)):
        part = slice(d * PAIR, (d + 1) * PAIR)
        hidden = ones[:, part] + others[neighbours[d], part]
        hidden += pairs[d] @ weights["pair"][d] + weights["pair_bias"][d]
        shared.append(jax.nn.relu(hidden) @ weights["share"][d] + weights["share_bias"][d])
    return said[:, : len(ROLES)], said[:, len(ROLES) :], jnp.stack(shared)


def _loss(weights: Weights, batch: dict[str, Any], key: Any) -> Any:
    roles, flags, shared = _forward(weights, batch, key)
    truth = batch["roles"].astype(jnp.int32)
    known = truth >= 0
    # Rare roles count more, but not as much more as they are rarer.
    counts = jnp.bincount(
        jnp.where(known, truth, 0), weights=known.astype(jnp.float32), length=len(ROLES)
    )
    weight = (1 / jnp.sqrt(jnp.maximum(counts, 20)))[jnp.maximum(truth, 0)] * known
    chosen = jnp.take_along_axis(jax.nn.log_softmax(roles), jnp.maximum(truth, 0)[:, None], axis=1)[
        :, 0
    ]
    of_roles = -(chosen * weight).sum() / jnp.maximum(weight.sum(), 1e-6)
    return of_roles + 0.5 * _binary(flags, batch["flags"]) + _binary(shared, batch["shared"])


def _binary(logits: Any, truth: Any) -> Any:
    known = truth >= 0
    loss = jnp.maximum(logits, 0) - logits * truth + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    axes = tuple(range(logits.ndim - 1))
    sums = jnp.where(known, loss, 0).sum(axes)
    return (sums / jnp.maximum(known.sum(axes), 1)).sum()


def train(
    pages: Sequence[Taught],
    weights: Weights,
    seed: int,
    steps: int,
    highest: float,
    keep: Callable[[Weights], None],
) -> Weights:
    """Teach for some steps, the rate falling from its highest to nothing.

    `keep` gets the weights in between.
    """
    random = np.random.default_rng(seed)
    fixed = {name: value for name, value in weights.items() if name.startswith("_")}
    free = {name: value for name, value in weights.items() if name not in fixed}
    moments = jax.tree.map(jnp.zeros_like, (free, free))

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(free: Weights, moments: Any, batch: Any, rate: float, number: float, key: Any) -> Any:
        loss, slope = jax.value_and_grad(lambda f: _loss({**f, **fixed}, batch, key))(free)
        norm = jnp.sqrt(sum((g * g).sum() for g in jax.tree.leaves(slope)))
        slope = jax.tree.map(lambda g: g * jnp.minimum(1, 5 / (norm + 1e-6)), slope)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], slope)
        second = jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g * g, moments[1], slope)
        fix1, fix2 = 1 - 0.9**number, 1 - 0.99**number
        free = jax.tree.map(
            lambda w, m, v: w * (1 - rate * 0.01) - rate * (m / fix1) / (jnp.sqrt(v / fix2) + 1e-7),
            free, first, second,
        )  # fmt: skip
        return free, (first, second), loss

    number, losses = 0, list[float]()
    while True:
        for batch in batches(pages, random):
            number += 1
            rate = highest * min(1, number / 100) * 0.5 * (1 + np.cos(np.pi * number / steps))
            key = jax.random.fold_in(jax.random.key(seed), number)
            free, moments, loss = step(free, moments, batch, rate, float(number), key)
            losses.append(float(loss))
            if number % 50 == 0:
                clock = time.strftime("%H:%M:%S")
                print(f"  {clock} step {number} loss {np.mean(losses[-50:]):.4f}", flush=True)
            if number % 250 == 0 or number == steps:
                keep({**fixed, **jax.tree.map(np.asarray, free)})
            if number == steps:
                return {**fixed, **jax.tree.map(np.asarray, free)}


def load(path: Path) -> Weights:
    """Return weights that `save` wrote, to go on from."""
    with np.load(path) as file:
        return {
            f"_{name}" if name.endswith(_SCALES) else name: file[name].astype(np.float32)
            for name in file.files
        }


def save(weights: Weights, path: Path) -> None:
    """Write the weights in half precision."""
    halves = {
        name.lstrip("_"): np.asarray(value).astype(np.float32 if name[0] == "_" else np.float16)
        for name, value in weights.items()
    }
    # Its types take no keyword for an array.
    np.savez_compressed(path, **halves)  # type: ignore[arg-type]
