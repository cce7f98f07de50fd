"""Entries of the journal and their lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from carrel.store.core.problem import Problem

UPLOAD_FILE, UPLOAD_DOCUMENT = "upload a file", "upload a document"
"""Names of the tasks that upload a local file, and one into a library."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A piece of work that runs, waits or has failed.

    `task` names the action that repeats it, with `needs` as its JSON arguments; without a task it
    cannot be repeated. Its bytes may have moved already, so the action looks first for its own
    result. `error` is the reason for a failure.
    """

    id: str
    kind: str
    name: str
    unit: str = "bytes"
    total: int | None = None
    subject: str | None = None
    task: str = ""
    needs: Mapping[str, Any] = field(default_factory=dict)
    error: Problem | None = None

    @property
    def path(self) -> str:
        """The file or folder on this machine that is sent or written; empty if there is none."""
        return str(self.needs.get("path") or self.needs.get("to") or "")

    def is_like(self, other: Entry) -> bool:
        """Whether both do the same; a file without a path is known by its name and size."""
        same = (self.task, {**self.needs}) == (other.task, {**other.needs})
        return same and (bool(self.task) or (self.kind, self.name) == (other.kind, other.name))


@dataclass(frozen=True, slots=True)
class Left:
    """The open entries of ended processes, and the number of entries begun by kind."""

    entries: tuple[Entry, ...] = ()
    begun: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Left) -> Left:
        kinds = {**self.begun, **other.begun}
        begun = {kind: self.begun.get(kind, 0) + other.begun.get(kind, 0) for kind in kinds}
        return Left((*self.entries, *other.entries), begun)


def add_line(entry: Entry, instead: str | None = None) -> str:
    """Return the line that adds an entry, replacing the entry with the id `instead`."""
    fields = {name: value for name, value in asdict(entry).items() if value not in (None, "", {})}
    return _line({"add": fields, **({"instead": instead} if instead else {})})


def fail_line(entry_id: str, error: Problem) -> str:
    """Return the line that marks an entry as failed."""
    return _line({"fail": entry_id, "error": asdict(error)})


def end_line(entry_id: str) -> str:
    """Return the line that closes an entry."""
    return _line({"end": entry_id})


def read_lines(lines: Iterable[str]) -> Left:
    """Return the open entries. Truncated lines, and lines of another version, are skipped."""
    entries: dict[str, Entry] = {}
    begun: dict[str, int] = {}
    for line in lines:
        try:
            _apply(json.loads(line), entries, begun)
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
    return Left(tuple(entries.values()), begun)


def _apply(line: Mapping[str, Any], entries: dict[str, Entry], begun: dict[str, int]) -> None:
    if "add" in line:
        entry = _entry(line["add"])
        replaced = entries.pop(line.get("instead", ""), None)
        entries[entry.id] = entry
        begun[entry.kind] = begun.get(entry.kind, 0) + (replaced is None)
    elif "fail" in line:
        error = Problem(**line["error"])
        entries[line["fail"]] = replace(entries[line["fail"]], error=error)
    elif "end" in line:
        entries.pop(line["end"], None)


def _entry(fields: Mapping[str, Any]) -> Entry:
    error = fields.get("error")
    return Entry(**{**fields, "error": Problem(**error) if error else None})


def _line(content: Mapping[str, Any]) -> str:
    # Line break first: a truncated line spoils only itself.
    return "\n" + json.dumps(content, ensure_ascii=False)
