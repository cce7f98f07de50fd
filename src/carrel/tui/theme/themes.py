"""Themes: files that name a colour for each role; ours, and those in the user's folder.

    name: dusk
    dark: true
    colours:
      background: "#15171c"
      accent: "#e2a65a"

`background`, `foreground` and `accent` are needed; every other role is derived where it is not
named. A role is a theme variable (`$ready`, `$muted` …); screens name roles, never colours.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from textual.color import Color, ColorParseError
from textual.theme import Theme

from carrel.config.profiles import folders
from carrel.config.settings import Mistake, SettingsError, nearest

DEFAULT, LIGHT = "carrel-dark", "carrel-light"

NEEDED = ("background", "foreground", "accent")
ROLES = (
    *NEEDED,
    *("panel", "line", "muted", "selection", "ready", "busy", "waiting", "failed", "hosted"),
    *("added", "removed", "match", "doubtful", "speaker", "scrollbar", "scrollbar-hover"),
)
_KEYS = ("name", "dark", "colours")
_MOST_BYTES = 1 << 16
"""Size limit of a file, which has a line a role."""


class ThemeError(SettingsError):
    """A theme file is invalid; the message names every mistake and its line."""


@dataclass(frozen=True)
class FoundThemes:
    """The valid themes, and the mistakes of the other files."""

    themes: tuple[Theme, ...]
    broken: tuple[ThemeError, ...]


def shipped_folder() -> Path:
    """Return the folder of the shipped themes, in the package or beside it in a working copy."""
    inside = Path(__file__).parents[2] / "themes"
    return inside if inside.is_dir() else Path(__file__).parents[4] / "themes"


def user_folder() -> Path:
    """Return the folder of the user's themes."""
    return folders().config / "themes"


def find_themes(folder: Path) -> FoundThemes:
    """Return the themes of a folder by file name."""
    themes: list[Theme] = []
    broken: list[ThemeError] = []
    for path in _files(folder):
        try:
            themes.append(read_theme(path))
        except ThemeError as error:
            broken.append(error)
    return FoundThemes(tuple(themes), tuple(broken))


def read_stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return the modification time, in nanoseconds, and the size of each theme file in a folder."""
    found = {}
    for path in _files(folder):
        try:
            status = path.stat()
        except OSError:
            continue
        found[path] = (status.st_mtime_ns, status.st_size)
    return found


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in (".yaml", ".yml"))
    except OSError:
        return []


def read_theme(path: Path) -> Theme:
    """Parse a theme file.

    Raises:
        ThemeError: the file is not a valid theme.
    """
    try:
        if (size := path.stat().st_size) > _MOST_BYTES:
            said = f"it has {size:,} bytes; a theme has at most {_MOST_BYTES:,}."
            raise ThemeError(path, [Mistake(None, said)])
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        raise ThemeError(path, [Mistake(None, f"it cannot be read: {error}.")]) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or "something is wrong"
        line = mark.line + 1 if mark else None
        raise ThemeError(path, [Mistake(line, f"this is not valid YAML: {reason}.")]) from error
    mistakes: list[Mistake] = []
    top = dict(_pairs(node, _KEYS, "setting", mistakes))
    texts = {key: _text(value, key, mistakes) for key, value in top.items() if key != "colours"}
    colours = _colours(top.get("colours"), mistakes)
    dark = texts.get("dark", "true")
    if dark not in ("true", "false"):
        mistakes.append(Mistake(_line(top["dark"]), "dark must be true or false."))
    mistakes += [
        Mistake(None, f"the colour “{role}” is missing.")
        for role in NEEDED
        if role not in colours and not any(f"“{role}”" in item.message for item in mistakes)
    ]
    if mistakes:
        raise ThemeError(path, mistakes)
    return _theme(texts.get("name") or path.stem, dark == "true", colours)


def _pairs(
    node: yaml.Node | None, known: tuple[str, ...], what: str, mistakes: list[Mistake]
) -> Iterator[tuple[str, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        mistakes.append(Mistake(_line(node), f"expected lines like “{known[0]}: …”."))
        return
    for key, value in node.value:
        if key.value in known:
            yield key.value, value
        else:
            words = f"there is no {what} “{key.value}”.{nearest(str(key.value), list(known))}"
            mistakes.append(Mistake(_line(key), words))


def _text(node: yaml.Node, key: str, mistakes: list[Mistake]) -> str:
    if isinstance(node, yaml.ScalarNode) and node.value:
        return str(node.value)
    mistakes.append(Mistake(_line(node), f"{key} must be one word."))
    return ""


def _colours(node: yaml.Node | None, mistakes: list[Mistake]) -> dict[str, str]:
    colours: dict[str, str] = {}
    for role, value in _pairs(node, ROLES, "colour", mistakes):
        try:
            colours[role] = Color.parse(str(value.value)).hex
        except ColorParseError:
            words = f'“{role}” is not a colour; write one like "#e2a65a", in quotes.'
            mistakes.append(Mistake(_line(value), words))
    return colours


def _line(node: yaml.Node | None) -> int | None:
    return None if node is None else node.start_mark.line + 1


def _theme(name: str, dark: bool, colours: Mapping[str, str]) -> Theme:
    accent, background = colours["accent"], colours["background"]
    own = {role: colour for role, colour in colours.items() if role not in (*NEEDED, "panel")}
    scrollbar = colours.get("scrollbar")
    bars = {"scrollbar-active": accent} | {
        f"scrollbar-background{state}": background for state in ("", "-hover", "-active")
    }
    return Theme(
        name=name,
        primary=accent,
        secondary=colours.get("busy"),
        accent=accent,
        success=colours.get("ready"),
        warning=colours.get("doubtful") or colours.get("match"),
        error=colours.get("failed"),
        foreground=colours["foreground"],
        background=background,
        surface=background,
        panel=colours.get("panel"),
        dark=dark,
        variables={
            **own,
            **(bars if scrollbar else {}),
            "block-cursor-background": accent,
            "block-cursor-foreground": background,
            "block-cursor-text-style": "none",
            "input-selection-background": f"{accent} {30 if dark else 25}%",
        },
    )


def with_roles(variables: Mapping[str, str]) -> dict[str, str]:
    """Return a theme's variables, completed to all roles.

    Missing roles are derived.
    """
    roles = {
        "line": variables["border-blurred"],
        "muted": variables["foreground-muted"],
        "selection": variables["boost"],
        "ready": variables["success"],
        "busy": variables["secondary"],
        "waiting": variables["foreground-muted"],
        "failed": variables["error"],
        "hosted": variables["secondary"],
        "added": variables["success"],
        "removed": variables["error"],
        "match": variables["warning"],
        "doubtful": variables["warning"],
        "speaker": variables["secondary"],
    }
    return {**roles, **variables}
