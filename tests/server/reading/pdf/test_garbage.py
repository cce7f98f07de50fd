"""Garbage is told from text that only looks odd: addresses, names, forms, other scripts."""

import pytest

from carrel.server.reading.pdf.garbage import is_garbage

FIX = "Fix bug https://tracker.example/index.php?func=detail&aid={0}&group=5511 on the ship's log. "
ADDRESSES = " ".join(FIX.format(number) for number in range(1_198_341, 1_198_361))
CARDS = "Name : JohnDoe NEL0000001 House No:0 Age : 55 Sex : Male Father's Name " * 8
ARABIC = "لغة البرمجة تعتبر من الأدوات القوية التي تساعد المبرمجين Python مثلا " * 4
BULLETS = "\uf0b7 Every hall is open to all readers of the house " * 6
CIPHERED = "Kh Xcb]YXn UýY_ ;fidU˙Fcn_ýUX˙ cbkUfhY_ mZrKh dWbTsXn qUmYk ;fNdUr Fcn_UX " * 5
MIXED = "ĴǎƶơǎƹŎķຊا 䋔˄Ⱊاور ǎƹƃơŃ ࠘᧽Ƽǎاو䆀ឮᑽĴǎƶơǎƹŎķ 㶜ຝ䆀䩱Ӓا㦇♑ ㈉䗂ᜯ䜫 ورᄹ㈉ⰰẍو䆀 ✛䮨䊒Ǎ˄ " * 8


@pytest.mark.parametrize("text", [ADDRESSES, CARDS, ARABIC, BULLETS])
def test_text_with_enough_words_clears_the_suspicion_of_the_parser(text: str) -> None:
    assert not is_garbage(text, suspected=True)
    assert not is_garbage(text)


@pytest.mark.parametrize(
    "text",
    [CIPHERED, MIXED, "Part No - xxx", f"{CARDS}{chr(0xFFFD) * 20}"],
    ids=["letters at random", "many scripts", "too few words to tell", "unmapped glyphs"],
)
def test_the_suspicion_stands_where_words_do_not_clear_it(text: str) -> None:
    assert is_garbage(text, suspected=True)


def test_a_few_unmapped_glyphs_and_few_words_raise_no_suspicion() -> None:
    assert not is_garbage("Part No - xxx")
    assert not is_garbage(f"{CARDS}{chr(0xFFFD) * 20}")
