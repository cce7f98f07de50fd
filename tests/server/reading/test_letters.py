"""Letters that the recogniser writes in another way than they stand on the page."""

import pytest

from carrel.server.reading.letters import speller

CZECH = ["Příliš žluťoučký kůň úpěl ďábelské ódy", "u každého stolu pod oknem stojí židle, děti"]


@pytest.mark.parametrize(
    ("read", "printed"),
    [("uved'te", "uveďte"), ("žlut'oučký", "žluťoučký"), ("ted'", "teď"), ("zed’,", "zeď,")],
)
def test_small_letters_with_a_caron_on_czech_pages(read: str, printed: str) -> None:
    assert speller(CZECH)(read) == printed


@pytest.mark.parametrize("word", ["aujourd'hui", "cent'anni", "d'accord", "don't"])
def test_apostrophes_stay_on_other_pages(word: str) -> None:
    assert speller(["Aujourd'hui, d'accord, cent'anni"])(word) == word


def test_number_forms_are_letters_and_digits() -> None:
    assert speller([])("Chapter Ⅱ, ⅳ, ②") == "Chapter II, iv, 2"
