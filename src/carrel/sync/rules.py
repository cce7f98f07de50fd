"""Which files of a folder are synced: names that never are, and rules as in `.gitignore`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

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
        """Only files that fit a pattern of `include`, if there are any; none that fit `exclude`."""
        return cls(_spec(include), _spec(exclude))

    def below(self, folder: str, lines: Sequence[str]) -> Rules:
        """These rules, and those of a folder's own rule files, which win."""
        spec = _spec(lines)
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


def _spec(lines: Sequence[str]) -> GitIgnoreSpec | None:
    return GitIgnoreSpec.from_lines(lines) if lines else None
