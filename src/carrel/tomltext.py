"""Edits of hand-written TOML: the line of a key, and changing one in place."""

import re
import tomllib

_HEADER = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


def line_of(text: str, *path: str) -> int | None:
    """The line, from 1, on which the key with this path is written; the nearest table's else."""
    wanted = ".".join(path)
    table = ""
    near: int | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            table = _dotted(header[1])
            here = table
        elif key := _KEY.match(line):
            here = ".".join(filter(None, (table, _dotted(key[1]))))
        else:
            continue
        if here == wanted:
            return number
        if near is None and (wanted.startswith(f"{here}.") or here.startswith(f"{wanted}.")):
            near = number
    return near


def with_value(text: str, key: str, value: str | None) -> str:
    """The text with a top-level key set to a string, or removed.

    Everything else stays as it is written, comments too.

    Raises:
        ValueError: the text is not TOML, or writes this key in an unsupported way.
    """
    content = tomllib.loads(text)
    content.pop(key, None)
    if value is not None:
        content[key] = value
    lines = re.findall(r".*\n|.+", text)
    top = next((n for n, line in enumerate(lines) if _HEADER.match(line)), len(lines))
    at = next(
        (n for n in range(top) if (found := _KEY.match(lines[n])) and _dotted(found[1]) == key),
        None,
    )
    new = [] if value is None else [f"{key} = {_quoted(value)}\n"]
    if at is not None:
        lines[at : at + 1] = new
    else:
        lines[:0] = new
    changed = "".join(lines)
    if tomllib.loads(changed) != content:
        raise ValueError(f"{key} cannot be changed where it stands")
    return changed


def _dotted(key: str) -> str:
    return ".".join(part.strip("\"'") for part in _PART.findall(key))


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'
