import pytest

from carrel.store.core.naming import available_words, find_id, require_id
from carrel.store.core.problem import ProblemError

NAMES = {"a1": "support", "a2": "support", "a3": "a1", "a4": "sales"}


def test_an_id_wins_over_a_name() -> None:
    assert find_id("agent", "a1", NAMES) == "a1"


def test_a_name_finds_its_only_item() -> None:
    assert find_id("agent", "sales", NAMES) == require_id("agent", "sales", NAMES) == "a4"


def test_a_name_of_several_asks_for_an_id() -> None:
    with pytest.raises(ProblemError) as raised:
        find_id("agent", "support", NAMES)
    words = "More than one agent is named “support”. Give an id: a1, a2."
    assert str(raised.value.problem) == words


def test_a_name_that_nothing_has_is_refused_with_the_nearest() -> None:
    assert find_id("agent", "Support", NAMES) is None
    with pytest.raises(ProblemError) as raised:
        require_id("agent", "saless", {"a4": "sales", "a5": "desk"})
    words = "There is no agent “saless”. Did you mean “sales”? Available: “sales”, “desk”."
    assert str(raised.value.problem) == words


def test_long_lists_of_names_are_cut() -> None:
    assert available_words("x", []) == "There are none yet."
    assert available_words("x", map(str, range(12))).endswith("“9” and 2 more.")
