"""Remote text cannot steer a terminal."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.text import clean_json, clean_text, redact

HOSTILE = "invoice [/final] \x1b]0;x\x07.pdf"


def test_control_characters_go_and_the_rest_stays() -> None:
    assert clean_text(HOSTILE) == "invoice [/final] ]0;x.pdf"
    assert clean_text("a\tb\nc\r\nd\x7f\x9be\x00") == "a\tb\nc\nde"
    assert clean_text("Zürich, 東京 🙂") == "Zürich, 東京 🙂"


def test_what_turns_the_direction_of_the_rest_goes_and_right_to_left_text_stays() -> None:
    turns = "".join(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
    assert clean_text(f"invoice{turns}fdp.exe") == "invoicefdp.exe"
    marked = "שלום\u200f, سلام\u061c 12\u200e.pdf"
    assert clean_text(marked) == marked


def test_a_lone_surrogate_becomes_printable() -> None:
    assert clean_text("a\ud800b").encode() == "a\N{REPLACEMENT CHARACTER}b".encode()


@given(st.text(), st.integers(min_value=0, max_value=50))
def test_the_pieces_of_a_stream_clean_like_the_whole(text: str, at: int) -> None:
    assert clean_text(text[:at]) + clean_text(text[at:]) == clean_text(text)


@given(st.text(st.characters(max_codepoint=0xFF)))
def test_nothing_left_can_begin_an_escape_sequence(text: str) -> None:
    assert all(c in "\n\t" or c.isprintable() or c in "\xa0\xad" for c in clean_text(text))


def test_json_is_cleaned_all_the_way_down() -> None:
    parsed = json.loads(r'{"na\u001bme": ["\u0007x", {"y": "\u009b1", "n": 1.5, "no": null}]}')
    assert clean_json(parsed) == {"name": ["x", {"y": "1", "n": 1.5, "no": None}]}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("api_key='abc'", "api_key='…'"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer …"),
        ("http://h/signed/abc.def done", "http://h/signed/… done"),
        ("https://h/p?X-Sig=abc&y=1 done", "https://h/p?… done"),
        ("HTTPS://h/p?X-Sig=abc done", "HTTPS://h/p?… done"),
        ("https://ada:pw@h/p", "https://…@h/p"),
        ("postgresql://carrel:pw@db/carrel", "postgresql://…@db/carrel"),
        ("{'authorization': 'Basic abc='}", "{'authorization': 'Basic …'}"),
        ("PGPASSWORD=abc AWS_SECRET_ACCESS_KEY='abc'", "PGPASSWORD=… AWS_SECRET_ACCESS_KEY='…'"),
        ('{"password": "abc", "model_key": "abc"}', '{"password": "…", "model_key": "…"}'),
        ("refused: carrel_" + "Ab-_9" * 8 + "abc", "refused: …"),
        ("max_tokens: 5, tokens = 7, basics", "max_tokens: 5, tokens = 7, basics"),
        ("the key of the house", "the key of the house"),
    ],
)
def test_what_is_logged_holds_no_secret(text: str, clean: str) -> None:
    assert redact(text) == clean
