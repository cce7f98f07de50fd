"""TOML that nobody writes by hand."""

import time
import tomllib

import pytest

from carrel.config.toml_edit import parse


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 200_000,
        'a = "' + "x" * 50_000_000 + '"',
        "a." * 100_000 + "a = 1",
        "[" + "a." * 100_000 + "a]",
        "a = " + "9" * 200_000,
    ],
    ids=["brackets", "long", "dots", "header", "digits"],
)
def test_a_bomb_ends_within_a_second_of_processor_time(text: str) -> None:
    began = time.process_time()
    with pytest.raises((tomllib.TOMLDecodeError, ValueError)):
        parse(text)
    assert time.process_time() - began < 1


def test_an_ordinary_file_is_read() -> None:
    assert parse('[a.b]\nc = "3 = ....."\n') == {"a": {"b": {"c": "3 = ....."}}}
