"""Evidence: exact against counting, and quiet where nothing changed."""

import itertools
import math
import random

import pytest

from carrel.store.evals.formatting import interval_words
from carrel.store.evals.statistics import ALPHA, Tally, compare, fisher, stratified_test


def test_wilsons_interval_is_the_published_one() -> None:
    # Newcombe (1998), table I: 81 of 263 and 0 of 20.
    assert Tally(81, 263).interval == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert Tally(0, 20).interval == pytest.approx((0.0, 0.1611), abs=1e-4)
    assert Tally(0, 0).interval == (0.0, 1.0)
    assert interval_words(Tally(81, 263)) == "25–36 %", "rounded down, as every rate is"


def test_a_cases_chance_is_that_of_counting_all_ways() -> None:
    # 4 of 5 passed, then 1 of 5: of all ways to give 5 passes to 10 attempts.
    ways = list(itertools.combinations(range(10), 5))
    as_low = sum(sum(one >= 5 for one in way) <= 1 for way in ways)
    assert fisher(Tally(4, 5), Tally(1, 5)) == pytest.approx(as_low / len(ways))
    assert fisher(Tally(5, 5), Tally(0, 5)) == pytest.approx(1 / 252)
    assert fisher(Tally(0, 5), Tally(0, 5)) == 1


def test_a_sets_chance_is_that_of_counting_all_ways() -> None:
    pairs = [(Tally(3, 3), Tally(1, 3)), (Tally(2, 2), Tally(2, 2)), (Tally(1, 2), Tally(0, 2))]
    first = list(itertools.combinations(range(6), 4))
    last = list(itertools.combinations(range(4), 1))
    sums = [
        sum(at >= 3 for at in a) + sum(at >= 2 for at in b)
        for a, b in itertools.product(first, last)
    ]
    assert stratified_test(pairs) == pytest.approx(sum(one <= 1 for one in sums) / len(sums))
    assert stratified_test([]) == stratified_test([(Tally(1, 1), Tally(1, 1))]) == 1


def test_with_one_attempt_a_sets_chance_is_mcnemars() -> None:
    fell, rose = (Tally(1, 1), Tally(0, 1)), (Tally(0, 1), Tally(1, 1))
    assert stratified_test([fell] * 8 + [rose] * 2) == pytest.approx(
        sum(math.comb(10, k) for k in (8, 9, 10)) / 2**10
    )
    # Many cases are taken as a normal distribution: near the exact one.
    exact = sum(math.comb(601, k) for k in range(330, 602)) / 2**601
    assert stratified_test([fell] * 330 + [rose] * 271) == pytest.approx(exact, rel=0.05)


def test_one_flip_is_no_evidence_and_the_fall_of_one_case_may_be() -> None:
    steady = {f"c{n}": Tally(6, 6) for n in range(49)}
    fallen = compare({**steady, "x": Tally(6, 6)}, {**steady, "x": Tally(0, 6)})
    assert fallen.worse == {"x"} and not fallen.better
    both = {"x": Tally(6, 6), "y": Tally(6, 6)}
    assert compare(both, {"x": Tally(0, 6), "y": Tally(0, 6)}).is_worse_overall
    flipped = compare({**steady, "x": Tally(6, 6)}, {**steady, "x": Tally(5, 6)})
    assert not flipped.worse and not flipped.is_worse_overall
    once = {f"c{n}": Tally(1, 1) for n in range(50)}
    assert not compare(once, {**once, "c1": Tally(0, 1)}).worse


def test_many_small_falls_are_evidence_of_the_set() -> None:
    before = {f"c{n}": Tally(1, 1) for n in range(50)}
    after = {name: Tally(int(n >= 12), 1) for n, name in enumerate(before)}
    found = compare(before, after)
    assert found.is_worse_overall and not found.worse
    assert compare(after, before).is_better_overall


@pytest.mark.parametrize("repeats", [1, 3, 6, 10])
def test_identical_agents_differ_no_more_often_than_promised(repeats: int) -> None:
    """The rate of false alarms over many comparisons of random agents with themselves."""
    thrown = random.Random(repeats)
    alarms = comparisons = 0
    for _ in range(150):
        rates = [thrown.choice((0.0, 0.3, 0.5, 0.8, 0.95, 1.0)) for _ in range(50)]

        def run(rates: list[float] = rates) -> dict[str, Tally]:
            return {
                f"c{n}": Tally(sum(thrown.random() < rate for _ in range(repeats)), repeats)
                for n, rate in enumerate(rates)
            }

        for _ in range(4):
            found = compare(run(), run())
            comparisons += 1
            alarms += bool(found.worse or found.is_worse_overall)
    # 600 comparisons at the promised rate have more alarms than these in one of 1000 tests.
    assert alarms <= 6 and comparisons * ALPHA == 1.5
