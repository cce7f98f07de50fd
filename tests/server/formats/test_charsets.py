"""Text files in the character sets of the world."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.server.formats.charsets import decode_text, unicode_of

TEXTS = {
    "cp1252": "Die Müllerstraße ist 5 µm breit – “genau”.",
    "cp932": "名前,年齢\n佐藤太郎,30\n三木英子,25",
    "gb18030": "本合同自双方签字之日起生效。",
    "big5": "本合約自雙方簽字之日起生效。",
    "cp949": "계약은 서명한 날부터 효력이 발생합니다.",
    "cp1251": "Имя;Возраст\nИван;30\nМария;25",
    "koi8_r": "Договор вступает в силу с момента подписания.",
    "cp1253": "Η σύμβαση τίθεται σε ισχύ από την υπογραφή.",
    "cp1256": "يدخل العقد حيز التنفيذ من تاريخ التوقيع",
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_a_text_is_read_in_its_own_character_set(encoding: str) -> None:
    data = TEXTS[encoding].encode(encoding)
    assert unicode_of(data) is None
    assert decode_text(data) == TEXTS[encoding]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_is_read_with_and_without_a_mark(encoding: str) -> None:
    text = "The notice period is three months.\n\n- Größe: 5 µm\n" * 200
    assert decode_text(text.encode(encoding)) == text


@given(st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"])))
def test_utf_8_is_never_taken_for_another(text: str) -> None:
    assert decode_text(text.encode()) == text


@pytest.mark.parametrize("data", [b"\0\1\2\3" * 100, b"RIFF\0\0\0\0WAVE", b"\0", b"\0a\0"])
def test_bytes_that_are_no_text_are_not_unicode(data: bytes) -> None:
    assert unicode_of(data) is None
