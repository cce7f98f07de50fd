"""Which files of a folder are synced: names that never are, and rules as in `.gitignore`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pathspec import GitIgnoreSpec

from carrel.sync.errors import SyncError

RULE_FILES = (".gitignore", ".carrelignore")
"""Files whose rules hold in their folder and below, the later file after the earlier."""

_HIDDEN = re.compile(r"^\.|^(thumbs\.db|desktop\.ini)$", re.IGNORECASE)
_TEMPORARY = re.compile(
    r"^~\$|~$|^#.*#$|\.(tmp|temp|part|partial|crdownload|download|opdownload|swp|swx)$",
    re.IGNORECASE,
)


def passing(name: str) -> str | None:
    """Why a file or folder of this name is never synced; None if it may be."""
    if _HIDDEN.search(name):
        return "hidden"
    return "temporary" if _TEMPORARY.search(name) else None


@dataclass(frozen=True, slots=True)
class _Layer:
    """The rules of one rule file; `lines` has the number and the text of each pattern."""

    prefix: str
    source: str
    spec: GitIgnoreSpec
    lines: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that hold in one folder. Paths are relative to the synced folder, with slashes."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    only: GitIgnoreSpec | None = None
    never: GitIgnoreSpec | None = None
    layers: tuple[_Layer, ...] = ()

    @classmethod
    def of(cls, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> Rules:
        """Only files that fit a pattern of `include`, if there are any; none that fit `exclude`.

        Raises:
            SyncError: one of them is not a pattern.
        """
        for pattern in (*include, *exclude):
            if not _is_pattern(pattern):
                raise SyncError(f"“{pattern}” is not a pattern. Write it as in .gitignore: *.pdf")
        # An empty pattern says nothing, and would shift the numbers of those after it.
        wanted, unwanted = (tuple(filter(None, each)) for each in (include, exclude))
        return cls(wanted, unwanted, _spec(wanted), _spec(unwanted))

    def below(self, folder: str, text: str, name: str) -> Rules:
        """These rules, and those of a rule file of this name in a folder, which win.

        A line that is not a pattern says nothing, as with Git.
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
        """Why a file, or a folder with all that is in it, is left out; None if it is not."""
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
    # To Git, a/** is what is in the folder; to pathspec, the folder itself, too, which then
    # could not be looked into for what !a/b takes in again.
    exact = [f"{line.rstrip()}/*" if line.rstrip().endswith("/**") else line for line in lines]
    return GitIgnoreSpec.from_lines(exact) if lines else None
