"""Significance of changes in pass rates.

Two runs of the same agent may differ by these tests at most at the rate ALPHA. That error is shared
by two questions, each asked for worse and for better:

- Is the whole set worse? Fisher's exact test, each case beside itself: were both runs of one
  agent, the passes of a case would fall on either run alike. With one attempt at each case, it is
  McNemar's test.
- Which case is worse? Fisher's exact test of its repeats, corrected for the number of cases
  by Tarone's method: cases that could show nothing, such as those that always pass, do not count.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

ALPHA = 0.0025
"""Rate at which a comparison of two identical agents may find one worse."""

_Z = 1.959964
"""Quantile of the normal distribution for intervals of 95 %."""
_MANY = 600
"""Cases above which an approximation is taken: the exact test's time grows with their square."""


@dataclass(frozen=True, slots=True)
class Tally:
    """A case's attempts: total and passed."""

    passed: int
    total: int

    @property
    def rate(self) -> float:
        """The pass rate, or 0 without attempts."""
        return self.passed / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the pass rate."""
        if not self.total:
            return 0.0, 1.0
        count, square = self.total, _Z**2
        middle = (self.rate + square / (2 * count)) / (1 + square / count)
        spread = self.rate * (1 - self.rate) / count + square / (4 * count**2)
        half = _Z * math.sqrt(spread) / (1 + square / count)
        return max(0.0, middle - half), min(1.0, middle + half)

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.passed + other.passed, self.total + other.total)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The result of a comparison. `worse` and `better` are cases with a significant change of their
    own.

    `p_worse` and `p_better` are one-sided p-values for the whole set.
    """

    worse: frozenset[str]
    better: frozenset[str]
    p_worse: float
    p_better: float

    @property
    def is_worse_overall(self) -> bool:
        """Whether the set as a whole is significantly worse."""
        return self.p_worse <= ALPHA / 2

    @property
    def is_better_overall(self) -> bool:
        """Whether the set as a whole is significantly better."""
        return self.p_better <= ALPHA / 2


def compare(old: Mapping[str, Tally], new: Mapping[str, Tally]) -> Evidence:
    """Compare the cases that both runs contain."""
    pairs = {
        name: (old[name], new[name])
        for name in new
        if name in old and old[name].total and new[name].total
    }
    turned = {name: (after, before) for name, (before, after) in pairs.items()}
    return Evidence(
        _worse(pairs),
        _worse(turned),
        stratified_test(pairs.values()),
        stratified_test(turned.values()),
    )


def fisher(old: Tally, new: Tally) -> float:
    """Return Fisher's one-sided exact p-value: P(passes of the new attempts ≤ observed), given
    their total."""
    chances = _chances(old, new)
    return min(1.0, sum(chance for count, chance in chances.items() if count <= new.passed))


def stratified_test(pairs: Iterable[tuple[Tally, Tally]]) -> float:
    """Return the one-sided p-value of a stratified exact test, with a case per stratum: P(new
    passes ≤ observed), given each case's total."""
    moving = [
        (old, new) for old, new in pairs if 0 < old.passed + new.passed < old.total + new.total
    ]
    observed = sum(new.passed for _, new in moving)
    if len(moving) > _MANY:
        return _normal(moving, observed)
    chances = {0: 1.0}
    for old, new in moving:
        longer: defaultdict[int, float] = defaultdict(float)
        for count, chance in _chances(old, new).items():
            for total, before in chances.items():
                longer[total + count] += before * chance
        chances = longer
    return min(1.0, sum(chance for total, chance in chances.items() if total <= observed))


def _chances(old: Tally, new: Tally) -> dict[int, float]:
    """Return the hypergeometric probabilities of the number of passes among the new attempts."""
    passes, total = old.passed + new.passed, old.total + new.total
    ways = math.comb(total, passes)
    return {
        count: math.comb(new.total, count) * math.comb(old.total, passes - count) / ways
        for count in range(max(0, passes - old.total), min(new.total, passes) + 1)
    }


def _normal(pairs: Sequence[tuple[Tally, Tally]], observed: int) -> float:
    """Approximate the stratified p-value by the normal distribution, for many cases."""
    mean = spread = 0.0
    for old, new in pairs:
        total = old.total + new.total
        rate = (old.passed + new.passed) / total
        mean += new.total * rate
        spread += new.total * rate * (1 - rate) * old.total / (total - 1)
    return 0.5 * math.erfc((mean - observed - 0.5) / math.sqrt(2 * spread))


def _worse(pairs: Mapping[str, tuple[Tally, Tally]]) -> frozenset[str]:
    """Return the cases that are significantly worse by themselves."""
    error = ALPHA / 2
    least = {name: _lowest_p_value(old, new) for name, (old, new) in pairs.items()}
    count = 1
    while sum(one <= error / count for one in least.values()) > count:
        count += 1
    return frozenset(
        name for name, (old, new) in pairs.items() if fisher(old, new) <= error / count
    )


def _lowest_p_value(old: Tally, new: Tally) -> float:
    """Return the least p-value that Fisher's test can give for this total of passes."""
    passes = old.passed + new.passed
    lowest = max(0, passes - old.total)
    return fisher(Tally(passes - lowest, old.total), Tally(lowest, new.total))
