"""JSON schemas from callers: their check, and validation of a model's answer."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


class BadSchema(ValueError):
    """Not a JSON schema; the message says why."""


def check(schema: dict[str, Any]) -> None:
    """Checks that a value is a JSON schema.

    Raises:
        BadSchema: saying why.
    """
    from jsonschema import SchemaError

    try:
        _validator(schema)
    except SchemaError as error:
        raise BadSchema(error.message[:200]) from None
    except RecursionError:
        raise BadSchema("it is nested too deeply") from None


def fits(value: object, schema: dict[str, Any]) -> bool:
    """Whether a value matches a schema; nothing matches a broken one."""
    try:
        return bool(_validator(schema).is_valid(value))
    except Exception:  # An unresolvable reference raises one of several exceptions.
        return False


def _validator(schema: dict[str, Any]) -> "Validator":
    # Imported here because it takes longer than all else the server needs to start.
    import jsonschema
    from referencing import Registry

    kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    kind.check_schema(schema)
    # The default registry would fetch references over the network.
    return kind(schema, registry=Registry())
