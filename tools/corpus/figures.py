"""Drawings with labels: charts of several kinds, boxes in a row."""

import random
from collections.abc import Callable

from corpus.document import Align, Area, Figure, Label, Leaf, runs

_GROUND = 0.86
"""Where the bars stand."""
_HIGH = 0.74
"""Height of the highest."""


def random_figure(rng: random.Random, word: Callable[[], str]) -> Figure:
    draw = rng.choices((_bars, _line, _rows, _boxes), (4, 2, 2, 2))[0]
    return draw(rng, word)


def _label(text: str, left: float, top: float, width: float, align: Align = "center") -> Label:
    return Label(Leaf(runs(text), "figure_label"), left, top, width, align)


def _axis(rng: random.Random) -> tuple[list[Label], list[Area]]:
    """Return the values beside a chart and, in some, the lines across it."""
    count = rng.randint(3, 7)
    most, unit = rng.choice((1, 5, 10, 100, 4000, 250_000)), rng.choice(("", "", "", "%"))
    labels, lines = [], []
    ruled = rng.random() < 0.4
    for k in range(count):
        value = most * (count - 1 - k) / (count - 1)
        text = f"{value:.1f}" if most == 1 else f"{value:,.0f}"
        top = _GROUND - _HIGH + _HIGH * k / (count - 1)
        labels.append(_label(text + unit, 0, top - 0.04, 0.07, "right"))
        if ruled:
            lines.append((0.08, top, 0.9, 0.004))
    return labels, lines


def _legend(rng: random.Random, word: Callable[[], str]) -> tuple[list[Label], list[Area]]:
    if rng.random() < 0.55:
        return [], []
    labels, marks = [], []
    beside = rng.random() < 0.5
    for k in range(rng.randint(2, 4)):
        left, top = (0.82, 0.05 + 0.1 * k) if beside else (0.1 + 0.22 * k, 0.0)
        marks.append((left, top + 0.02, 0.015, 0.04))
        labels.append(_label(word()[:14], left + 0.025, top, 0.17, "left"))
    return labels, marks


def _names(rng: random.Random, word: Callable[[], str], count: int) -> list[str]:
    start, step = rng.randint(1985, 2020), rng.choice((1, 1, 5))
    kind = rng.random()
    if kind < 0.4:
        return [str(start + step * k) for k in range(count)]
    if kind < 0.5:
        return [f"Q{k % 4 + 1}" for k in range(count)]
    return [word()[: 60 // count + 3] for _ in range(count)]


def _across(rng: random.Random, word: Callable[[], str], count: int) -> list[Label]:
    step = 0.9 / count
    labels = [
        _label(name, 0.08 + k * step, 0.88, step) for k, name in enumerate(_names(rng, word, count))
    ]
    if rng.random() < 0.25:
        labels.append(_label(word(), 0.3, 0.95, 0.4))
    if rng.random() < 0.25:
        labels.insert(0, _label(f"{word()} (%)", 0, 0.01, 0.3, "left"))
    return labels


def _bars(rng: random.Random, word: Callable[[], str]) -> Figure:
    count, series = rng.randint(3, 9), rng.choice((1, 1, 2, 3))
    step = 0.9 / count
    labels, lines = _axis(rng) if rng.random() < 0.85 else ([], [])
    told = series == 1 and rng.random() < 0.45
    bars = list(lines)
    for k in range(count):
        for n in range(series):
            height = rng.uniform(0.08, 0.95) * _HIGH
            width = 0.7 * step / series
            left = 0.08 + step * (k + 0.15) + n * width
            bars.append((left, _GROUND - height, width * 0.95, height))
            if told:
                value = f"{rng.uniform(0, 100):.{rng.choice((0, 1))}f}"
                labels.append(_label(value, 0.08 + k * step, _GROUND - height - 0.08, step))
    names, marks = _legend(rng, word)
    labels += names + _across(rng, word, count)
    return Figure(labels, bars + marks, height=rng.uniform(8, 16))


def _line(rng: random.Random, word: Callable[[], str]) -> Figure:
    count = rng.randint(4, 10)
    labels, lines = _axis(rng)
    points = [
        (0.08 + 0.9 * (k + 0.5) / count, _GROUND - rng.uniform(0, 1) * _HIGH) for k in range(count)
    ]
    names, marks = _legend(rng, word)
    labels += names + _across(rng, word, count)
    return Figure(labels, lines + marks, line=points, height=rng.uniform(8, 16))


def _rows(rng: random.Random, word: Callable[[], str]) -> Figure:
    """Return bars that lie, with a name before and a value after each."""
    count = rng.randint(3, 9)
    step = 0.88 / count
    labels, bars = [], []
    told = rng.random() < 0.7
    for k in range(count):
        width = rng.uniform(0.05, 0.6)
        bars.append((0.27, step * (k + 0.15), width, step * 0.7))
        labels.append(_label(f"{word()} {word()}"[:24], 0, step * (k + 0.25), 0.25, "right"))
        if told:
            value = f"{rng.uniform(0, 100):.{rng.choice((0, 1))}f}{rng.choice(('', '%'))}"
            labels.append(_label(value, 0.28 + width, step * (k + 0.25), 0.1, "left"))
    if not told or rng.random() < 0.3:
        labels += [_label(str(20 * k), 0.24 + 0.12 * k, 0.92, 0.06) for k in range(6)]
    return Figure(labels, bars, height=1.6 * count + rng.uniform(1, 4))


def _boxes(rng: random.Random, word: Callable[[], str]) -> Figure:
    count, rows = rng.randint(2, 6), rng.choice((1, 1, 2, 3))
    labels, frames = [], []
    step, high = 1 / count, 1 / rows
    for row in range(rows):
        for k in range(count):
            frames.append((k * step, high * (row + 0.25), step * 0.85, high * 0.5))
            name = word()[:12] if rng.random() < 0.7 else f"{word()} {word()}"[:24]
            labels.append(_label(name, k * step, high * (row + 0.4), step * 0.85))
    return Figure(labels, frames=frames, height=5 * rows + rng.uniform(0, 4))
