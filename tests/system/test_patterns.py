"""Regular expressions that would take for ever."""

import time
from typing import Any

import pytest

from carrel.system.patterns import SECONDS, PatternError, search, validator

ENDLESS = r"^(a|aa)+$"
TEXT = "a" * 100 + "bb"


def test_a_search_finds_as_usual() -> None:
    assert search(r"\d+ (months|Jahre)", "in 3 months") == "3 months"
    assert search(r"(?<=Straße )\w+", "Straße Übung") == "Übung"
    assert search("x", "y") is None


def test_an_endless_search_gives_up() -> None:
    began = time.perf_counter()
    with pytest.raises(PatternError, match="takes longer than"):
        search(ENDLESS, TEXT)
    assert time.perf_counter() - began < 10 * SECONDS


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": ENDLESS},
        {"properties": {"a": {"pattern": ENDLESS}}},
        {"patternProperties": {ENDLESS: {"type": "null"}}},
    ],
)
def test_a_schema_gives_up_too(schema: dict[str, Any]) -> None:
    value: Any = TEXT if "pattern" in schema else {TEXT: 1, "a": TEXT}
    with pytest.raises(PatternError):
        validator(schema).is_valid(value)


def test_alternatives_that_multiply_give_up() -> None:
    levels = {f"l{n}": {"anyOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 10} for n in range(12)}
    schema = {"$defs": {**levels, "l12": {"type": "string"}}, "$ref": "#/$defs/l0"}
    began = time.perf_counter()
    with pytest.raises(PatternError, match="too long"):
        validator(schema).is_valid(1)
    assert time.perf_counter() - began < 10 * SECONDS


def test_what_is_no_expression_is_told() -> None:
    with pytest.raises(PatternError, match="not a regular expression"):
        search("[", "a")


def test_patterns_of_a_schema_hold() -> None:
    schema = {"patternProperties": {"^n": {"type": "integer"}}, "additionalProperties": False}
    assert validator(schema).is_valid({"n1": 1})
    assert not validator(schema).is_valid({"n1": "1"})
    assert not validator({"pattern": "^a+$"}).is_valid("ab")
