"""Hand-written TOML: parsing, the line of a key, and changes in place."""

import re
import tomllib
from typing import Any

_HEADER = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


_MOST_LETTERS = 1 << 20
"""More letters than a file that is written by hand."""
_DEEPEST = 100


def parse(text: str) -> dict[str, Any]:
    """Parse a hand-written TOML file.

    Raises:
        TOMLDecodeError: the text is not TOML, or too large or too deep to be hand-written.
    """
    if len(text) > _MOST_LETTERS:
        raise tomllib.TOMLDecodeError(f"it has more than {_MOST_LETTERS:,} letters")
    # The time for a dotted key grows with the square of its parts.
    if any(line.partition("=")[0].count(".") > _DEEPEST for line in text.splitlines()):
        raise tomllib.TOMLDecodeError(f"a key has more than {_DEEPEST} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None


def line_of(text: str, *path: str) -> int | None:
    """Return the line of the key with this path, from 1, or None.

    If the key is missing, returns the line of its table or of a key below it.
    """
    wanted = ".".join(path)
    table = ""
    near: int | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            table = _join_key(header[1])
            here = table
        elif key := _KEY.match(line):
            here = ".".join(filter(None, (table, _join_key(key[1]))))
        else:
            continue
        if here == wanted:
            return number
        if near is None and (wanted.startswith(f"{here}.") or here.startswith(f"{wanted}.")):
            near = number
    return near


def with_value(text: str, key: str, value: str | None) -> str:
    """Return the text with a top-level string key set, or removed if `value` is None.

    Everything else stays as written, including comments.

    Raises:
        ValueError: the text is not TOML, or writes this key in an unsupported way.
    """
    content = parse(text)
    content.pop(key, None)
    if value is not None:
        content[key] = value
    lines = re.findall(r".*\n|.+", text)
    top = next((n for n, line in enumerate(lines) if _HEADER.match(line)), len(lines))
    at = next(
        (n for n in range(top) if (found := _KEY.match(lines[n])) and _join_key(found[1]) == key),
        None,
    )
    new = [] if value is None else [f"{key} = {_quote(value)}\n"]
    if at is not None:
        lines[at : at + 1] = new
    else:
        lines[:0] = new
    changed = "".join(lines)
    if tomllib.loads(changed) != content:
        raise ValueError(f"{key} cannot be changed where it stands")
    return changed


def _join_key(key: str) -> str:
    return ".".join(part.strip("\"'") for part in _PART.findall(key))


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'
