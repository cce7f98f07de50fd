"""JSON schemas from callers: their check, and validation of a model's answer."""

from typing import Any

from carrel.server.errors import InvalidRequest
from carrel.server.models.schema_size import TooLarge, check_size
from carrel.system import patterns


class BadSchema(ValueError):
    """Not a JSON schema; the message says why."""


def check(schema: dict[str, Any]) -> None:
    """Check that a value is a JSON schema.

    Raises:
        BadSchema: saying why.
    """
    from jsonschema import SchemaError

    try:
        patterns.validator(schema).check_schema(schema)
    except SchemaError as error:
        raise BadSchema(error.message[:200]) from None
    except RecursionError:
        raise BadSchema("it is nested too deeply") from None


def refuse_too_large(schema: object, loc: tuple[str | int, ...]) -> None:
    """Refuse a schema that would keep the model from everybody.

    Raises:
        InvalidRequest: 422, saying what is too large.
    """
    try:
        check_size(schema)
    except TooLarge as error:
        raise InvalidRequest(loc, f"This JSON schema is too large: {error}", "too_long") from None


def fits(value: object, schema: dict[str, Any]) -> bool:
    """Return whether a value matches a schema; nothing matches a broken one."""
    try:
        checker = patterns.validator(schema)
        checker.check_schema(schema)
        return bool(checker.is_valid(value))
    except Exception:  # An unresolvable reference raises one of several exceptions.
        return False
