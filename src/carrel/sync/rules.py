"""Which files of a folder are synced: names that never are, and rules as in `.gitignore`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

from carrel.sync.errors import SyncError

RULE_FILES = (".gitignore", ".carrelignore")
"""Files whose rules hold in their folder and below, the later file after the earlier."""

_NEVER = re.compile(
    r"^\.|^~\$|~$|^#.*#$|^(thumbs\.db|desktop\.ini)$"
    r"|\.(tmp|temp|part|partial|crdownload|download|opdownload|swp|swx)$",
    re.IGNORECASE,
)


def passing(name: str) -> bool:
    """Whether a file or folder of this name is hidden, or of the kind that soon goes again."""
    return _NEVER.search(name) is not None


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that hold in one folder. Paths are relative to the synced folder, with slashes."""

    only: GitIgnoreSpec | None = None
    never: GitIgnoreSpec | None = None
    layers: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    @classmethod
    def of(cls, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> Rules:
        """Only files that fit a pattern of `include`, if there are any; none that fit `exclude`.

        Raises:
            SyncError: one of them is no pattern.
        """
        for pattern in (*include, *exclude):
            if not _is_pattern(pattern):
                raise SyncError(f"“{pattern}” is no pattern. Write it as in .gitignore: *.pdf")
        return cls(_spec(include), _spec(exclude))

    def below(self, folder: str, lines: Sequence[str]) -> Rules:
        """These rules, and those of a folder's own rule files, which win.

        A line that is no pattern says nothing, as with Git.
        """
        spec = _spec([line for line in lines if _is_pattern(line)])
        if spec is None:
            return self
        prefix = f"{folder}/" if folder else ""
        return Rules(self.only, self.never, ((prefix, spec), *self.layers))

    def leave_out(self, path: str, *, folder: bool = False) -> bool:
        """Whether a file, or a folder with all that is in it, is left out."""
        asked = f"{path}/" if folder else path
        if self.never is not None and self.never.match_file(asked):
            return True
        if self.only is not None and not folder and not self.only.match_file(asked):
            return True
        for prefix, spec in self.layers:
            verdict = spec.check_file(asked.removeprefix(prefix)).include
            if verdict is not None:
                return verdict
        return False


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _spec(lines: Sequence[str]) -> GitIgnoreSpec | None:
    return GitIgnoreSpec.from_lines(lines) if lines else None
