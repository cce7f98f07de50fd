"""Formatting of folder syncs as sentences and rows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.store.core.formatting import Badge, age, clock, count, counted, one_line, size

if TYPE_CHECKING:
    from carrel.store.sync.state import FolderState, SyncState
    from carrel.sync.progress import Preview, Summary, SyncProgress

TOGETHER = 5
"""Number of ignored files with the same reason that get a row each; more share one."""


_QUOTED = re.compile(r"[\s'\"\\]")


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One action of a sync.

    `action` is `Delete`, `Upload`, `Update`, `Rename`, `Keep` (only in the library), `Skip` (cannot
    be synced) or `Ignore` (excluded). The path of a folder ends with a slash.
    """

    action: str
    path: str
    note: str


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A synced folder: its path, its status and further notes.

    `percent` is the progress of its sync, if known.
    """

    id: int
    name: str
    status: Badge
    notes: tuple[str, ...]
    percent: int | None
    running: bool
    interrupted: bool = False


def pattern_words(patterns: Iterable[str]) -> str:
    """Return patterns as one line of input; a pattern with a blank is quoted."""
    return " ".join(shlex.quote(one) if _QUOTED.search(one) else one for one in patterns)


def patterns_in(text: str) -> tuple[str, ...]:
    """Parse the patterns of a line."""
    try:
        return tuple(shlex.split(text))
    except ValueError:  # an unclosed quote
        return tuple(text.split())


def folder_rows(state: SyncState, library_id: str | None, now: float) -> tuple[FolderRow, ...]:
    """Return the folders synced with a library."""
    return tuple(
        FolderRow(
            folder.id,
            folder_name(folder.path),
            _status(folder, now),
            _notes(folder, now),
            _percent(folder.progress),
            folder.running,
            folder.reached is not None and not folder.running,
        )
        for folder in state.of(library_id)
    )


def folder_name(path: Path) -> str:
    """Return `~/contracts`."""
    try:
        return one_line(f"~/{path.relative_to(Path.home()).as_posix()}")
    except (ValueError, RuntimeError):
        return one_line(str(path))


def plan_rows(preview: Preview, *, grouped: bool = True) -> tuple[PlanRow, ...]:
    """Return the planned actions: deletions first, ignored files last.

    If `grouped`, many files ignored for one reason share a row.
    """
    plan = preview.plan
    rows = [PlanRow("Delete", each.path, _exclusion_words(each.reason)) for each in plan.deletions]
    rows += [
        PlanRow(
            "Update" if upload.updates else "Upload",
            upload.path,
            _upload_words(upload.path, preview),
        )
        for upload in plan.uploads
    ]
    rows += [PlanRow("Rename", each.new, f"was {one_line(each.old)}") for each in plan.renames]
    rows += [PlanRow("Keep", path, _exclusion_words(None)) for path in plan.kept]
    rows += [PlanRow("Keep", path, _exclusion_words(reason)) for path, reason in plan.left_out]
    rows += [PlanRow("Skip", each.path, each.reason) for each in preview.failures]
    paths: dict[str, list[str]] = {}
    listed = {row.path for row in rows}
    for path, reason in sorted(preview.left_out.items()):
        if path not in listed:
            paths.setdefault(reason, []).append(path)
    for reason, some in paths.items():
        if grouped and len(some) > TOGETHER:
            rows.append(PlanRow("Ignore", f"{some[0]} and {count(len(some) - 1)} more", reason))
        else:
            rows += [PlanRow("Ignore", path, reason) for path in some]
    return tuple(rows)


def confirm_words(preview: Preview) -> str | None:
    """Return the question before a sync that deletes more than its limit, or None."""
    plan = preview.plan
    if not plan.excessive:
        return None
    return (
        f"Delete {count(len(plan.deletions))} of the {count(plan.brought)} documents "
        "that this folder brought?"
    )


def preview_words(preview: Preview) -> str:
    """Return `12 to upload (3.4 MB), 2 there already` or `Nothing to do: 12 files in sync`."""
    plan = preview.plan
    updates = sum(upload.updates for upload in plan.uploads)
    total = f" ({size(preview.bytes)})"
    parts = [
        _count_if_any(len(plan.deletions), "to delete"),
        _count_if_any(len(plan.uploads) - updates, "to upload" + ("" if updates else total)),
        _count_if_any(updates, "to update" + total),
        _count_if_any(len(plan.renames), "to rename"),
        _count_if_any(len(preview.present), "there already"),
    ]
    words = ", ".join(part for part in parts if part)
    words = words or f"Nothing to do: {counted(preview.files, 'file')} in sync"
    words += _stay_words(len(plan.kept), len(plan.left_out))
    if preview.failures:
        words += f"; {count(len(preview.failures))} cannot be synced"
    if preview.left_out:
        words += f"; {count(len(preview.left_out))} left out"
    return words


def progress_words(progress: SyncProgress) -> str:
    """Return `Looking at 12 of 500 files`, `12 of 500 files · 34 %`."""
    if progress.phase == "looking":
        if not progress.of_files:
            return "Looking at the folder"
        return f"Looking at {count(progress.files)} of {counted(progress.of_files, 'file')}"
    words = f"{count(progress.files)} of {counted(progress.of_files, 'file')}"
    if progress.of_bytes:
        words += f" · {100 * progress.bytes // progress.of_bytes} %"
    return words


def transfer_words(progress: SyncProgress) -> tuple[tuple[str, str], ...]:
    """Return the files in transfer with their progress: `45 %`."""
    return tuple(
        (one_line(each.path), f"{100 * each.sent // max(1, each.size)} %")
        for each in progress.transfers
    )


def summary_words(summary: Summary) -> str:
    """Return `3 uploaded, 1 renamed; 2 failed` or `12 files in sync`."""
    parts = [
        _count_if_any(summary.uploaded, "uploaded"),
        _count_if_any(summary.updated, "updated"),
        _count_if_any(summary.renamed, "renamed"),
        _count_if_any(summary.deleted, "deleted"),
        _count_if_any(summary.found, "there already"),
    ]
    words = ", ".join(part for part in parts if part)
    if not words and not summary.failures:
        words = f"{counted(summary.files, 'file')} in sync"
    if summary.failures:
        words += f"{'; ' if words else ''}{count(len(summary.failures))} failed"
    words += _stay_words(summary.kept, summary.left_out)
    if summary.held:
        words += f"; {held_words(summary)}: sync without watching to confirm"
    return words


def interrupted_words(reached: tuple[int, int]) -> str:
    """Return `Interrupted at 303 of 2,000`."""
    if not reached[1]:
        return "Interrupted while comparing"
    return f"Interrupted at {count(reached[0])} of {count(reached[1])}"


def unfinished_words(state: SyncState) -> tuple[str, ...]:
    """Return `Interrupted at 303 of 2,000: ~/contracts`, `Was watched: ~/notes`."""
    # The path last: a long one is cut.
    return tuple(
        f"{interrupted_words(each.reached) if each.reached else 'Was watched'}: "
        f"{folder_name(each.path)}"
        for each in state.unfinished
    )


def held_words(summary: Summary) -> str:
    """Return `12 deletions held back`: more than a sync makes without confirmation."""
    return f"{counted(summary.held, 'deletion')} held back"


def _status(folder: FolderState, now: float) -> Badge:
    preview, summary = folder.preview, folder.summary
    if folder.progress is not None:
        return Badge("◐", progress_words(folder.progress), "busy")
    if folder.problem is not None:
        return Badge("✕", folder.problem.title, "failed")
    if folder.reached is not None and not folder.watching:
        return Badge("○", interrupted_words(folder.reached), "waiting")
    # A preview is newer than the summary: a sync removes it.
    if preview is not None and (preview.plan or preview.plan.kept or preview.failures):
        return Badge("○", preview_words(preview), "waiting")
    if preview is None and summary is not None and summary.failures:
        return Badge("✕", f"{counted(len(summary.failures), 'file')} failed", "failed")
    if preview is None and summary is not None and summary.held:
        return Badge("○", held_words(summary), "waiting")
    if preview is None and summary is not None and summary.kept:
        return Badge("○", summary_words(summary), "waiting")
    if folder.watching:
        return Badge("●", "In sync, watching", "ready")
    if folder.compared_at is None:
        return Badge("○", "Not compared yet", "muted")
    return Badge("○", f"Matched at {clock(folder.compared_at, now)} · not watching", "muted")


def _notes(folder: FolderState, now: float) -> tuple[str, ...]:
    notes = []
    if folder.progress is not None:
        notes += [f"{path} {part}" for path, part in transfer_words(folder.progress)]
    elif folder.problem is not None:
        notes.append(one_line(folder.problem.detail))
    elif folder.summary is not None:
        notes += [f"{one_line(each.path)}: {each.reason}" for each in folder.summary.failures]
        if folder.summary.held:
            notes.append("Sync without watching to confirm.")
    if not notes and folder.synced_at is not None:
        notes.append(f"synced {age(now - folder.synced_at)}")
    return tuple(notes)


def _percent(progress: SyncProgress | None) -> int | None:
    if progress is None or not progress.of_bytes:
        return None
    return 100 * progress.bytes // progress.of_bytes


def _count_if_any(number: int, what: str) -> str:
    return f"{count(number)} {what}" if number else ""


def _stay_words(kept: int, left_out: int) -> str:
    words = ""
    for number, why in ((kept, "deleted"), (left_out, "left out")):
        if number:
            stay = "stays" if number == 1 else "stay"
            words += f"; {counted(number, 'file')} {why} here {stay} in the library"
    return words


def _upload_words(path: str, preview: Preview) -> str:
    another = " · another document of this name stays" if path in preview.beside else ""
    return size(preview.sizes[path]) + another


def _exclusion_words(reason: str | None) -> str:
    return "deleted in the folder" if reason is None else f"left out: {one_line(reason)}"
