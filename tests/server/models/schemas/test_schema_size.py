"""Bounds of JSON schemas from callers."""

import time
from typing import Any

import pytest

from carrel.server.models.schemas.schema_size import MAX_DEPTH, TooLarge, check_size


def references(levels: int, width: int) -> dict[str, Any]:
    """Levels of definitions, each any of several references to the next."""
    definitions: dict[str, Any] = {
        f"l{level}": {"anyOf": [{"$ref": f"#/$defs/l{level + 1}"}] * width}
        for level in range(levels)
    }
    definitions[f"l{levels}"] = {"type": "string"}
    return {"$defs": definitions, "$ref": "#/$defs/l0"}


def nested(levels: int, keyword: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {keyword: [schema] if keyword == "allOf" else schema}
    return schema


def of_properties(names: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "integer"} for name in names}}


def pattern(text: str) -> dict[str, Any]:
    return {"type": "string", "pattern": text}


def named(reference: str, **names: str) -> dict[str, Any]:
    """Levels whose parts are named and referred to in another way than by their place."""
    definitions: dict[str, Any] = {
        f"l{level}": {
            **{key: name.format(level) for key, name in names.items()},
            "anyOf": [{"$ref": reference.format(level + 1)}] * 10,
        }
        for level in range(12)
    }
    return {"$defs": definitions, "$ref": reference.format(0)}


BOMBS = {
    "references": (references(12, 10), "more than 10,000 parts"),
    "hidden in a property": (
        {"$defs": references(12, 10)["$defs"], "properties": {"enum": {"$ref": "#/$defs/l0"}}},
        "10,000 parts",
    ),
    "other letters": (named("#/%24defs/l{}"), "10,000 parts"),
    "anchors": (named("#l{}", **{"$anchor": "l{}"}), "#/"),
    "addresses": (named("http://x/l{}", **{"$id": "http://x/l{}"}), "#/"),
    "ids": (named("#/$defs/l{}", id="#l{}"), "#/"),
    "dynamic references": ({"$dynamicRef": "#l0"}, "#/"),
    "many values": ({"enum": list(range(5000))}, "5,000 values"),
    "many enums": ({"anyOf": [{"enum": list(range(900))}] * 12}, "10,000 parts"),
    "items": ({"type": "array", "minItems": 10**5}, "minItems is 100000"),
    "infinite": ({"type": "array", "minItems": 1e308}, "minItems is 1e\\+308"),
    "letters": ({"type": "string", "minLength": 10**9}, "minLength"),
    "properties": (of_properties([f"p{n}" for n in range(20_000)]), "20,000 properties"),
    "all of all of": (nested(400, "allOf"), f"more than {MAX_DEPTH} deep"),
    "items of items": (nested(5000, "items"), f"more than {MAX_DEPTH} deep"),
    "repeated pattern": (pattern("^((a{1,50}){1,50}){1,50}$"), "a pattern"),
    "optional pattern": (pattern("^(a?){1000}$"), "a pattern"),
    "long names": (of_properties(["p" * 1_200_000]), "bytes"),
    "long pattern": (pattern("a" * 3000), "a pattern"),
}
"""Schemas that kept the model's engine busy for longer than anybody waits, and their likes."""


@pytest.mark.parametrize(("schema", "reason"), BOMBS.values(), ids=BOMBS)
def test_a_schema_beyond_the_bounds_is_refused_at_once(schema: dict[str, Any], reason: str) -> None:
    began = time.process_time()
    with pytest.raises(TooLarge, match=reason):
        check_size(schema)
    assert time.process_time() - began < 0.5


def test_references_in_circles_and_by_many_names_end() -> None:
    began = time.process_time()
    tree = {"type": "object", "properties": {"children": {"items": {"$ref": "#"}}}}
    check_size(tree)
    parts = {"a": [{"items": {"type": "string"}}] * 50}
    named = [{"$ref": f"#/$defs/a/{'0' * zeros}7"} for zeros in range(100)]
    check_size({"$defs": parts, "anyOf": named})
    assert time.process_time() - began < 0.5


def test_several_schemas_count_together() -> None:
    schema = references(3, 13)
    check_size(schema, schema)
    with pytest.raises(TooLarge, match="10,000 parts"):
        check_size(*[schema] * 3)


def test_an_ordinary_schema_passes() -> None:
    invoice = {
        "$defs": {"money": {"type": "object", "properties": {"amount": {"type": "number"}}}},
        "type": "object",
        "properties": {
            "number": {"type": "string", "pattern": r"^\d{4}-\d{2}-[A-Z]{1,20}$"},
            "currency": {"enum": [f"C{n}" for n in range(180)]},
            "lines": {"type": "array", "maxItems": 10**6, "items": {"$ref": "#/$defs/money"}},
            "total": {"$ref": "#/$defs/money"},
            "note": {"type": ["string", "null"], "minLength": 10, "maxLength": 10**6},
        },
    }
    check_size(invoice)
    with pytest.raises(TooLarge, match="10,000 parts"):
        check_size(*[invoice] * 100)
