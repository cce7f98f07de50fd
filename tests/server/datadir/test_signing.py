"""Signed addresses cannot be changed, and end."""

import json
import re
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.server.datadir.signing import (
    MAX_SECONDS,
    PREFIX,
    ROTATION_SECONDS,
    BadSignature,
    Kind,
    Signer,
    SigningKeys,
)

NOW = 1_000_000.0
BASE = "http://127.0.0.1:1"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of keys, with a first one in it."""
    file = tmp_path_factory.mktemp("signing") / "signing.json"
    signer(file).url(BASE, "file", "an-id", 60)
    return file


def signer(keys: Path, now: float = NOW) -> Signer:
    return Signer(SigningKeys(keys, clock=lambda: now), clock=lambda: now)


def token(
    keys: Path, kind: Kind = "file", id: str = "an-id", seconds: int = 60, now: float = NOW
) -> str:
    return signer(keys, now).url(BASE, kind, id, seconds).removeprefix(BASE + PREFIX)


@given(kind=st.sampled_from(["file", "document", "text"]), id=st.text(max_size=60))
def test_an_address_gives_back_what_was_signed(keys: Path, kind: Kind, id: str) -> None:
    assert signer(keys).verify(token(keys, kind, id)) == (kind, id)


@given(data=st.data())
def test_no_character_of_an_address_can_be_changed(keys: Path, data: st.DataObject) -> None:
    good = token(keys)
    position = data.draw(st.integers(0, len(good) - 1))
    other = data.draw(st.characters().filter(lambda c: c != good[position]))
    with pytest.raises(BadSignature):
        signer(keys).verify(good[:position] + other + good[position + 1 :])


@given(text=st.text(max_size=80))
def test_what_was_not_signed_is_refused(keys: Path, text: str) -> None:
    with pytest.raises(BadSignature):
        signer(keys).verify(text)


def test_the_signature_of_one_thing_does_not_open_another(keys: Path) -> None:
    payload = token(keys, "document", "b").partition(".")[0]
    mac = token(keys, "file", "a").partition(".")[2]
    with pytest.raises(BadSignature):
        signer(keys).verify(f"{payload}.{mac}")


def test_another_server_does_not_accept_it(keys: Path, tmp_path: Path) -> None:
    other = signer(tmp_path / "signing.json")
    other.url(BASE, "file", "an-id", 60)
    with pytest.raises(BadSignature):
        other.verify(token(keys))


def test_it_works_until_the_second_it_expires(keys: Path) -> None:
    short = token(keys, seconds=60)
    assert signer(keys, NOW + 59.9).verify(short).kind == "file"
    with pytest.raises(BadSignature):
        signer(keys, NOW + 60).verify(short)


def test_keys_rotate_and_old_addresses_work_until_they_expire(tmp_path: Path) -> None:
    keys = tmp_path / "signing.json"
    token(keys)
    just_before = NOW + ROTATION_SECONDS - 1
    old = token(keys, seconds=MAX_SECONDS, now=just_before)
    first = keys.read_text()
    new = token(keys, now=NOW + ROTATION_SECONDS)
    assert keys.read_text() != first
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    assert signer(keys, NOW + ROTATION_SECONDS).verify(new).kind == "file"
    assert signer(keys, just_before + MAX_SECONDS - 1).verify(old).kind == "file"
    with pytest.raises(BadSignature):
        signer(keys, just_before + MAX_SECONDS).verify(old)
    # Two rotations later the key of the old address is gone.
    token(keys, now=NOW + 2 * ROTATION_SECONDS + MAX_SECONDS)
    assert json.loads(first)[0][0] not in keys.read_text()


def test_without_the_file_no_address_works_any_more(tmp_path: Path) -> None:
    keys = tmp_path / "signing.json"
    leaked = token(keys)
    keys.unlink()
    with pytest.raises(BadSignature):
        signer(keys).verify(leaked)


@pytest.mark.parametrize("seconds", [-1, 0, MAX_SECONDS + 1])
def test_none_lives_for_no_time_or_for_too_long(keys: Path, seconds: int) -> None:
    with pytest.raises(ValueError, match="seconds"):
        token(keys, seconds=seconds)


def test_the_host_is_not_signed(keys: Path) -> None:
    url = signer(keys).url("https://other.example/", "text", "x", 9)
    assert signer(keys).verify(url.removeprefix("https://other.example" + PREFIX)) == ("text", "x")


def test_the_token_is_one_plain_path_segment(keys: Path) -> None:
    for length in range(6):
        assert re.fullmatch(r"[\w-]+\.[\w-]+", token(keys, id="i" * length), re.ASCII)
