"""Answers in JSON: the schema a model is held to, and the check of what it wrote."""

import json
from typing import Any

from carrel.server import schemas
from carrel.server.errors import ApiError
from carrel.wire.formats import ResponseFormat

_MAX_ITEMS = 32
_MAX_LENGTH = 1000
_LITERAL = ("const", "enum", "default", "examples")


def bounded(schema: Any) -> Any:
    """The schema with a limit for every array and text that has none.

    Without one a small model may write the same item until it is cut off.
    """
    if isinstance(schema, list):
        return [bounded(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    limited = {key: value if key in _LITERAL else bounded(value) for key, value in schema.items()}
    if schema.get("type") == "array":
        limited.setdefault("maxItems", max(_MAX_ITEMS, _number(schema, "minItems")))
    elif schema.get("type") == "string" and not {"enum", "const", "pattern", "format"} & set(
        schema
    ):
        limited.setdefault("maxLength", max(_MAX_LENGTH, _number(schema, "minLength")))
    return limited


def _number(schema: dict[str, Any], key: str) -> int:
    value = schema.get(key)
    return value if isinstance(value, int) else 0


def schema_of(format: ResponseFormat | None) -> dict[str, Any] | None:
    """The schema that an answer in this format fits; None for plain text.

    Raises:
        ApiError: 400, it is not a valid JSON schema.
    """
    if format is None or format.type == "text":
        return None
    if format.json_schema is None:
        return {"type": "object"}
    schema = format.json_schema.schema_definition
    try:
        schemas.check(schema)
    except schemas.BadSchema as error:
        raise ApiError(
            400,
            f"The JSON schema is not valid: {error}",
            param="response_format.json_schema",
        ) from None
    return schema


def is_answer(text: str, schema: dict[str, Any]) -> bool:
    """Whether a text is JSON as a schema wants it."""
    try:
        return schemas.fits(json.loads(text), schema)
    except ValueError:
        return False
