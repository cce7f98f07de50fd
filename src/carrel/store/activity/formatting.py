"""Formatting of long-running work as table rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.store.core.formatting import (
    Badge,
    age,
    count,
    counted,
    duration,
    one_line,
    percent,
    size,
    time_left,
)
from carrel.store.core.lists import Sort, sort_by

if TYPE_CHECKING:
    from carrel.store.activity.state import ActivityItem, ActivityState

NAMED = 5
"""Most names of lost files in words."""

KINDS = {
    "upload": "Upload",
    "download": "Download",
    "sync": "Sync",
    "ocr": "OCR",
    "processing": "Processing",
    "delete": "Delete",
    "batch": "Batch",
    "export": "Export",
}
_DOING = {
    "upload": "Uploading",
    "download": "Saving",
    "sync": "Syncing",
    "ocr": "Running OCR of",
    "processing": "Processing",
    "delete": "Deleting",
    "batch": "Running batch",
    "export": "Exporting",
}
_MANY = {
    "upload": ("upload", "uploads"),
    "download": ("download", "downloads"),
    "ocr": ("OCR run", "OCR runs"),
    "batch": ("batch job", "batch jobs"),
    "export": ("export", "exports"),
}
_BADGES = {
    "queued": Badge("○", "Queued", "waiting"),
    "running": Badge("◐", "Running", "busy"),
    "interrupted": Badge("○", "Interrupted", "waiting"),
    "done": Badge("●", "Done", "ready"),
    "failed": Badge("✕", "Failed", "failed"),
    "cancelled": Badge("○", "Stopped", "muted"),
}

_URGENCY = {"failed": 0, "interrupted": 1, "running": 2, "queued": 3}


FEW = 5
"""Largest number of items of one kind for which the status shows their joint progress."""


@dataclass(frozen=True, slots=True)
class ActivityRow:
    """One item in words. `fraction` is its progress from 0 to 1, or None if unknown.

    `took` is its duration, empty until it has ended.
    """

    id: str
    kind: str
    name: str
    status: Badge
    progress: str
    rate: str
    left: str
    when: str
    took: str
    error: str
    facts: tuple[tuple[str, str], ...]
    fraction: float | None
    running: bool
    retryable: bool
    interrupted: bool


def activity_rows(
    state: ActivityState, now: float, sort: Sort | None = None
) -> tuple[ActivityRow, ...]:
    """Return the rows: undismissed failures first, then running and waiting items, then ended ones.

    A `sort` replaces that order.
    """
    return tuple(activity_row(item, now) for item in sort_items(state, sort))


def sort_items(state: ActivityState, sort: Sort | None = None) -> list[ActivityItem]:
    """Return the items in the order of their rows."""
    # Waiting items stand in queue order.
    waits = ("queued", "interrupted")
    waiting = [item for item in reversed(state.items) if item.status in waits]
    others = [item for item in state.items if item.status not in waits]
    items = sorted((*others, *waiting), key=lambda item: _URGENCY.get(item.status, 4))
    if sort is not None:
        items = sort_by(items, ACTIVITY_ORDERS[sort.column], descending=sort.descending)
    return items


def activity_row(item: ActivityItem, now: float) -> ActivityRow:
    """Return one item in words."""
    fraction = _fraction(item)
    return ActivityRow(
        item.id,
        KINDS[item.kind],
        one_line(item.name),
        _BADGES[item.status],
        _progress(item, fraction),
        _rate(item),
        "" if (seconds := _seconds_left(item)) is None else time_left(seconds),
        age(now - item.finished) if item.finished is not None else "",
        _took(item),
        str(item.error) if item.error else "",
        tuple((name, one_line(words)) for name, words in item.facts),
        1.0 if item.status == "done" else fraction,
        item.is_under_way,
        item.retryable,
        item.status == "interrupted",
    )


def work_words(state: ActivityState) -> str:
    """Return `Deleting 12 of 300 files · Uploading 26 of 400`; empty unless several run or wait."""
    open_items = [item for item in state.items if item.is_under_way]
    if len(open_items) < 2 and not any(item.unit == "items" for item in open_items):
        return ""
    parts = []
    for kind, doing in _DOING.items():
        of_kind = [item for item in open_items if item.kind == kind]
        several = [item for item in of_kind if item.unit == "items"]
        parts += [f"{doing} {count(item.done or 0)} of {item.name}" for item in several]
        if single := [item for item in of_kind if item.unit != "items"]:
            parts.append(f"{doing} {_count_of(single, state.begun.get(kind, 0))}")
    return " · ".join(parts)


def _count_of(items: Sequence[ActivityItem], begun: int) -> str:
    """Return `26 of 400`; for a few items that began together, their joint progress: `2, 61 %`."""
    if begun > max(len(items), FEW):
        return f"{count(begun - len(items))} of {count(begun)}"
    total = sum(item.total or 0 for item in items)
    known = all(item.total for item in items)
    part = f", {percent(sum(item.done or 0 for item in items) / total)}" if known else ""
    return f"{count(len(items))}{part}"


def running_words(state: ActivityState) -> str:
    """Return the non-zero counts: `2 running · 398 waiting · 78 interrupted`."""
    statuses = Counter(item.status for item in state.items)
    counted = {
        "running": statuses["running"],
        "waiting": statuses["queued"],
        "interrupted": statuses["interrupted"],
    }
    return " · ".join(f"{count(number)} {word}" for word, number in counted.items() if number)


def left_words(state: ActivityState) -> str:
    """Return the interrupted work, `78 of 100 uploads left, 1 OCR run left`, or an empty string."""
    return count_left(Counter(item.kind for item in state.resumable), state.begun)


def lost_words(state: ActivityState) -> str:
    """Return the names of dropped files that cannot be resumed, or an empty string."""
    lost = [item.name for item in state.interrupted if not item.retryable]
    if not lost:
        return ""
    more = f" and {count(len(lost) - NAMED)} more" if len(lost) > NAMED else ""
    names = ", ".join(map(one_line, lost[:NAMED]))
    files = f"{counted(len(lost), 'file')} from a browser or from memory cannot be resumed"
    return f"{files}; upload {'it' if len(lost) == 1 else 'them'} again: {names}{more}"


def count_left(kinds: Mapping[str, int], begun_by_kind: Mapping[str, int]) -> str:
    """Return the interrupted work in words, from the numbers of items left and begun by kind."""
    parts = []
    for kind, number in kinds.items():
        begun = begun_by_kind.get(kind, 0)
        of = f" of {count(begun)}" if begun > number else ""
        one, many = _MANY[kind]
        parts.append(f"{count(number)}{of} {one if max(begun, number) == 1 else many} left")
    return ", ".join(parts)


def activity_badge(state: ActivityState) -> str:
    """Return the badge: `↑2` for running uploads and syncs, `◐1` other work, `○3` interrupted, `✕1`
    failed."""
    open_items = [item for item in state.items if item.is_under_way]
    uploads = sum(item.kind in ("upload", "sync") for item in open_items)
    failed = sum(item.status == "failed" for item in state.items)
    counts = (
        ("↑", uploads),
        ("◐", len(open_items) - uploads),
        ("○", len(state.interrupted)),
        ("✕", failed),
    )
    return " ".join(f"{mark}{count(number)}" for mark, number in counts if number)


def _progress(item: ActivityItem, fraction: float | None) -> str:
    if item.unit != "bytes":
        if item.total is None:
            return ""
        pages = " pages" if item.unit == "pages" else ""
        return f"{count(item.done or 0)} of {count(item.total)}{pages}"
    if item.status == "done":
        known = item.total if item.total is not None else item.done
        return "" if known is None else size(known)
    if fraction is None:
        return size(item.done) if item.done is not None else ""
    return percent(fraction)


def _rate(item: ActivityItem) -> str:
    if item.rate is None or item.status != "running":
        return ""
    if item.unit == "pages":
        return f"{item.rate:.1f} pages/s"
    if item.unit == "items":
        return f"{item.rate:.1f}/s"
    return f"{size(item.rate)}/s"


def _took(item: ActivityItem) -> str:
    if item.started is None or item.finished is None:
        return ""
    return duration(item.finished - item.started)


def _fraction(item: ActivityItem) -> float | None:
    return min(1.0, item.done / item.total) if item.done is not None and item.total else None


def _seconds_left(item: ActivityItem) -> float | None:
    if item.status != "running" or not item.rate or item.done is None or item.total is None:
        return None
    return (item.total - item.done) / item.rate


ACTIVITY_ORDERS: Mapping[str, Callable[[ActivityItem], Any]] = {
    "kind": lambda item: KINDS[item.kind],
    "name": lambda item: item.name.casefold(),
    "status": lambda item: _URGENCY.get(item.status, 4),
    "progress": _fraction,
    "rate": lambda item: item.rate if item.status == "running" else None,
    "left": _seconds_left,
}
"""The sort keys of an item by the column's name; None sorts last."""
