"""Formatting of the trash and of the ways to undo."""

from dataclasses import dataclass

from carrel.store.core.formatting import DAY, age, count, one_line
from carrel.store.session.state import SessionState
from carrel.store.trash.state import DeletedItem, DeletedKind, TrashState

_KINDS: dict[DeletedKind, str] = {
    "file": "File",
    "document": "Document",
    "library": "Library",
    "agent": "Agent",
    "conversation": "Chat",
}

LOCAL_DAYS = 7
"""Days for which a local chat can be restored."""


@dataclass(frozen=True, slots=True)
class DeletedRow:
    """An item of the trash; `left` is the time in which it can be restored."""

    id: str
    kind: str
    name: str
    deleted: str
    left: str
    marked: bool


def deleted_rows(state: TrashState, now: float) -> tuple[DeletedRow, ...]:
    """Return the items of the trash, last deleted first."""
    return tuple(_row(item, item.id in state.marked, now) for item in state.items)


def trash_title(state: TrashState) -> str:
    """Return `Deleted · 12 · 2 marked`."""
    marked = f"{count(len(state.marked))} marked" if state.marked else ""
    return " · ".join(filter(None, ("Deleted", count(len(state.items)), marked)))


def _row(item: DeletedItem, marked: bool, now: float) -> DeletedRow:
    left = item.expires_at - now
    # Rounded: an item just deleted is kept for all of its days.
    days = "today" if left < DAY else f"{count(round(left / DAY))} d more"
    name = one_line(item.name) or item.id
    return DeletedRow(item.id, _KINDS[item.kind], name, age(now - item.deleted_at), days, marked)


def way_back(state: SessionState) -> str:
    """Return the note before a deletion at the service: “You can undo this for 7 days.”"""
    if state.trash_days is None:
        return "This service has no trash: this cannot be undone."
    return for_days(state.trash_days)


def for_days(days: int) -> str:
    """Return “You can undo this for 7 days.”"""
    return f"You can undo this for {'a day' if days == 1 else f'{count(days)} days'}."
