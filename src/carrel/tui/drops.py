"""Files and folders that were dropped on the terminal or pasted as paths.

A terminal turns a drop into pasted text, each in its own way: one path a line,
paths escaped with backslashes or in quotes on one line, or `file://` addresses.
"""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

MAX_LENGTH = 256 * 1024
"""Longer text is never taken for paths, in characters."""


def parse_drop(text: str, *, relative: bool = False) -> tuple[Path, ...]:
    """The existing files that the text names, in order; empty when any part of it names none.

    Args:
        text: What was pasted.
        relative: Whether a path may start at the working folder. In a text field it must not,
            because a word may happen to be a file's name.
    """
    return _parse(text, relative, Path.is_file)


def parse_folder(text: str, *, relative: bool = False) -> Path | None:
    """The one existing folder that the text names; None when it names another thing, or more."""
    folders = _parse(text, relative, Path.is_dir)
    return folders[0] if len(folders) == 1 else None


def _parse(text: str, relative: bool, wanted: Callable[[Path], bool]) -> tuple[Path, ...]:
    text = text.replace("\0", "")
    if not text.strip() or len(text) > MAX_LENGTH:
        return ()
    lines = [line.strip("\r") for line in text.splitlines() if line.strip()]
    for names in (lines, [line.strip() for line in lines], _split(text)):
        paths = [_existing(name, relative, wanted) for name in names]
        found = tuple(path for path in paths if path is not None)
        if names and len(found) == len(names):
            return found
    return ()


def _existing(name: str, relative: bool, wanted: Callable[[Path], bool]) -> Path | None:
    for candidate in (name, *_unquoted(name)):
        path = _as_path(candidate)
        try:
            if path is not None and (relative or path.is_absolute()) and wanted(path):
                return path
        except (OSError, ValueError):
            continue
    return None


def _unquoted(name: str) -> list[str]:
    words = _split(name)
    return words if len(words) == 1 else []


def _as_path(name: str) -> Path | None:
    if name.lower().startswith("file:"):
        try:
            address = urlsplit(name)
        except ValueError:
            return None
        if address.netloc not in ("", "localhost"):
            return None
        # Some terminals leave a # or ? of a file's name as it is.
        path = unquote(address.path)
        path += f"?{unquote(address.query)}" if address.query else ""
        path += f"#{unquote(address.fragment)}" if address.fragment else ""
        return Path(path)
    try:
        return Path(name).expanduser()
    except RuntimeError:  # ~ of a user without a home
        return None


def _split(text: str) -> list[str]:
    """The words of a line as a shell would read them; none when a quote is left open."""
    words: list[str] = []
    word: str | None = None
    quote = ""
    characters = iter(text)
    for character in characters:
        if quote:
            if character == quote:
                quote = ""
            elif character == "\\" and quote == '"':
                following = next(characters, "")
                word = (word or "") + (following if following in '"\\$`' else "\\" + following)
            else:
                word = (word or "") + character
        elif character in "'\"":
            quote = character
            word = word or ""
        elif character == "\\":
            word = (word or "") + next(characters, "")
        elif character.isspace():
            if word is not None:
                words.append(word)
            word = None
        else:
            word = (word or "") + character
    if quote:
        return []
    return words if word is None else [*words, word]
