"""What is under way, as the panels' progress rows."""

from typing import Any

from carrel.store.activity import ActivityState, Kind
from carrel.store.selectors.activity import activity_rows


def progress_rows(state: ActivityState, kind: Kind, now: float) -> list[dict[str, Any]]:
    """The items of a kind that run or wait, in the words both faces show."""
    running = {item.id for item in state.items if item.kind == kind and not item.ended}
    return [
        {
            "id": row.id,
            "name": row.name,
            "words": " · ".join(part for part in (row.progress, row.rate, row.left) if part),
            "percent": None if row.fraction is None else round(100 * row.fraction),
            "running": True,
        }
        for row in activity_rows(state, now)
        if row.id in running
    ]
