"""Teaches the page model: gradient descent on pages, many at a time, in JAX.

A class of larger networks is taught first; then one of the size that ships learns from the truth
and from them.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from carrel.server.reading.page_model.features import DIRECTIONS, PAIR_FEATURES
from carrel.server.reading.page_model.network import FLAGS, ROLES, SHARED
from teaching.shelf import NODES, NOTHING, PAGES, Batch, Shelf, batches

Weights = dict[str, Any]
PAIR = 32
"""Width of the layer that judges pairs."""


@dataclass(frozen=True)
class Course:
    """The size of a network, and how it is taught."""

    width: int = 64
    layers: int = 4
    steps: int = 12_000
    rate: float = 3e-3
    """Of learning, at its highest."""
    noise: float = 0.1
    """Deviation of the noise on features."""
    dropped: float = 0.1
    """Part of a layer that is left out."""
    decay: float = 0.03
    """Part of the weights that is lost at each step, times the rate."""
    kept: float = 0.998
    """Of the mean of the weights over the steps: that is what is taught in the end."""


def initial(shelf: Shelf, course: Course, seed: int) -> Weights:
    """Weights before the first step; features are scaled by what a sample of pieces shows."""
    random = np.random.default_rng(seed)
    step = max(1, len(shelf.rows) // 200_000)
    x = np.asarray(shelf.x[:-1:step]).view(np.float16).astype(np.float32)
    pairs = np.asarray(shelf.pairs[:, :-1:step]).view(np.float16).astype(np.float32)
    pairs = pairs.reshape(-1, PAIR_FEATURES)

    def matrix(*shape: int) -> np.ndarray:
        return random.normal(0, np.sqrt(1.6 / shape[-2]), shape).astype(np.float32)

    d, width = len(DIRECTIONS), course.width
    weights = {
        "enter": matrix(x.shape[1], width),
        "enter_bias": np.zeros(width, np.float32),
        "leave": matrix(width, len(ROLES) + len(FLAGS)),
        "leave_bias": np.zeros(len(ROLES) + len(FLAGS), np.float32),
        "one": matrix(width, d * PAIR),
        "other": matrix(width, d * PAIR),
        "pair": matrix(d, PAIR_FEATURES, PAIR),
        "pair_bias": np.zeros((d, PAIR), np.float32),
        "share": matrix(d, PAIR, len(SHARED)),
        "share_bias": np.zeros((d, len(SHARED)), np.float32),
    }
    for layer in range(course.layers):
        weights[f"mix{layer}"] = matrix((3 + d) * width, width) * 0.7
        weights[f"pair{layer}"] = matrix(d, PAIR_FEATURES, width) * 0.3
        weights[f"mix_bias{layer}"] = np.zeros(width, np.float32)
    scales = {
        "piece_mean": x.mean(0),
        "piece_scale": 1 / (x.std(0) + 0.02),
        "pair_mean": pairs.mean(0),
        "pair_scale": 1 / (pairs.std(0) + 0.02),
    }
    return {**weights, **{f"_{name}": value for name, value in scales.items()}}


Said = tuple[Any, Any, Any]
"""Logits of roles, flags and what neighbours share."""


def _forward(
    weights: Weights, shelf: Shelf, batch: Batch, key: Any = None, noise: float = 0, drop: float = 0
) -> Said:
    """Return what a network says of a batch; with a `key`, as it is taught."""
    layers = sum(name.startswith("mix_bias") for name in weights)
    keys = jax.random.split(key, 2 + layers) if key is not None else None

    def scaled(values: Any, name: str) -> Any:
        mean, scale = weights[f"_{name}_mean"], weights[f"_{name}_scale"]
        return jnp.clip((_whole(values) - mean) * scale, -6, 6)

    x, pairs = scaled(shelf.x[batch.pieces], "piece"), scaled(shelf.pairs[:, batch.pieces], "pair")
    if keys is not None:
        # No corpus is as varied as pages are: nothing may hang on one feature's exact value.
        x += noise * jax.random.normal(keys[0], x.shape)
        x *= jax.random.bernoulli(keys[1], 1 - drop / 2, x.shape)
    ways = shelf.ways[:, batch.pieces].astype(jnp.int32)
    neighbours = jnp.where(ways == NOTHING, NODES, jnp.arange(NODES) + ways)

    def mean(h: Any, groups: Any, count: int) -> Any:
        sums = jax.ops.segment_sum(h, groups, count, indices_are_sorted=True)
        sizes = jax.ops.segment_sum(jnp.ones(len(h)), groups, count, indices_are_sorted=True)
        return (sums / jnp.maximum(sizes, 1)[:, None])[groups]

    h = jax.nn.relu(x @ weights["enter"] + weights["enter_bias"])
    nowhere = jnp.zeros((1, h.shape[1]))
    for layer in range(layers):
        whole = jnp.concatenate([h, nowhere])
        of_rows, of_pages = mean(h, batch.rows, NODES + 1), mean(h, batch.pages, PAGES + 1)
        seen = [h, *(whole[n] for n in neighbours), of_rows, of_pages]
        mixed = jnp.concatenate(seen, axis=1) @ weights[f"mix{layer}"]
        mixed += jnp.einsum("dnf,dfw->nw", pairs, weights[f"pair{layer}"])
        mixed = jax.nn.relu(mixed + weights[f"mix_bias{layer}"])
        if keys is not None:
            mixed *= jax.random.bernoulli(keys[2 + layer], 1 - drop, h.shape) / (1 - drop)
        h = h + mixed
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


def _loss(said: Said, shelf: Shelf, batch: Batch, advice: Said | None) -> Any:
    """Return how far a network is from the truth, and from what its teachers say.

    Where the truth is not known, what they say is all there is.
    """
    roles, flags, shared = said
    truth = shelf.roles[batch.pieces].astype(jnp.int32)
    right: Any = jax.nn.one_hot(truth, len(ROLES))
    true_flags: Any = shelf.flags[batch.pieces].astype(jnp.float32)
    true_shared: Any = shelf.shared[:, batch.pieces].astype(jnp.float32)
    known = truth >= 0
    if advice:
        roles_said, flags_said = (_whole(part[batch.pieces]) for part in advice[:2])
        shared_said = _whole(advice[2][:, batch.pieces])
        trust = shelf.trust[batch.pieces][:, None]
        heading = ROLES.index("heading")
        disputed = (truth == heading) | (roles_said.argmax(1) == heading)
        disputed &= shelf.told[batch.pieces] == 0
        believed = jnp.where((disputed | ~known)[:, None], 1, trust)
        right = _mixed(right, roles_said, believed)
        truth = jnp.where(known, truth, roles_said.argmax(1))
        known = batch.pages < PAGES
        # Only cells may be heads, and only what shares a table may share a row.
        is_cell = (truth == ROLES.index("cell")) & known
        asked = is_cell[:, None] | (known[:, None] & jnp.asarray([f == "first" for f in FLAGS]))
        true_flags = jnp.where(
            true_flags < 0,
            jnp.where(asked, flags_said, -1),
            _mixed(true_flags, flags_said, trust),
        )
        in_table = shared_said[..., 2:3] > 0.5
        asked = in_table | jnp.asarray([what in ("block", "table") for what in SHARED])
        untold = (true_shared[..., :1] < 0) & (shelf.ways[:, batch.pieces] != NOTHING)[..., None]
        true_shared = jnp.where(
            true_shared < 0,
            jnp.where(untold & asked, shared_said, -1),
            _mixed(true_shared, shared_said, trust),
        )
    counts = jnp.bincount(
        jnp.where(known, truth, 0), weights=known.astype(jnp.float32), length=len(ROLES)
    )
    # Rare roles count more, but not as much more as they are rarer.
    weight = (1 / jnp.sqrt(jnp.maximum(counts, 20)))[jnp.maximum(truth, 0)] * known
    chosen = (jax.nn.log_softmax(roles) * right).sum(1)
    of_roles = -(chosen * weight).sum() / jnp.maximum(weight.sum(), 1e-6)
    return of_roles + 0.5 * _binary(flags, true_flags) + _binary(shared, true_shared)


def _whole(halves: Any) -> Any:
    """Return numbers in half precision, which the shelf holds as their bits, as others.

    A processor would turn the whole shelf at each step.
    """
    return jax.lax.bitcast_convert_type(halves, jnp.float16).astype(jnp.float32)


def _mixed(truth: Any, said: Any, trust: Any) -> Any:
    return (1 - trust) * truth + trust * said


def _binary(logits: Any, truth: Any) -> Any:
    known = truth >= 0
    loss = jnp.maximum(logits, 0) - logits * truth + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    axes = tuple(range(logits.ndim - 1))
    sums = jnp.where(known, loss, 0).sum(axes)
    return (sums / jnp.maximum(known.sum(axes), 1)).sum()


def advised(teachers: Sequence[Weights], shelf: Shelf, counts: np.ndarray) -> Said:
    """Return what teachers say on the mean of every piece, as the page model takes their mean."""

    def asked(shelf: Shelf, batch: Batch) -> Said:
        said = [_forward(weights, shelf, batch) for weights in teachers]
        return (
            jax.nn.softmax(sum(one[0] for one in said) / len(said)),
            sum(jax.nn.sigmoid(one[1]) for one in said) / len(said),
            sum(jax.nn.sigmoid(one[2]) for one in said) / len(said),
        )

    compiled = jax.jit(asked)
    count = len(shelf.rows)
    roles = np.zeros((count, len(ROLES)), np.float16)
    flags = np.zeros((count, len(FLAGS)), np.float16)
    shared = np.zeros((len(DIRECTIONS), count, len(SHARED)), np.float16)
    for batch in batches(np.asarray(shelf.rows), counts, np.arange(len(counts))):
        some = batch.pieces
        roles[some], flags[some], shared[:, some] = compiled(shelf, batch)
    return roles.view(np.uint16), flags.view(np.uint16), shared.view(np.uint16)


def _endless(
    rows: np.ndarray, counts: np.ndarray, often: np.ndarray, random: np.random.Generator
) -> Iterator[Batch]:
    """Yield rounds of all pages in random order, each page about as often as it is to come."""
    while True:
        times = np.floor(often + random.random(len(often))).astype(int)
        order = random.permutation(np.repeat(np.arange(len(counts)), times))
        yield from batches(rows, counts, order)


def train(
    name: str,
    shelf: Shelf,
    counts: np.ndarray,
    often: np.ndarray,
    course: Course,
    seeds: Sequence[int],
    advice: Said | None = None,
    start: Weights | None = None,
) -> list[Weights]:
    """Teach a network for each seed, all on the same pages; return their mean weights.

    The rate of learning rises, and then falls to nothing. `advice` is what teachers say; with
    `start`, each goes on from those weights.
    """
    each = [start or initial(shelf, course, seed) for seed in seeds]
    fixed = {key: value for key, value in each[0].items() if key.startswith("_")}
    free = {
        key: jnp.stack([weights[key] for weights in each]) for key in each[0] if key not in fixed
    }
    keys = jnp.stack([jax.random.key(seed) for seed in seeds])

    @partial(jax.jit, donate_argnums=0)
    def step(moving: Any, shelf: Shelf, advice: Any, batch: Batch) -> Any:
        number, *state = moving

        def loss_of(free: Weights, key: Any) -> Any:
            said = _forward({**free, **fixed}, shelf, batch, key, course.noise, course.dropped)
            return _loss(said, shelf, batch, advice)

        def learn(key: Any, free: Weights, mean: Weights, moments: Any) -> Any:
            loss, slope = jax.value_and_grad(loss_of)(free, jax.random.fold_in(key, number))
            return *_moved(course, number + 1, free, mean, moments, slope), loss

        *state, losses = jax.vmap(learn)(keys, *state)
        return (number + 1, *state), losses.mean()

    moving: Any = (
        jnp.int32(0),
        free,
        jax.tree.map(jnp.array, free),
        jax.tree.map(jnp.zeros_like, (free, free)),
    )
    told, random = time.monotonic(), np.random.default_rng(seeds[0])
    at_hand = islice(_endless(np.asarray(shelf.rows), counts, often, random), course.steps)
    for done, batch in enumerate(at_hand, 1):
        moving, loss = step(moving, shelf, advice, batch)
        if time.monotonic() - told > 20 or done == course.steps:
            told = time.monotonic()
            clock = time.strftime("%H:%M:%S")
            print(f"  {clock} {name} step {done} loss {float(loss):.4f}", flush=True)
    mean = jax.tree.map(np.asarray, moving[2])
    return [
        {**fixed, **{key: value[number] for key, value in mean.items()}}
        for number in range(len(seeds))
    ]


def _moved(
    course: Course, number: Any, free: Weights, mean: Weights, moments: Any, slope: Weights
) -> tuple[Weights, Weights, Any]:
    """Return weights, their mean and the slope's moments after a step."""
    falling = 0.5 * (1 + jnp.cos(jnp.pi * number / course.steps))
    rate = course.rate * jnp.minimum(1, number / 100) * falling
    norm = jnp.sqrt(sum((g * g).sum() for g in jax.tree.leaves(slope)))
    slope = jax.tree.map(lambda g: g * jnp.minimum(1, 5 / (norm + 1e-6)), slope)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], slope)
    second = jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g * g, moments[1], slope)
    fix1, fix2 = 1 - 0.9 ** number.astype(float), 1 - 0.99 ** number.astype(float)
    free = jax.tree.map(
        lambda w, m, v: w * (1 - rate * course.decay)
        - rate * (m / fix1) / (jnp.sqrt(v / fix2) + 1e-7),
        free, first, second,
    )  # fmt: skip
    kept = jnp.minimum(course.kept, number / (number + 10))
    mean = jax.tree.map(lambda old, new: kept * old + (1 - kept) * new, mean, free)
    return free, mean, (first, second)


def save(path: Path, network: Weights) -> None:
    """Write a network, or several whose weights are stacked, in half precision."""
    halves = {
        name.lstrip("_"): value.astype(np.float32 if name[0] == "_" else np.float16)
        for name, value in network.items()
    }
    np.savez_compressed(path, **halves)


def saved(path: Path) -> list[Weights]:
    """Return the networks of a file of `save`."""
    with np.load(path) as file:
        whole = {
            f"_{name}" if name.endswith(("_mean", "_scale")) else name: file[name].astype(
                np.float32
            )
            for name in file.files
        }
    if whole["enter"].ndim == 2:
        return [whole]
    count = len(whole["enter"])
    return [{name: value[number] for name, value in whole.items()} for number in range(count)]
