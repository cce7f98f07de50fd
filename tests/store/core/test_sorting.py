from carrel.store.core.sorting import Sort, in_order, next_sort


def test_a_column_chosen_again_turns_round_and_then_sorts_no_more() -> None:
    up = next_sort(None, "size")
    down = next_sort(up, "size")
    assert (up, down, next_sort(down, "size")) == (Sort("size"), Sort("size", True), None)
    assert next_sort(down, "name") == Sort("name")
    assert (Sort("size").arrow, Sort("size", True).arrow) == ("↑", "↓")


def test_what_is_unknown_comes_last_in_both_directions() -> None:
    sizes = {"a": 2, "b": None, "c": 1}
    assert in_order(sizes, sizes.get, descending=False) == ["c", "a", "b"]
    assert in_order(sizes, sizes.get, descending=True) == ["a", "c", "b"]
