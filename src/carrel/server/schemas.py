"""JSON schemas that callers send: checked, and held against what a model wrote."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


class BadSchema(ValueError):
    """This is no JSON schema; the message says why."""


def check(schema: dict[str, Any]) -> None:
    """Refuses what is no JSON schema.

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
    """Whether a value is as a schema wants it; a broken schema fits nothing."""
    try:
        return bool(_validator(schema).is_valid(value))
    except Exception:  # A reference that leads nowhere raises one of several kinds.
        return False


def _validator(schema: dict[str, Any]) -> "Validator":
    # Imported here because it takes longer than all else the server needs to start.
    import jsonschema
    from referencing import Registry

    kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    kind.check_schema(schema)
    # The default registry would fetch what a schema refers to, wherever that leads.
    return kind(schema, registry=Registry())
