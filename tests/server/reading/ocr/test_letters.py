"""Letters that the recogniser writes in another way than they stand on the page."""

import pytest

from carrel.server.reading.ocr.decoding import speller

CZECH = ["Příliš žluťoučký kůň úpěl ďábelské ódy", "u každého stolu pod oknem stojí židle, děti"]


@pytest.mark.parametrize(
    ("read", "printed"),
    [
        ("uved'te", "uveďte"),
        ("žlut'oučký", "žluťoučký"),
        ("ted'", "teď"),
        ("zed’,", "zeď,"),
        ("žluť'oučký", "žluťoučký"),
    ],
)
def test_small_letters_with_a_caron_on_czech_pages(read: str, printed: str) -> None:
    assert speller(CZECH)(read) == printed


@pytest.mark.parametrize("word", ["aujourd'hui", "cent'anni", "d'accord", "don't"])
def test_apostrophes_stay_on_other_pages(word: str) -> None:
    assert speller(["Aujourd'hui, d'accord, cent'anni"])(word) == word


def test_letters_of_czech_are_plain_on_other_pages() -> None:
    assert speller(["Only the light of a ďesk"])("ďesk lighť") == "desk light"


def test_doubtful_accents_are_kept_where_there_are_others() -> None:
    doubtful = "MUTE\N{COMBINING ACUTE ACCENT}"
    assert speller(["Le thé est prêt", doubtful])(doubtful) == "MUTÉ"
    assert speller(["The tea is ready", doubtful])(doubtful) == "MUTE"


def test_number_forms_are_letters_and_digits() -> None:
    assert speller([])("Chapter Ⅱ, ⅳ, ②") == "Chapter II, iv, 2"
