"""Answers in JSON: the schema for the model, and the check of its answer."""

import json
from typing import Any

from carrel.server.errors import ApiError
from carrel.server.models.schemas import json_schema as schemas
from carrel.wire.generation.formats import ResponseFormat

_MAX_ITEMS = 32
_MAX_LENGTH = 1000
_LITERAL = ("const", "enum", "default", "examples")

# Limits of an object without a schema.
_FREE_DEPTH = 2
_FREE_ITEMS = 8
_FREE_LENGTH = 100
_SHAPING = {"properties", "additionalProperties", "patternProperties", "$ref", *("allOf", "anyOf")}


def bound(schema: Any) -> Any:
    """Return the schema with limits on every unbounded array, string and object.

    Without limits a small model may repeat items or fields until it is
    cut off. A value that fits the result fits the original schema too.
    """
    if isinstance(schema, list):
        return [bound(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    limited = {key: value if key in _LITERAL else bound(value) for key, value in schema.items()}
    if schema.get("type") == "array":
        limited.setdefault("maxItems", max(_MAX_ITEMS, _number(schema, "minItems")))
    elif schema.get("type") == "string" and not {"enum", "const", "pattern", "format"} & set(
        schema
    ):
        limited.setdefault("maxLength", max(_MAX_LENGTH, _number(schema, "minLength")))
    elif schema.get("type") == "object":
        limited |= _bounds_of_object(schema)
    return limited


def _bounds_of_object(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords that bound an object's fields."""
    shaping = _SHAPING & set(schema)
    if not shaping:
        most = max(_FREE_ITEMS, _number(schema, "minProperties"), len(schema.get("required", ())))
        return {**_free_object(_free(_FREE_DEPTH)), "maxProperties": most, **schema}
    described = schema.get("properties")
    if (
        shaping == {"properties"}
        and isinstance(described, dict)
        and set(schema.get("required", ())) <= set(described)
        and _number(schema, "minProperties") <= len(described)
    ):
        return {"additionalProperties": False}
    return {}


def _free(depth: int) -> dict[str, Any]:
    """Return a schema of any JSON value of limited size."""
    kinds: list[dict[str, Any]] = [
        {"type": "string", "maxLength": _FREE_LENGTH},
        {"type": ["number", "boolean", "null"]},
    ]
    if depth:
        inner = _free(depth - 1)
        kinds += [{"type": "array", "items": inner, "maxItems": _FREE_ITEMS}, _free_object(inner)]
    return {"anyOf": kinds}


def _free_object(value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": value, "maxProperties": _FREE_ITEMS}


def _number(schema: dict[str, Any], key: str) -> int:
    value = schema.get(key)
    return value if isinstance(value, int) else 0


def schema_of(format: ResponseFormat | None) -> dict[str, Any] | None:
    """Return the schema of an answer in this format, or None for plain text.

    Raises:
        ApiError: 400, it is not a valid JSON schema; 422, it is too large.
    """
    if format is None or format.type == "text":
        return None
    if format.json_schema is None:
        return {"type": "object"}
    schema = format.json_schema.schema_definition
    schemas.refuse_too_large(("body", "response_format", "json_schema", "schema"), schema)
    try:
        schemas.check(schema)
    except schemas.BadSchema as error:
        raise ApiError(
            400, f"The JSON schema is not valid: {error}", param="response_format.json_schema"
        ) from error
    return schema


def is_json(text: str) -> bool:
    """Return whether a text is complete JSON."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def is_answer(text: str, schema: dict[str, Any]) -> bool:
    """Return whether a text is JSON that matches a schema."""
    try:
        return schemas.fits(json.loads(text), schema)
    except ValueError:
        return False
