import string
from collections.abc import Sequence

from carrel.tui.dialogs.core.ask import LETTERS, Option, copy_options, letters


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


def test_a_part_is_copied_by_the_same_letter_whatever_else_there_is() -> None:
    free = [letter for letter in string.ascii_lowercase if letter not in "jk"]
    for parts in (
        ["name", "id"],
        ["table as CSV", "table 2 as CSV", "page", "name", "id"],
        [*LETTERS],
    ):
        menu = copy_options(dict.fromkeys(parts, ""))
        chosen = dict(zip(parts, letters(menu, free), strict=True))
        assert (chosen["name"], chosen["id"]) == ("n", "i")
        assert all(chosen[part] == LETTERS[part] for part in parts if part in LETTERS)
