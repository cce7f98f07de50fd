"""Files and folders dropped on the terminal or pasted as paths.

A terminal turns a drop into pasted text, each in its own way: one path a line,
paths escaped with backslashes or in quotes on one line, or `file://` addresses.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from carrel.store.core.problem import Problem
from carrel.text import clean_text

MAX_LENGTH = 256 * 1024
"""Longest text that is parsed as paths, in characters."""

_PART = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.?|[^\s'"\\]""", re.DOTALL)
_WORD = re.compile(rf"\s*((?:{_PART.pattern})+)", re.DOTALL)
"""A word of a shell's line, and its parts: quoted, escaped, or one character."""


def parse_drop(text: str, *, relative: bool = False) -> tuple[Path, ...]:
    """Return the existing files of a text in order, or an empty tuple if any part is not a file.

    Args:
        text: What was pasted.
        relative: Whether paths may be relative to the working folder. In a text field they must
        not, because a word may happen to be a file's name.
    """
    return _parse(text, relative, Path.is_file)


@dataclass(frozen=True)
class Drop:
    """The files of a drop, and its invalid paths."""

    files: tuple[Path, ...]
    refused: tuple[str, ...] = ()

    @property
    def problem(self) -> Problem | None:
        """The invalid paths with their reasons, or None if all are files."""
        if not self.refused:
            return None
        total = len(self.files) + len(self.refused)
        return Problem(
            f"{len(self.refused)} of {total} dropped paths left out",
            "\n".join(f"{clean_text(name)}: {_explain_unusable(name)}" for name in self.refused),
            "The others are taken.",
        )


def parse_some(text: str, *, relative: bool = False) -> Drop:
    """Return the files of a text, even if some of its paths are invalid.

    Only a text of absolute paths counts as a drop: prose may mention a file.
    """
    if files := parse_drop(text, relative=relative):
        return Drop(files)
    for names in _readings(text):
        found = {name: _find_existing(name, False, Path.is_file) for name in names}
        if any(found.values()) and all(map(_is_whole, names)):
            return Drop(
                tuple(path for path in found.values() if path is not None),
                tuple(name for name, path in found.items() if path is None),
            )
    return Drop(())


def parse_folder(text: str, *, relative: bool = False) -> Path | None:
    """Return the only folder of a text.

    Returns None if the text has anything else.
    """
    folders = _parse(text, relative, Path.is_dir)
    return folders[0] if len(folders) == 1 else None


def _parse(text: str, relative: bool, wanted: Callable[[Path], bool]) -> tuple[Path, ...]:
    for names in _readings(text):
        paths = [_find_existing(name, relative, wanted) for name in names]
        found = tuple(path for path in paths if path is not None)
        if names and len(found) == len(names):
            return found
    return ()


def _readings(text: str) -> Iterator[list[str]]:
    """Yield the possible splits of a text into names."""
    text = text.replace("\0", "")
    if text.strip() and len(text) <= MAX_LENGTH:
        lines = [line.strip("\r") for line in text.splitlines() if line.strip()]
        yield lines
        yield [line.strip() for line in lines]
        yield _split(text)


def _is_whole(name: str) -> bool:
    return any(
        candidate.startswith(("/", "~/")) or candidate.lower().startswith("file:")
        for candidate in (name, *_unquote(name))
    )


def _explain_unusable(name: str) -> str:
    if _find_existing(name, False, Path.is_dir) is not None:
        return "a folder: drop it alone"
    return "no such file"


def _find_existing(name: str, relative: bool, wanted: Callable[[Path], bool]) -> Path | None:
    for candidate in (name, *_unquote(name)):
        path = _as_path(candidate)
        try:
            if path is not None and (relative or path.is_absolute()) and wanted(path):
                return path
        except (OSError, ValueError):
            continue
    return None


def _unquote(name: str) -> list[str]:
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
    """Split a line as a shell would, or return an empty list if a quote is open."""
    words, at = [], 0
    while found := _WORD.match(text, at):
        words.append("".join(map(_unescape, _PART.findall(found[1]))))
        at = found.end()
    return [] if text[at:].strip() else words


def _unescape(part: str) -> str:
    if part.startswith("'"):
        return part[1:-1]
    if part.startswith('"'):
        return re.sub(r'\\(["\\$`])', r"\1", part[1:-1])
    return part.removeprefix("\\")
