"""Selects the files of a folder to sync: by name, and by rules as in `.gitignore`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pathspec import GitIgnoreSpec

from carrel.sync.errors import SyncError

RULE_FILES = (".gitignore", ".carrelignore")
"""Rule files, which apply to their folder and below; the later overrides the earlier."""

_HIDDEN = re.compile(r"^\.|^(thumbs\.db|desktop\.ini)$", re.IGNORECASE)
_TEMPORARY = re.compile(
    r"^~\$|~$|^#.*#$|\.(tmp|temp|part|partial|crdownload|download|opdownload|swp|swx)$",
    re.IGNORECASE,
)


def passing(name: str) -> str | None:
    """The reason a file or folder of this name is never synced; None if it may be."""
    if _HIDDEN.search(name):
        return "hidden"
    return "temporary" if _TEMPORARY.search(name) else None


@dataclass(frozen=True, slots=True)
class _Layer:
    """The rules of one rule file; `lines` holds the number and text of each pattern."""

    prefix: str
    source: str
    spec: GitIgnoreSpec
    lines: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules in force for one folder. Paths are relative to the synced folder, with slashes."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    only: GitIgnoreSpec | None = None
    never: GitIgnoreSpec | None = None
    layers: tuple[_Layer, ...] = ()

    @classmethod
    def of(cls, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> Rules:
        """Rules from patterns: files that match `include`, if it has any, and none that match
        `exclude`.

        Raises:
            SyncError: one of them is not a pattern.
        """
        for pattern in (*include, *exclude):
            if not _is_pattern(pattern):
                raise SyncError(f"“{pattern}” is not a pattern. Write it as in .gitignore: *.pdf")
        # An empty pattern matches nothing and would shift the numbers of those after it.
        wanted, unwanted = (tuple(filter(None, each)) for each in (include, exclude))
        return cls(wanted, unwanted, _spec(wanted), _spec(unwanted))

    def below(self, folder: str, text: str, name: str) -> Rules:
        """These rules, overridden by those of a folder's rule file.

        A line that is not a pattern is ignored, as in Git.
        """
        numbered = enumerate(text.splitlines(), 1)
        lines = tuple((number, line) for number, line in numbered if line and _is_pattern(line))
        spec = _spec([line for _, line in lines])
        if spec is None:
            return self
        prefix = f"{folder}/" if folder else ""
        layer = _Layer(prefix, f"{prefix}{name}", spec, lines)
        return replace(self, layers=(layer, *self.layers))

    def reason(self, path: str, *, folder: bool = False) -> str | None:
        """The reason a file, or a folder with its contents, is left out; None if it is not."""
        asked = f"{path}/" if folder else path
        if self.never is not None:
            verdict = self.never.check_file(asked)
            if verdict.include:
                return f"excluded by “{self.exclude[verdict.index or 0]}”"
        if self.only is not None and not folder and not self.only.match_file(asked):
            return "no include pattern fits"
        for layer in self.layers:
            verdict = layer.spec.check_file(asked.removeprefix(layer.prefix))
            if verdict.include is not None:
                if not verdict.include:
                    return None
                number, line = layer.lines[verdict.index or 0]
                return f"{layer.source}, line {number}: {line.strip()}"
        return None


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _spec(lines: Sequence[str]) -> GitIgnoreSpec | None:
    # In Git, a/** matches the contents of the folder; in pathspec, the folder itself too, which
    # would hide files that !a/b includes again.
    exact = [f"{line.rstrip()}/*" if line.rstrip().endswith("/**") else line for line in lines]
    return GitIgnoreSpec.from_lines(exact) if lines else None
