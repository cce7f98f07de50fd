"""Scan of a folder's names, sizes and times without reading any file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from carrel.client.http.sending import megabytes
from carrel.sync.errors import SyncError
from carrel.sync.rules import RULE_FILES, Rules, exclusion_reason


@dataclass(frozen=True, slots=True)
class Stat:
    """A file's size in bytes, and the times of its last changes in nanoseconds.

    `ctime_ns` reveals new content even if the writer restored `mtime_ns`.
    """

    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, stat: os.stat_result) -> Stat:
        return cls(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


@dataclass(frozen=True, slots=True)
class Scan:
    """The files to sync by relative path, with slashes.

    `left_out` maps each other path to the reason; a folder's path ends with a slash and stands for
    everything below. `problems` maps unreadable paths to reasons; everything below them is unknown.
    """

    files: Mapping[str, Stat] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, Rules] = field(default_factory=dict)
    """The rules that apply to each scanned folder."""

    def reason(self, path: str) -> str | None:
        """Return the reason a file of this path is left out, whether it exists or not; None if it
        is not.
        """
        *folders, _ = above = parts_of(path)
        for each in (*(f"{folder}/" for folder in folders), *above):
            if each in self.left_out:
                return self.left_out[each]
        rules = self.rules.get("", Rules())
        for each in above:
            reason = exclusion_reason(each.rpartition("/")[2]) or rules.reason(
                each, folder=each != path
            )
            if reason:
                return reason
            rules = self.rules.get(each, rules)
        return None

    def refuse_above(self, limit: int) -> Scan:
        """Return the scan with files above `limit` bytes as problems."""
        large = {
            path: f"It has {megabytes(stat.size)}; the service takes {megabytes(limit)} at most."
            for path, stat in self.files.items()
            if stat.size > limit
        }
        files = {path: stat for path, stat in self.files.items() if path not in large}
        return replace(self, files=files, problems={**self.problems, **large})


def scan(folder: Path, rules: Rules) -> Scan:
    """Scan the whole folder; blocks.

    Links are not followed. Empty files are left out, because they have no text to search.

    Raises:
        SyncError: the folder itself cannot be read.
    """
    files: dict[str, Stat] = {}
    left_out: dict[str, str] = {}
    problems: dict[str, str] = {}
    ruled: dict[str, Rules] = {}
    waiting = [("", rules)]
    while waiting:
        prefix, rules = waiting.pop()
        try:
            with os.scandir(folder / prefix) as listing:
                entries = list(listing)
            rules = _add_rules(rules, prefix, entries)
        except OSError as error:
            if not prefix:
                raise SyncError(f"{folder} cannot be read: {error.strerror}.") from error
            problems[prefix] = f"This folder cannot be read: {error.strerror}."
            continue
        ruled[prefix] = rules
        for entry in entries:
            path = f"{prefix}/{entry.name}" if prefix else entry.name
            try:
                inside = entry.is_dir(follow_symlinks=False)
                if reason := _reason(entry, path, rules):
                    left_out[f"{path}/" if inside else path] = reason
                elif inside:
                    waiting.append((path, rules))
                else:
                    stat = Stat.of(entry.stat(follow_symlinks=False))
                    if not stat.size:
                        left_out[path] = "empty"
                    elif not _is_encodable(path):
                        problems[path] = "Its name is not UTF-8. Rename it."
                    else:
                        files[path] = stat
            except FileNotFoundError:
                continue  # deleted during the scan
            except OSError as error:
                problems[path] = f"It cannot be looked at: {error.strerror}."
    return Scan(files, left_out, problems, ruled)


def _reason(entry: os.DirEntry[str], path: str, rules: Rules) -> str | None:
    """Return the reason a file or folder is left out, judged by its name and kind."""
    if reason := exclusion_reason(entry.name):
        return reason
    if entry.is_symlink():
        return "a link"
    if entry.is_dir(follow_symlinks=False):
        return rules.reason(path, folder=True)
    return rules.reason(path) if entry.is_file(follow_symlinks=False) else "not a regular file"


def _add_rules(rules: Rules, prefix: str, entries: list[os.DirEntry[str]]) -> Rules:
    found = {entry.name: entry.path for entry in entries if entry.name in RULE_FILES}
    for name in RULE_FILES:
        if name in found and Path(found[name]).is_file():
            text = Path(found[name]).read_text("utf-8", "replace")
            rules = rules.below(prefix, text, name)
    return rules


def _is_encodable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def parts_of(path: str) -> list[str]:
    """Return the parents of a path and the path, topmost first: `a`, `a/b`, `a/b/c`."""
    parts = path.split("/")
    return ["/".join(parts[:number]) for number in range(1, len(parts) + 1)]
