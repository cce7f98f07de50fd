"""The user's settings: `settings.toml` in the configuration folder.

The fields of `Settings` are its keys, and their docstrings the documentation. A file that
says anything else is refused with the line and the nearest key.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, cast

from carrel.config import toml_edit
from carrel.config.profiles import ConfigError, check_url, folders, read_text, write_text
from carrel.config.toml_edit import line_of, with_value
from carrel.config.tools import CommandSettings, ServerSettings, check_name

Images = Literal["auto", "kitty", "sixel", "halfblock", "off"]
IMAGES: tuple[Images, ...] = ("auto", "kitty", "sixel", "halfblock", "off")

MODEL_SERVERS = {
    "Ollama": "http://127.0.0.1:11434",
    "LM Studio": "http://127.0.0.1:1234",
    "llama.cpp": "http://127.0.0.1:8080",
    "vLLM": "http://127.0.0.1:8000",
}


@dataclass(frozen=True)
class Settings:
    """The settings; a field missing from the file has its default."""

    theme: str = "carrel-dark"
    """The colours of the terminal app. The palette previews them."""
    images: Images = "auto"
    """The drawing of pictures: auto, kitty, sixel, halfblock or off."""
    mouse: bool = True
    """Whether the terminal app takes the mouse. With false the terminal selects text by itself."""
    hide: bool = False
    """Starts with keys, ids, addresses, home paths and profile names hidden: for shared screens."""
    model_servers: Mapping[str, str] = field(default_factory=lambda: MODEL_SERVERS)
    """The addresses at which model servers of this machine are looked for, by name."""
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Other keys for actions, by the ids that help shows: "files.upload" = "alt+u"."""
    tools: Mapping[str, CommandSettings] = field(default_factory=dict)
    """Commands that answer function calls of agents, each by its function's name."""
    mcp_servers: Mapping[str, ServerSettings] = field(default_factory=dict)
    """MCP servers whose tools a chat may use, each by a name."""


@dataclass(frozen=True)
class Mistake:
    """A mistake in a file; `line` counts from 1."""

    line: int | None
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


class SettingsError(ConfigError):
    """The settings are invalid; the message names every mistake and its line."""

    def __init__(self, path: Path, mistakes: list[Mistake]) -> None:
        said = "\n".join(str(mistake) for mistake in mistakes)
        super().__init__(f"{path}, {said}" if len(mistakes) == 1 else f"{path}:\n{said}")
        self.path = path
        self.mistakes = tuple(mistakes)


def settings_file() -> Path:
    """Return the path of the settings file."""
    return folders().config / "settings.toml"


def load_settings(path: Path | None = None) -> Settings:
    """Load the settings, or the defaults if there is no file.

    Raises:
        SettingsError: the file is not TOML, or says something unknown or impossible.
    """
    path = path or settings_file()
    text = read_text(path)
    try:
        content = toml_edit.parse(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(path, [Mistake(None, f"this is not valid TOML: {error}.")]) from error
    mistakes: list[Mistake] = []
    values: dict[str, Any] = {}
    known = {item.name for item in fields(Settings)}
    for key, value in content.items():
        if key not in known:
            words = f"there is no setting “{key}”.{nearest(key, known)}"
            mistakes.append(Mistake(line_of(text, key), words))
            continue
        try:
            values[key] = _CHECKS[key](value)
        except ValueError as error:
            end = "" if str(error).endswith("?") else "."
            mistakes.append(Mistake(line_of(text, key), f"{key} {error}{end}"))
    if mistakes:
        raise SettingsError(path, mistakes)
    return Settings(**values)


def save_settings(values: Mapping[str, str | None], path: Path | None = None) -> bool:
    """Set settings in the file, and remove those that are None; other text stays unchanged.

    Returns whether the file changed.

    Raises:
        ConfigError: the file cannot be read or written, or is not TOML.
    """
    path = path or settings_file()
    before = changed = read_text(path)
    try:
        for key, value in values.items():
            changed = with_value(changed, key, value)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}. Mend that, or change the file by hand.") from error
    if changed != before:
        write_text(path, changed)
    return changed != before


def field_docs(kind: type) -> dict[str, str]:
    """Return the docstring of each field of a class by field name, from its source."""
    import ast
    import inspect

    (definition,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(definition, ast.ClassDef)
    return {
        item.target.id: text.value.value
        for item, text in pairwise(definition.body)
        if isinstance(item, ast.AnnAssign)
        and isinstance(item.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def nearest(word: str, known: "set[str] | list[str]") -> str:
    """Return a sentence that suggests the most similar known word, or an empty string."""
    import difflib

    found = difflib.get_close_matches(word, sorted(known), 1, 0.5)
    return f" Did you mean “{found[0]}”?" if found else ""


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be a text in quotes")
    return value


def _images(value: Any) -> Images:
    if value not in IMAGES:
        raise ValueError(
            f"must be one of {', '.join(IMAGES)}.{nearest(str(value), list(IMAGES))}".rstrip(".")
        )
    return cast(Images, value)


def _read_switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _addresses(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError(
            'must be a table of names and addresses: Ollama = "http://127.0.0.1:11434"'
        )
    try:
        return {name: check_url(_text(url)) for name, url in value.items()}
    except ConfigError as error:
        raise ValueError(f"has something wrong: {str(error).rstrip('.')}") from error


def _tools(kind: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError("must be a table of tables, each by its name")
        found = {}
        for name, item in value.items():
            check_name(name)
            try:
                found[name] = kind(item)
            except ValueError as error:
                raise ValueError(f"“{name}” {error}") from error
        return found

    return check


def _keymap(value: Any) -> dict[str, str]:
    keys: dict[str, str] = {}

    def flatten(table: Mapping[str, Any], before: str) -> None:
        for name, item in table.items():
            if isinstance(item, dict):
                flatten(item, f"{before}{name}.")
            elif isinstance(item, str) and item.strip():
                keys[before + name] = item
            else:
                raise ValueError(f'must name keys in quotes, such as {before}{name} = "alt+u"')

    if not isinstance(value, dict):
        raise ValueError('must be a table: "files.upload" = "alt+u"')
    flatten(value, "")
    return keys


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "theme": _text,
    "images": _images,
    "mouse": _read_switch,
    "hide": _read_switch,
    "model_servers": _addresses,
    "keymap": _keymap,
    "tools": _tools(CommandSettings.of),
    "mcp_servers": _tools(ServerSettings.of),
}
