"""Selection of a folder's files to sync: by name, and by rules as in `.gitignore`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from carrel.sync.errors import SyncError
from carrel.sync.gitignore import Pattern

RULE_FILES = (".gitignore", ".carrelignore")
"""Rule files, each for its folder and below; a later one overrides an earlier."""

_HIDDEN = re.compile(r"^\.|^(thumbs\.db|desktop\.ini)$", re.IGNORECASE)
_TEMPORARY = re.compile(
    r"^~\$|~$|^#.*#$|\.(tmp|temp|part|partial|crdownload|download|opdownload|swp|swx)$",
    re.IGNORECASE,
)


def exclusion_reason(name: str) -> str | None:
    """Return the reason a file or folder of this name is never synced; None if it may be."""
    if _HIDDEN.search(name):
        return "hidden"
    return "temporary" if _TEMPORARY.search(name) else None


@dataclass(frozen=True, slots=True)
class _Layer:
    """The rules of one rule file; `lines` holds the number, the text and the pattern of each."""

    prefix: str
    source: str
    lines: tuple[tuple[int, str, Pattern], ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that apply to one folder. Paths are relative to the synced folder, with slashes."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    only: tuple[Pattern, ...] = ()
    never: tuple[Pattern, ...] = ()
    layers: tuple[_Layer, ...] = ()

    @classmethod
    def of(cls, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> Rules:
        """Make rules that select files matching `include`, if not empty, and not matching
        `exclude`.

        Raises:
            SyncError: a pattern is invalid.
        """
        # An empty pattern matches nothing and would shift the numbers of later patterns.
        wanted, unwanted = (tuple(filter(None, each)) for each in (include, exclude))
        return cls(wanted, unwanted, _patterns(wanted), _patterns(unwanted))

    def below(self, folder: str, text: str, name: str) -> Rules:
        """Return these rules, overridden by the rule file of a folder.

        An invalid line is ignored, as in Git.
        """
        lines = tuple(
            (number, line, pattern)
            for number, line in enumerate(text.splitlines(), 1)
            if (pattern := Pattern.parse(line)) is not None
        )
        if not lines:
            return self
        prefix = f"{folder}/" if folder else ""
        layer = _Layer(prefix, f"{prefix}{name}", lines)
        return replace(self, layers=(layer, *self.layers))

    def reason(self, path: str, *, folder: bool = False) -> str | None:
        """Return the reason a file, or a folder with its contents, is left out; None if it is not.

        No folder above it may be left out.
        """
        for number, pattern in _enumerate_backwards(self.never):
            if pattern.matches(path, folder=folder):
                if pattern.includes:
                    break
                return f"excluded by “{self.exclude[number]}”"
        if self.only and not folder and not self._is_wanted(path):
            return "no include pattern fits"
        for layer in self.layers:
            inside = path.removeprefix(layer.prefix)
            for number, line, pattern in reversed(layer.lines):
                if pattern.matches(inside, folder=folder):
                    if pattern.includes:
                        return None
                    return f"{layer.source}, line {number}: {line.strip()}"
        return None

    def _is_wanted(self, path: str) -> bool:
        for _, pattern in _enumerate_backwards(self.only):
            if pattern.matches_above(path):
                return not pattern.includes
        return False


def _enumerate_backwards(patterns: tuple[Pattern, ...]) -> list[tuple[int, Pattern]]:
    return list(enumerate(patterns))[::-1]


def _patterns(lines: Sequence[str]) -> tuple[Pattern, ...]:
    patterns = []
    for line in lines:
        pattern = Pattern.parse(line)
        if pattern is None:
            raise SyncError(f"“{line}” is not a pattern. Write it as in .gitignore: *.pdf")
        patterns.append(pattern)
    return tuple(patterns)
