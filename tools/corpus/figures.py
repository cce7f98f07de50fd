"""Drawings with labels: charts, boxes in a row, flow charts, circuits, maps."""

import random
from collections.abc import Callable

from corpus.document import Align, Area, Figure, Label, Leaf, runs

_GROUND = 0.86
"""Where the bars stand."""
_HIGH = 0.74
"""Height of the highest."""


def random_figure(rng: random.Random, word: Callable[[], str]) -> Figure:
    kinds = (_bars, _line, _rows, _boxes, _flow, _points, _pins, _map)
    draw = rng.choices(kinds, (4, 2, 2, 2, 2, 1.5, 1.5, 1))[0]
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


def _flow(rng: random.Random, word: Callable[[], str]) -> Figure:
    """Return boxes below and beside each other, with lines between them and words at some."""
    across, down = rng.choice((1, 2, 3, 3)), rng.randint(2, 5)
    wide, high = 1 / across, 1 / down
    labels, frames, lines = [], [], []
    for row in range(down):
        for column in range(across):
            if across > 1 and rng.random() < 0.2:
                continue
            left, top = wide * (column + 0.12), high * (row + 0.2)
            frames.append((left, top, wide * 0.76, high * 0.55))
            texts = [word()[: int(40 / across)] for _ in range(rng.choice((1, 1, 2)))]
            for number, text in enumerate(texts):
                place = top + high * (0.16 if len(texts) == 1 else 0.04 + 0.24 * number)
                labels.append(_label(text, left, place, wide * 0.76))
            if row + 1 < down:
                lines.append((left + wide * 0.38, top + high * 0.55, 0.002, high * 0.45))
                if rng.random() < 0.25:
                    said = rng.choice(("yes", "no", "ok", word()[:8]))
                    labels.append(_label(said, left + wide * 0.4, top + high * 0.6, 0.12, "left"))
            if column + 1 < across and rng.random() < 0.5:
                lines.append((left + wide * 0.76, top + high * 0.27, wide * 0.24, 0.004))
    return Figure(labels, lines, frames, height=down * rng.uniform(4.5, 6))


def _points(rng: random.Random, word: Callable[[], str]) -> Figure:
    """Return a cloud of points, of which many have a name."""
    labels, lines = _axis(rng)
    labels += _across(rng, word, rng.randint(4, 9))
    for _ in range(rng.randint(8, 60)):
        left, top = rng.uniform(0.1, 0.95), rng.uniform(0.1, _GROUND - 0.03)
        lines.append((left, top, 0.007, 0.012))
        if rng.random() < 0.3 and left < 0.85:
            labels.append(_label(word()[:12], left + 0.01, top - 0.03, 0.13, "left"))
    return Figure(_apart(labels, 0.06), lines, height=rng.uniform(12, 24))


def _pins(rng: random.Random, word: Callable[[], str]) -> Figure:
    """Return a part with numbered pins, their names, and values beside other parts."""
    count = rng.randint(3, 10)
    step = 0.9 / count
    labels, lines = [_label(word()[:10].upper(), 0.4, 0.01, 0.2)], []
    for k in range(count):
        top = 0.07 + k * step
        for side in (0, 1):
            name = rng.choice((f"P{rng.randint(0, 9)}.{k}", "GND", "VCC", word()[:5].upper()))
            number = k + 1 if side == 0 else 2 * count - k
            inner, outer = (0.37, 0.31) if side == 0 else (0.52, 0.66)
            labels.append(_label(name, inner, top, 0.11, "right" if side else "left"))
            labels.append(_label(str(number), outer, top, 0.04, "left" if side else "right"))
            lines.append((0.27 if side == 0 else 0.65, top + 0.5 * step, 0.09, 0.003))
            if rng.random() < 0.35:
                value = rng.choice(("{} kΩ", "{} µF", "{} V", "R{}", "C{}", "{} mA"))
                text = value.format(rng.randint(1, 99))
                labels.append(_label(text, 0.12 if side == 0 else 0.76, top, 0.12, "left"))
    return Figure(labels, lines, [(0.36, 0.06, 0.28, 0.92)], height=count * rng.uniform(1.6, 2.2))


def _map(rng: random.Random, word: Callable[[], str]) -> Figure:
    """Return names all over, and a line between them."""
    labels = [
        _label(word()[:16], rng.uniform(0, 0.8), rng.uniform(0, 0.9), 0.19, "left")
        for _ in range(rng.randint(8, 34))
    ]
    points = sorted((rng.random(), rng.random()) for _ in range(rng.randint(5, 14)))
    dots = [(label.left - 0.012, label.top + 0.02, 0.008, 0.012) for label in labels]
    return Figure(_apart(labels, 0.08), dots, line=points, height=rng.uniform(14, 26))


def _apart(labels: list[Label], high: float) -> list[Label]:
    """Return the labels that do not lie over an earlier one."""
    kept: list[Label] = []
    for label in labels:
        if all(
            abs(label.top - one.top) > high
            or label.left > one.left + one.width
            or one.left > label.left + label.width
            for one in kept
        ):
            kept.append(label)
    return kept
