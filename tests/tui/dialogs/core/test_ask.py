import string
from collections.abc import Sequence

from carrel.tui.dialogs.core.ask import Option, letters


def options(names: Sequence[str]) -> list[Option]:
    return [Option(name, name) for name in names]


def test_a_letter_of_the_name_where_it_is_free_else_another() -> None:
    free = [letter for letter in string.ascii_lowercase if letter not in "jk"]
    names = ["Copy link", "Copy name", "Copy id", "Kick"]
    assert letters(options(names), free) == ["c", "o", "p", "i"]
    assert letters(options(["jk", "…"]), free) == ["a", "b"]
    assert letters(options(["x"] * 30), free)[-6:] == [""] * 6


def test_a_key_is_the_same_in_every_menu() -> None:
    menu = [Option("a", "Apply"), Option("p", "Path", key="p"), Option("n", "Name", key="n")]
    assert letters(menu, string.ascii_lowercase) == ["a", "p", "n"]
