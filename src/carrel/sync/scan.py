"""What lies in a folder now: names, sizes and times, without reading any file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from carrel.sync.errors import SyncError
from carrel.sync.rules import RULE_FILES, Rules, passing


@dataclass(frozen=True, slots=True)
class Stat:
    """A file's size in bytes and the time of its last change in nanoseconds."""

    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Scan:
    """The files to sync by their path below the folder, with slashes.

    `problems` says of each path why it cannot be looked at; what is below it is unknown.
    """

    files: Mapping[str, Stat] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)

    def unknown(self, path: str) -> bool:
        """Whether nothing can be said of a path: it may be there or not."""
        return any(path == each or path.startswith(f"{each}/") for each in self.problems)


def scan(folder: Path, rules: Rules) -> Scan:
    """Looks at the whole folder; blocking.

    Links are not followed: what they point to is elsewhere, or is found where it lies. Empty
    files hold nothing to find and are left out.

    Raises:
        SyncError: the folder itself cannot be read.
    """
    files: dict[str, Stat] = {}
    problems: dict[str, str] = {}
    waiting = [("", rules)]
    while waiting:
        prefix, rules = waiting.pop()
        try:
            with os.scandir(folder / prefix) as listing:
                entries = list(listing)
            rules = rules.below(prefix, _own_rules(entries))
        except OSError as error:
            if not prefix:
                raise SyncError(f"{folder} cannot be read: {error.strerror}.") from None
            problems[prefix] = f"This folder cannot be read: {error.strerror}."
            continue
        for entry in entries:
            path = f"{prefix}/{entry.name}" if prefix else entry.name
            if passing(entry.name):
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    if not rules.leave_out(path, folder=True):
                        waiting.append((path, rules))
                elif entry.is_file(follow_symlinks=False) and not rules.leave_out(path):
                    stat = entry.stat(follow_symlinks=False)
                    if not _encodable(path):
                        problems[path] = "Its name is not UTF-8. Rename it."
                    elif stat.st_size:
                        files[path] = Stat(stat.st_size, stat.st_mtime_ns)
            except FileNotFoundError:
                continue  # it went while we looked
            except OSError as error:
                problems[path] = f"It cannot be looked at: {error.strerror}."
    return Scan(files, problems)


def _own_rules(entries: list[os.DirEntry[str]]) -> list[str]:
    rule_files = (entry for entry in entries if entry.name in RULE_FILES and entry.is_file())
    found = {entry.name: entry.path for entry in rule_files}
    lines: list[str] = []
    for name in RULE_FILES:
        if name in found:
            lines += Path(found[name]).read_text("utf-8", "replace").splitlines()
    return lines


def _encodable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
