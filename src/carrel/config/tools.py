"""Tools in the settings: commands that answer function calls, and MCP servers."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

TIMEOUT = 60.0
"""Default timeout of a call in seconds."""
LONGEST = 3600.0

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HIDDEN = "…"


class _ToolSettings:
    def plain(self) -> dict[str, Any]:
        """Return the value as TOML holds it, with hidden secrets."""
        values = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
            if value
        }
        for name in {"env", "headers"} & values.keys():
            values[name] = dict.fromkeys(values[name], _HIDDEN)
        return values


@dataclass(frozen=True)
class CommandSettings(_ToolSettings):
    """A command that answers calls of one function.

    It gets the arguments as JSON on stdin; its stdout is the result. `parameters` is their JSON
    schema.
    """

    command: tuple[str, ...]
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = TIMEOUT

    @classmethod
    def of(cls, values: Any) -> "CommandSettings":
        """Read the settings of a command.

        Raises:
            ValueError: a value is invalid; the message completes “NAME …”.
        """
        found = _check(values, {"command", "description", "parameters", "env", "timeout"})
        if "command" not in found:
            raise ValueError('needs a command: command = ["python", "weather.py"]')
        return cls(**found)


@dataclass(frozen=True)
class ServerSettings(_ToolSettings):
    """An MCP server: a command to start, or an address of streamable HTTP."""

    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = TIMEOUT

    @classmethod
    def of(cls, values: Any) -> "ServerSettings":
        """Read the settings of a server.

        Raises:
            ValueError: a value is invalid; the message completes “NAME …”.
        """
        found = _check(values, {"command", "url", "env", "headers", "timeout"})
        if ("command" in found) == ("url" in found):
            raise ValueError(
                'needs a command or a url: command = ["uvx", "some-server"], '
                'or url = "http://127.0.0.1:9000/mcp"'
            )
        if "url" in found and "env" in found:
            raise ValueError("takes env with a command only; an address takes headers")
        if "command" in found and "headers" in found:
            raise ValueError("takes headers with a url only; a command takes env")
        return cls(**found)


def check_name(name: str) -> None:
    """Check that models can call a tool of this name.

    Raises:
        ValueError: a model could not call a tool of this name.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"has the name “{name}”: use up to 64 letters, digits, _ and -")


def _check(values: Any, known: set[str]) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise ValueError("must be a table")
    for key in values:
        if key not in known:
            raise ValueError(f"has an unknown key “{key}”. Known: {', '.join(sorted(known))}")
    return {key: _CHECKS[key](value) for key, value in values.items()}


def _command(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(_is_usable(part) for part in value):
        raise ValueError('needs its command as a list: command = ["python", "weather.py"]')
    return (str(Path(value[0]).expanduser()), *value[1:])


def _is_usable(part: object) -> bool:
    return isinstance(part, str) and bool(part) and "\0" not in part


def _url(value: Any) -> str:
    try:
        parts = urlsplit(value if isinstance(value, str) else "")
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError('needs an address: url = "http://127.0.0.1:9000/mcp"')
    if parts.username or parts.password:
        raise ValueError("takes no password in its url: use headers")
    return str(value)


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError("needs env and headers as tables of texts")
    return dict(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("needs its description in quotes")
    return value


def _schema(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or value.get("type", "object") != "object":
        raise ValueError("needs its parameters as a JSON schema of type object")
    return dict(value)


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST:
        raise ValueError(f"needs its timeout as seconds, up to {LONGEST:g}")
    return float(value)


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "command": _command,
    "url": _url,
    "env": _texts,
    "headers": _texts,
    "description": _text,
    "parameters": _schema,
    "timeout": _seconds,
}
