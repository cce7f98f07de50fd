"""Bounds of a JSON schema's size, with every reference expanded to its target.

A model's engine follows all alternatives at once: a few kilobytes of references to references
cost it gigabytes and minutes, in which it answers nobody. A schema within these bounds costs it
at most a few hundred milliseconds a token.
"""

import json
import re
import warnings
from collections.abc import Iterable
from re import _constants as sre
from re import _parser as sre_parser
from typing import Any
from urllib.parse import unquote

MAX_PARTS = 10_000
"""Subschemas, with those behind references counted wherever they are referred to."""
MAX_DEPTH = 100
MAX_PROPERTIES = 500
"""Properties of one object."""
MAX_VALUES = 1_000
"""Values of one `enum`."""
MAX_COUNT = 2_000
"""`minItems`, `minLength` and `minProperties`; beyond, the engine refuses a grammar."""
MAX_PATTERN = 2_000
"""Letters of a `pattern`, with repeated ones counted as often as they may be repeated."""

MAX_BYTES = 1_000_000
"""Largest size of a schema as JSON."""

_COUNTED = ("minItems", "minLength", "minProperties", "minContains")
_VALUES = ("const", "default", "examples", "enum")
_DEFINITIONS = ("$defs", "definitions")
# Their keys are names, whatever keyword they look like.
_NAMED = ("properties", "patternProperties", "dependentSchemas")
# Other ways to name a part, which would lead around the bounds.
_OTHER_NAMES = ("$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef")
_OTHER_BASES = ("$id", "id")
_REPEATED_SHARE = 10
"""Number of repetitions that count as one part."""


class TooLarge(ValueError):
    """A schema is too large, or its size is unknown. The message names the part and the limit."""


def check_size(*schemas: object) -> None:
    """Check that the schemas of one request are within the bounds.

    Raises:
        TooLarge: naming the first part that is not.
    """
    try:
        size = len(json.dumps(schemas))
    except RecursionError:
        raise _depth_error() from None
    if size > MAX_BYTES:
        raise TooLarge(f"it has {size:,} bytes; at most {MAX_BYTES:,} are allowed.")
    parts = 0
    for schema in schemas:
        # References lead to places in their own schema.
        parts = _check_size(parts + _Measure(schema).size(schema, 0))


class _Measure:
    """Sizes of the parts of one schema; those behind references are found once."""

    def __init__(self, root: object) -> None:
        self._root = root
        self._sizes: dict[int, int] = {}
        """By the identity of a target, which several references can name."""
        self._open: set[int] = set()

    def size(self, schema: object, depth: int) -> int:
        """Return the number of subschemas, references replaced by their targets."""
        if depth > MAX_DEPTH:
            raise _depth_error()
        if isinstance(schema, list):
            return self._sum(schema, depth)
        if not isinstance(schema, dict):
            return 0
        for name in (*_OTHER_NAMES, *(_OTHER_BASES if depth else ())):
            if isinstance(schema.get(name), str | bool):
                raise _indirect(name, schema[name])
        found = 1 + _own_size(schema)
        for key, part in schema.items():
            if key in _DEFINITIONS:
                # They count where they are referred to.
                self._sum(_values(part), depth)
            elif key in _NAMED:
                found += self._sum(_values(part), depth)
            elif key not in _VALUES:
                found += self._sum([part], depth)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference != "#" and not reference.startswith("#/"):
                raise _indirect("$ref", reference)
            found += self._size_of_target(_target(self._root, reference), depth)
        return _check_size(found)

    def _sum(self, parts: Iterable[object], depth: int) -> int:
        total = 0
        for part in parts:
            total = _check_size(total + self.size(part, depth + 1))
        return total

    def _size_of_target(self, target: object, depth: int) -> int:
        """Return the size of a reference's target; a recursive reference counts as 1."""
        key = id(target)
        if key in self._open:
            return 1
        if key not in self._sizes:
            self._open.add(key)
            self._sizes[key] = self.size(target, depth + 1)
            self._open.discard(key)
        return self._sizes[key]


def _values(part: object) -> Iterable[object]:
    return part.values() if isinstance(part, dict) else ()


def _depth_error() -> TooLarge:
    return TooLarge(f"it is nested more than {MAX_DEPTH} deep.")


def _indirect(name: str, value: object) -> TooLarge:
    return TooLarge(f"it names a part by {name} {str(value)[:80]!r}. Refer to parts as #/$defs/….")


def _check_size(size: int) -> int:
    if size > MAX_PARTS:
        raise TooLarge(
            f"it has more than {MAX_PARTS:,} parts once its references are followed. Leave out"
            " alternatives, values or levels of references."
        )
    return size


def _own_size(schema: dict[str, Any]) -> int:
    """Return the size of a subschema's own values, repetitions and pattern."""
    properties, values = schema.get("properties"), schema.get("enum")
    if isinstance(properties, dict) and len(properties) > MAX_PROPERTIES:
        raise TooLarge(
            f"an object has {len(properties):,} properties; at most {MAX_PROPERTIES:,} are allowed."
        )
    size = len(values) if isinstance(values, list) else 0
    if size > MAX_VALUES:
        raise TooLarge(f"an enum has {size:,} values; at most {MAX_VALUES:,} are allowed.")
    for name in _COUNTED:
        count = schema.get(name)
        if not isinstance(count, int | float):
            continue
        if count > MAX_COUNT:
            raise TooLarge(f"{name} is {count:g}; at most {MAX_COUNT:,} is allowed.")
        size += max(0, int(count)) // _REPEATED_SHARE
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        letters = _pattern_size(pattern)
        if letters > MAX_PATTERN:
            raise TooLarge(
                f"a pattern has more than {MAX_PATTERN:,} letters, its repetitions written out."
            )
        size += letters // _REPEATED_SHARE
    return size


def _target(root: object, reference: str) -> object:
    """Return the target of a reference within the schema, or None."""
    target = root
    for part in unquote(reference[1:]).split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(target, dict):
            target = target.get(name)
        elif isinstance(target, list) and name.isdecimal() and int(name) < len(target):
            target = target[int(name)]
        else:
            return None
    return target


def _pattern_size(pattern: str) -> int:
    """Return the letters of a pattern, with each repetition written out."""
    if len(pattern) > MAX_PATTERN:
        return len(pattern)
    try:
        with warnings.catch_warnings(action="ignore"):
            parsed = sre_parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        # Not one of Python's: the schema's own check, or the engine, says so.
        return len(pattern)
    return _tree_size(parsed)


def _tree_size(part: Any) -> int:
    if isinstance(part, sre_parser.SubPattern):
        return sum(_node_size(node, value) for node, value in part.data)
    if isinstance(part, list | tuple):
        return sum(map(_tree_size, part))
    return 0


def _node_size(node: Any, value: Any) -> int:
    if node not in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        return 1 + _tree_size(value)
    least, most, inner = value
    times = int(least if most is sre.MAXREPEAT else most)
    # A part that may be empty is skipped in every combination.
    if times > 1 and inner.getwidth()[0] == 0:
        times **= 2
    return 1 + max(1, times) * _tree_size(inner)
