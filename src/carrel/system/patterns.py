"""Regular expressions of users, with a time limit.

Python's own matcher backtracks without limit for some patterns, holds the interpreter lock
meanwhile, and cannot be interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

SECONDS = 1.0
"""Time limit of a search in seconds."""


class PatternError(ValueError):
    """The pattern is not a regular expression, or takes too long; the message tells which."""


def search(pattern: str, text: str) -> str | None:
    """Return the first match of a pattern in a text, or None.

    Raises:
        PatternError: the pattern is not a regular expression, or takes longer than a second.
    """
    import regex

    try:
        found = regex.search(pattern, text, timeout=SECONDS, concurrent=True)
    except (regex.error, RecursionError) as error:
        raise PatternError(f"This is not a regular expression: {error}.") from error
    except TimeoutError:
        raise PatternError(
            f"This pattern takes longer than {SECONDS:g} s. Nest no repetitions in one another."
        ) from None
    return None if found is None else str(found[0])


def validator(schema: dict[str, Any], seconds: float = SECONDS) -> Validator:
    """Return a validator for a JSON schema, whose patterns are searched with the time limit.

    It fetches nothing. Raises PatternError for an invalid or slow pattern, and once validation
    exceeds `seconds` from now.
    """
    # Imported here because it takes longer than all other imports of the server.
    from jsonschema.validators import Draft202012Validator, extend, validator_for
    from referencing import Registry

    kind = validator_for(schema, Draft202012Validator)
    until = time.monotonic() + seconds
    keywords = {**kind.VALIDATORS, "pattern": _pattern, "patternProperties": _pattern_properties}
    bounded = extend(kind, {name: _with_deadline(until, check) for name, check in keywords.items()})
    # The default registry would fetch references over the network.
    return bounded(schema, registry=Registry())


def _with_deadline(end: float, check: Callable[..., Any]) -> Callable[..., Any]:
    """Return a keyword's check that stops at a time, because alternatives multiply."""

    def check_in_time(*arguments: Any) -> Any:
        if time.monotonic() > end:
            raise PatternError("It takes too long to check this. Leave out alternatives.")
        return check(*arguments)

    return check_in_time


def _pattern(
    validator: Validator, pattern: str, value: object, schema: dict[str, Any]
) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(value, str) and search(pattern, value) is None:
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Validator, properties: dict[str, Any], value: object, schema: dict[str, Any]
) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    for pattern, inner in properties.items():
        for key, item in value.items():
            if search(pattern, key) is not None:
                yield from validator.descend(item, inner, path=key, schema_path=pattern)
