import string

from carrel.tui.dialogs.ask import letters


def test_a_letter_of_the_name_where_it_is_free_else_another() -> None:
    free = [letter for letter in string.ascii_lowercase if letter not in "jk"]
    names = ["Copy link", "Copy name", "Copy id", "Kick"]
    assert letters(names, free) == ["c", "o", "p", "i"]
    assert letters(["jk", "…"], free) == ["a", "b"]
    assert letters(["x"] * 30, free)[-6:] == [""] * 6
