"""The way back from a deletion, in words."""

from __future__ import annotations

from carrel.store.core.words import count
from carrel.store.session.state import SessionState

LOCAL_DAYS = 7
"""Days in which a chat of this machine can be restored."""


def way_back(state: SessionState) -> str:
    """What to know before something is deleted at the service: “You can undo this for 7 days.”"""
    if state.trash_days is None:
        return "This service has no trash: this cannot be undone."
    return for_days(state.trash_days)


def for_days(days: int) -> str:
    """“You can undo this for 7 days.”"""
    return f"You can undo this for {'a day' if days == 1 else f'{count(days)} days'}."
