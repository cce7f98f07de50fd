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


JAPANESE = "レストランのメニューはこちらでNew Yorkの地下鉄と東京の路線図も載っています " * 8
FIGURE = "VCC MCU VBAT 1uF 4.7kO(x2) SCL OUT7 SDA OUT8 SHDN OUT9 GND AW9110 OUT0 AD1 INTN OUT5"


@pytest.mark.parametrize(
    "text",
    [ADDRESSES, CARDS, ARABIC, BULLETS, JAPANESE, FIGURE, f"{CARDS}{chr(0xFFFD) * 8}"],
)
def test_text_that_only_looks_odd_is_none(text: str) -> None:
    assert not is_garbage(text)


@pytest.mark.parametrize(
    "text",
    [CIPHERED, MIXED, f"{CARDS}{chr(0xFFFD) * 20}", "9%227 96$ 287\x14 \x14\x13\x03 2&' PWM"],
    ids=["letters at random", "many scripts", "unmapped glyphs", "few words"],
)
def test_what_no_language_writes_is_garbage(text: str) -> None:
    assert is_garbage(text)
