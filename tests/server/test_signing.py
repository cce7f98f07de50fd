"""Signed addresses cannot be changed, and end."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.server.signing import MAX_SECONDS, PREFIX, BadSignature, Kind, Signer

SECRET = b"s" * 32
NOW = 1_000_000.0
BASE = "http://127.0.0.1:1"


def signer(now: float = NOW, secret: bytes = SECRET) -> Signer:
    return Signer(secret, clock=lambda: now)


def token(kind: Kind = "file", id: str = "an-id", seconds: int = 60) -> str:
    return signer().url(BASE, kind, id, seconds).removeprefix(BASE + PREFIX)


@given(st.sampled_from(["file", "document", "text"]), st.text(max_size=60))
def test_an_address_gives_back_what_was_signed(kind: Kind, id: str) -> None:
    assert signer().verify(token(kind, id)) == (kind, id)


@given(st.data())
def test_no_character_of_an_address_can_be_changed(data: st.DataObject) -> None:
    good = token()
    position = data.draw(st.integers(0, len(good) - 1))
    other = data.draw(st.characters().filter(lambda c: c != good[position]))
    with pytest.raises(BadSignature):
        signer().verify(good[:position] + other + good[position + 1 :])


@given(st.text(max_size=80))
def test_what_was_not_signed_is_refused(text: str) -> None:
    with pytest.raises(BadSignature):
        signer().verify(text)


def test_the_signature_of_one_thing_does_not_open_another() -> None:
    payload = token("document", "b").partition(".")[0]
    mac = token("file", "a").partition(".")[2]
    with pytest.raises(BadSignature):
        signer().verify(f"{payload}.{mac}")


def test_another_server_does_not_accept_it() -> None:
    with pytest.raises(BadSignature):
        signer(secret=b"t" * 32).verify(token())


def test_it_works_until_the_second_it_expires() -> None:
    short = token(seconds=60)
    assert signer(NOW + 59.9).verify(short).kind == "file"
    with pytest.raises(BadSignature):
        signer(NOW + 60).verify(short)


@pytest.mark.parametrize("seconds", [-1, 0, MAX_SECONDS + 1])
def test_none_lives_for_no_time_or_for_too_long(seconds: int) -> None:
    with pytest.raises(ValueError, match="seconds"):
        token(seconds=seconds)


def test_the_host_is_not_signed() -> None:
    url = signer().url("https://other.example/", "text", "x", 9)
    assert signer().verify(url.removeprefix("https://other.example" + PREFIX)) == ("text", "x")


def test_the_token_is_one_plain_path_segment() -> None:
    for length in range(6):
        assert re.fullmatch(r"[\w-]+\.[\w-]+", token(id="i" * length), re.ASCII)
