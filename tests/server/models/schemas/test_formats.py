from typing import Any

import pytest

from carrel.server.errors import ApiError
from carrel.server.models.schemas.formats import bound, is_answer, schema_of
from carrel.wire.generation.formats import ResponseFormat


def json_schema(schema: object) -> ResponseFormat:
    return ResponseFormat.model_validate(
        {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    )


def test_open_ends_get_a_limit_and_nothing_else_changes() -> None:
    schema = {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "items": {"type": "string"}},
            "many": {"type": "array", "minItems": 50},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "code": {"type": "string", "pattern": "^[a-z]+$"},
            "short": {"type": "string", "maxLength": 3},
            "sample": {"const": {"type": "string"}},
            "type": {"type": "integer"},
        },
    }
    assert bound(schema) == {
        "type": "object",
        "properties": {
            "tags": {
                "type": "array",
                "items": {"type": "string", "maxLength": 1000},
                "maxItems": 32,
            },
            "many": {"type": "array", "minItems": 50, "maxItems": 50},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "code": {"type": "string", "pattern": "^[a-z]+$"},
            "short": {"type": "string", "maxLength": 3},
            "sample": {"const": {"type": "string"}},
            "type": {"type": "integer"},
        },
        "additionalProperties": False,
    }


def test_objects_come_to_an_end() -> None:
    described = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert bound(described)["additionalProperties"] is False
    open_ends: list[dict[str, Any]] = [{"required": ["b"]}, {"allOf": [{}]}, {"minProperties": 2}]
    for open_end in open_ends:
        assert "additionalProperties" not in bound({**described, **open_end})
    chosen = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert bound(chosen) == chosen

    free = bound({"type": "object"})
    nested = '{"a": {"b": [1, "x", null]}, "c": true}'
    assert is_answer(nested, free)
    assert not is_answer('{"a": "%s"}' % ("x" * 101), free)
    assert not is_answer(str({f"{n}": n for n in range(9)}).replace("'", '"'), free)
    many = {"type": "object", "required": [f"{n}" for n in range(20)]}
    assert bound(many)["maxProperties"] == 20


def test_each_format_has_its_schema() -> None:
    assert schema_of(None) is None
    assert schema_of(ResponseFormat(type="text")) is None
    assert schema_of(ResponseFormat(type="json_object")) == {"type": "object"}
    assert schema_of(json_schema({"type": "integer"})) == {"type": "integer"}


def test_a_schema_that_is_none_is_refused() -> None:
    with pytest.raises(ApiError, match=r"JSON schema is not valid.*frog") as caught:
        schema_of(json_schema({"type": "frog"}))
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("text", "right"), [('{"a": 1}', True), ('{"a": "x"}', False), ('{"a": 1', False), ("", False)]
)
def test_an_answer_is_checked_against_the_schema(text: str, right: bool) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert is_answer(text, schema) is right


def test_a_reference_to_elsewhere_is_not_followed() -> None:
    assert not is_answer("1", {"$ref": "https://example.org/schema.json"})
