"""A document's attributes as editable lines: `year: 2024`, `shelf: north`."""

import json
from collections.abc import Mapping
from typing import Any

from carrel.store.core.problem import ProblemError

KINDS = "A value is text, a number, true, false, or a list of these."


def to_text(attributes: Mapping[str, object]) -> str:
    """Return one line per attribute; ambiguous text is quoted."""
    return "\n".join(f"{_name(name)}: {_value(value)}" for name, value in attributes.items())


def from_text(text: str) -> dict[str, Any]:
    """Parse the lines; empty ones are ignored.

    Raises:
        ProblemError: a line is malformed, a name is duplicate, or a value is not allowed.
    """
    attributes: dict[str, Any] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        name, value = _read(line.strip(), number)
        if name in attributes:
            raise _wrong(number, f"“{name}” occurs twice.")
        attributes[name] = value
    return attributes


def _name(name: str) -> str:
    plain = name == name.strip() and name and not name.startswith('"')
    return name if plain and not set(name) & set(":\n\r") else json.dumps(name)


def _value(value: object) -> str:
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    plain = value == value.strip() and "\n" not in value and "\r" not in value
    return value if plain and _parse(value) == value else json.dumps(value)


def _read(line: str, number: int) -> tuple[str, Any]:
    if line.startswith('"'):
        try:
            name, end = json.JSONDecoder().raw_decode(line)
        except ValueError:
            raise _wrong(number, "A quote is not closed.") from None
        rest = line[end:].lstrip()
    else:
        end = line.find(":")
        name, rest = line[:end].rstrip(), line[end:]
    if not name or not rest.startswith(":"):
        raise _wrong(number, "Write a name, a colon and a value, such as year: 2024")
    value = _parse(rest[1:].strip())
    parts = value if isinstance(value, list) else [value]
    if not all(isinstance(part, str | int | float) for part in parts):
        raise _wrong(number, KINDS)
    return name, value


def _parse(text: str) -> Any:
    """Parse a value as JSON, else as plain text."""
    try:
        return json.loads(text, parse_constant=str)
    except ValueError:
        return text


def _wrong(number: int, reason: str) -> ProblemError:
    return ProblemError(f"Line {number} is not an attribute", reason)
