from carrel.store.core.naming import ids_of

NAMES = {"a1": "support", "a2": "support", "a3": "a1"}


def test_an_id_wins_over_a_name() -> None:
    assert ids_of("a1", NAMES) == ("a1",)


def test_a_name_may_be_that_of_several() -> None:
    assert ids_of("support", NAMES) == ("a1", "a2")


def test_what_nothing_is_called_is_found_nowhere() -> None:
    assert ids_of("Support", NAMES) == ()
