"""JSON schemas from callers: their check, and validation of a model's answer."""

from functools import cache
from typing import Any

from carrel.server.errors import InvalidRequest
from carrel.server.models.schemas.schema_size import TooLarge, check_size
from carrel.system import patterns

_SECONDS = 5.0
"""The longest check of a schema."""


class BadSchema(ValueError):
    """Not a JSON schema; the message says why."""


def check(schema: dict[str, Any]) -> None:
    """Check that a value is a JSON schema.

    Raises:
        BadSchema: saying why.
    """
    from jsonschema.exceptions import best_match

    try:
        error = best_match(patterns.validator(_schema_of_schemas(), _SECONDS).iter_errors(schema))
    except patterns.PatternError as problem:
        raise BadSchema(str(problem)) from problem
    except RecursionError:
        raise BadSchema("it is nested too deeply") from None
    if error is not None:
        raise BadSchema(error.message[:200])


@cache
def _schema_of_schemas() -> dict[str, Any]:
    """Return the schema of draft 7, with the keywords that came later.

    The present draft's schema is split into parts that refer to each other, and takes five times as
    long.
    """
    from jsonschema.validators import Draft7Validator

    draft: dict[str, Any] = dict(Draft7Validator.META_SCHEMA)
    known: dict[str, Any] = draft["properties"]
    later = {
        "$defs": known["definitions"],
        "dependentSchemas": known["definitions"],
        "prefixItems": known["allOf"],
        "unevaluatedItems": known["not"],
        "unevaluatedProperties": known["not"],
    }
    return {**draft, "properties": {**known, **later}}


def refuse_too_large(loc: tuple[str | int, ...], *schemas: object) -> None:
    """Refuse schemas that would together block the model for all callers.

    Raises:
        InvalidRequest: 422, saying what is too large.
    """
    try:
        check_size(*schemas)
    except TooLarge as error:
        raise InvalidRequest(loc, f"This JSON schema is refused: {error}", "too_long") from error


def fits(value: object, schema: dict[str, Any]) -> bool:
    """Return whether a value matches a schema. False after a second, or if the schema is broken."""
    try:
        return bool(patterns.validator(schema).is_valid(value))
    except Exception:  # An unresolvable reference raises one of several exceptions.
        return False
