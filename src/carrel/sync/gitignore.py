"""Patterns as in `.gitignore`, matched in time linear in the pattern and in the path.

Git's own matcher, like a backtracking regular expression, takes exponential time for a pattern of
many stars and a long name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
_CLASS = re.compile(r"\[:(\w+):\]")
_STARS = re.compile(r"^\*{2,}$")
_ANY_FOLDERS = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of a rule file."""

    includes: bool
    """Whether it includes again what earlier lines excluded."""
    folders_only: bool
    _parts: tuple[re.Pattern[str] | None, ...]
    """An expression per path segment; None stands for any number of segments."""

    @classmethod
    def parse(cls, line: str) -> Pattern | None:
        """Parse a line; return None for a comment, a blank line, or an invalid pattern."""
        text = re.sub(r"(?<!\\) +$", "", line.rstrip("\r\n"))
        if text.startswith("#"):
            return None
        includes = text.startswith("!")
        text = text.removeprefix("!")
        folders_only = text.endswith("/")
        text = text.removesuffix("/")
        anchored = "/" in text
        names = [_STARS.sub("**", name) for name in text.removeprefix("/").split("/")]
        if not all(names):
            return None
        parts: list[re.Pattern[str] | None] = [] if anchored else [_ANY_FOLDERS]
        for name in names:
            if name == "**" and anchored:
                if parts[-1:] != [_ANY_FOLDERS]:
                    parts.append(_ANY_FOLDERS)
                continue
            expression = _expression(name)
            if expression is None:
                return None
            parts.append(expression)
        if anchored and names[-1] == "**":
            # Everything in a folder, but not the folder.
            parts.append(re.compile(""))
        return cls(includes, folders_only, tuple(parts))

    def matches(self, path: str, *, folder: bool) -> bool:
        """Return whether the pattern matches a path of a file or a `folder`; paths use slashes."""
        return (folder or not self.folders_only) and self._match(path.split("/"))

    def matches_above(self, path: str) -> bool:
        """Return whether the pattern matches a file or one of its parent folders."""
        names = path.split("/")
        return self.matches(path, folder=False) or any(
            self._match(names[:count]) for count in range(1, len(names))
        )

    def _match(self, names: Sequence[str]) -> bool:
        # A later wildcard can match anything an earlier one could: backtracking to the last one is
        # enough.
        parts, part, name, back, mark = self._parts, 0, 0, -1, 0
        while name < len(names):
            expected = parts[part] if part < len(parts) else re.compile(r"(?!)")
            if expected is _ANY_FOLDERS:
                back, mark, part = part, name, part + 1
            elif expected is not None and expected.match(names[name]):
                part, name = part + 1, name + 1
            elif back >= 0:
                mark += 1
                part, name = back + 1, mark
            else:
                return False
        return part == len(parts)


class _Token(NamedTuple):
    """One character of a name as an expression, or any number of characters."""

    expression: str
    many: bool = False


def _expression(name: str) -> re.Pattern[str] | None:
    """Return the expression of one segment of a pattern, or None if nothing can match it."""
    try:
        pieces = [""]
        for token in _tokens(name):
            if token.many:
                pieces.append("")
            else:
                pieces[-1] += token.expression
        first, *middle, last = pieces if len(pieces) > 1 else [*pieces, None]
        # The first match of a piece between two stars is as good as any: no backtracking.
        between = "".join(f"(?>.*?{piece})" for piece in middle if piece)
        rest = "" if last is None else f".*{last}"
        return re.compile(rf"(?s:{first}{between}{rest})\Z")
    except (ValueError, re.error):
        return None


def _tokens(name: str) -> Iterator[_Token]:
    at = 0
    while at < len(name):
        letter = name[at]
        at += 1
        if letter == "*":
            at += len(name[at:]) - len(name[at:].lstrip("*"))
            yield _Token("", many=True)
        elif letter == "?":
            yield _Token(".")
        elif letter == "[":
            expression, at = _set(name, at)
            yield _Token(expression)
        else:
            if letter == "\\":
                letter, at = _unescape(name, at)
            yield _Token(re.escape(letter))


def _unescape(name: str, at: int) -> tuple[str, int]:
    if at == len(name):
        raise ValueError("nothing follows the backslash")
    return name[at], at + 1


def _set(name: str, at: int) -> tuple[str, int]:
    """Return the expression of a character set, and the position after it."""
    negated = name[at : at + 1] in ("!", "^")
    at += negated
    found, first = "", True
    while first or name[at : at + 1] != "]":
        first = False
        if known := _CLASS.match(name, at):
            if known[1] not in _CLASSES:
                raise ValueError("there is no such class")
            found, at = found + _CLASSES[known[1]], known.end()
            continue
        low, at = _member(name, at)
        if name[at : at + 1] == "-" and name[at + 1 : at + 2] not in ("", "]"):
            high, at = _member(name, at + 1)
            # Git takes a range backwards for its first letter.
            found += f"{re.escape(low)}-{re.escape(max(low, high))}"
        else:
            found += re.escape(low)
    return f"[{'^' if negated else ''}{found}]", at + 1


def _member(name: str, at: int) -> tuple[str, int]:
    if at >= len(name):
        raise ValueError("the set has no end")
    return _unescape(name, at + 1) if name[at] == "\\" else (name[at], at + 1)
