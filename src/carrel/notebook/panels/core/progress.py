"""Progress rows of running work in panels."""

from typing import Any

from carrel.store.activity.formatting import activity_rows
from carrel.store.activity.service import ActivityService
from carrel.store.activity.state import ActivityKind, ActivityState
from carrel.store.core.formatting import count

SHOWN = 8
"""Most rows."""


MORE = "more"
"""Id of the row for the remaining items."""


def cancel(activity: ActivityService, kind: ActivityKind, id: str) -> None:
    """Cancel one item; the row of the remaining items cancels all of its kind."""
    ids = [id]
    if id == MORE:
        items = activity.slice.value.items
        ids = [item.id for item in items if item.kind == kind and item.is_under_way]
    for one in ids:
        activity.cancel(one)


def progress_rows(state: ActivityState, kind: ActivityKind, now: float) -> list[dict[str, Any]]:
    """Return the first running and waiting items of a kind, in the words of both faces."""
    running = {item.id for item in state.items if item.kind == kind and item.is_under_way}
    rows = [
        {
            "id": row.id,
            "name": row.name,
            "words": " · ".join(part for part in (row.progress, row.rate, row.left) if part),
            "percent": None if row.fraction is None else int(100 * row.fraction),
            "running": True,
        }
        for row in activity_rows(state, now)
        if row.id in running
    ]
    if len(rows) <= SHOWN:
        return rows
    more = f"and {count(len(rows) - SHOWN)} more"
    return [
        *rows[:SHOWN],
        {"id": MORE, "name": more, "words": "", "percent": None, "running": False},
    ]
