"""Syncing a folder, in words and rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.store.selectors.words import Badge, age, count, one_line, size

if TYPE_CHECKING:
    from carrel.store.sync import FolderState, SyncState
    from carrel.sync.progress import Preview, Progress, Summary


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One thing a sync would do: `Upload`, `Update`, `Rename`, `Delete`, `Keep` or `Skip`."""

    action: str
    path: str
    note: str


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A synced folder: where it is, how it stands, and what else there is to say of that.

    `percent` is how far its sync is, where that is known.
    """

    id: int
    name: str
    status: Badge
    notes: tuple[str, ...]
    percent: int | None
    running: bool


def folder_rows(state: SyncState, library_id: str | None, now: float) -> tuple[FolderRow, ...]:
    """The folders synced with a library."""
    return tuple(
        FolderRow(
            folder.id,
            folder_name(folder.path),
            _status(folder),
            _notes(folder, now),
            _percent(folder.progress),
            folder.running,
        )
        for folder in state.of(library_id)
    )


def folder_name(path: Path) -> str:
    """`~/contracts`."""
    try:
        return one_line(f"~/{path.relative_to(Path.home()).as_posix()}")
    except (ValueError, RuntimeError):
        return one_line(str(path))


def change_rows(preview: Preview) -> tuple[ChangeRow, ...]:
    """What a sync would do, a row a document."""
    plan = preview.plan
    rows = [
        ChangeRow(
            "Update" if upload.updates else "Upload",
            upload.path,
            size(preview.sizes[upload.path]),
        )
        for upload in plan.uploads
    ]
    rows += [ChangeRow("Rename", each.new, f"was {one_line(each.old)}") for each in plan.renames]
    rows += [ChangeRow("Delete", each.path, "deleted in the folder") for each in plan.deletions]
    rows += [ChangeRow("Keep", path, "deleted in the folder") for path in plan.kept]
    rows += [ChangeRow("Skip", each.path, each.reason) for each in preview.failures]
    return tuple(rows)


def preview_words(preview: Preview) -> str:
    """`12 to upload (3.4 MB), 2 there already` or `Nothing to do: 12 files in sync`."""
    plan = preview.plan
    updates = sum(upload.updates for upload in plan.uploads)
    total = f" ({size(preview.bytes)})"
    parts = [
        _counted(len(plan.uploads) - updates, "to upload" + ("" if updates else total)),
        _counted(updates, "to update" + total),
        _counted(len(plan.renames), "to rename"),
        _counted(len(plan.deletions), "to delete"),
        _counted(len(preview.present), "there already"),
    ]
    words = ", ".join(part for part in parts if part)
    words = words or f"Nothing to do: {files(preview.files)} in sync"
    if plan.kept:
        words += f"; {files(len(plan.kept))} deleted here {_stay(len(plan.kept))} in the library"
    if preview.failures:
        words += f"; {count(len(preview.failures))} cannot be read"
    return words


def progress_words(progress: Progress) -> str:
    """`Looking at 12 of 500 files`, `12 of 500 files · 34 %`."""
    if progress.phase == "looking":
        if not progress.of_files:
            return "Looking at the folder"
        return f"Looking at {count(progress.files)} of {files(progress.of_files)}"
    words = f"{count(progress.files)} of {files(progress.of_files)}"
    if progress.of_bytes:
        words += f" · {100 * progress.bytes // progress.of_bytes} %"
    return words


def transfer_words(progress: Progress) -> tuple[tuple[str, str], ...]:
    """The files on their way, each with how far it is: `45 %`."""
    return tuple(
        (one_line(each.path), f"{100 * each.sent // max(1, each.size)} %")
        for each in progress.transfers
    )


def summary_words(summary: Summary) -> str:
    """`3 uploaded, 1 renamed; 2 failed` or `12 files in sync`."""
    parts = [
        _counted(summary.uploaded, "uploaded"),
        _counted(summary.updated, "updated"),
        _counted(summary.renamed, "renamed"),
        _counted(summary.deleted, "deleted"),
        _counted(summary.found, "there already"),
    ]
    words = ", ".join(part for part in parts if part)
    if not words and not summary.failures:
        words = f"{files(summary.files)} in sync"
    if summary.failures:
        words += f"{'; ' if words else ''}{count(len(summary.failures))} failed"
    if summary.kept:
        words += f"; {files(summary.kept)} deleted here {_stay(summary.kept)} in the library"
    return words


def files(number: int) -> str:
    """`1 file`, `1,204 files`."""
    return f"{count(number)} file{'' if number == 1 else 's'}"


def _status(folder: FolderState) -> Badge:
    waiting = folder.preview is not None and bool(folder.preview.plan)
    if folder.progress is not None:
        return Badge("◐", progress_words(folder.progress), "busy")
    if folder.problem is not None:
        return Badge("✕", folder.problem.title, "failed")
    if folder.summary is not None and folder.summary.failures:
        return Badge("✕", f"{files(len(folder.summary.failures))} failed", "failed")
    if folder.preview is not None and waiting:
        return Badge("○", preview_words(folder.preview), "waiting")
    if folder.watching:
        return Badge("●", "In sync, watching", "ready")
    if folder.summary is not None or folder.preview is not None:
        return Badge("●", "In sync", "ready")
    return Badge("○", "Not looked at yet", "muted")


def _notes(folder: FolderState, now: float) -> tuple[str, ...]:
    notes = []
    if folder.progress is not None:
        notes += [f"{path} {part}" for path, part in transfer_words(folder.progress)]
    elif folder.problem is not None:
        notes.append(one_line(folder.problem.detail))
    elif folder.summary is not None:
        notes += [f"{one_line(each.path)}: {each.reason}" for each in folder.summary.failures]
    if not notes and folder.synced_at is not None:
        notes.append(f"synced {age(now - folder.synced_at)}")
    return tuple(notes)


def _percent(progress: Progress | None) -> int | None:
    if progress is None or not progress.of_bytes:
        return None
    return 100 * progress.bytes // progress.of_bytes


def _counted(number: int, what: str) -> str:
    return f"{count(number)} {what}" if number else ""


def _stay(number: int) -> str:
    return "stays" if number == 1 else "stay"
