"""Stored answers of the Responses shape: conversations of their own kind under their ids."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from carrel.server import wakes
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.sql.conditions import find
from carrel.server.records.sql.tables import conversation_entries, conversations

PREFIX = "resp_"
"""The prefix of their ids, and of no other conversation's."""
DAYS = 30
"""The time that an answer is kept, as in the service that clients know."""
UNFINISHED = ("queued", "in_progress")

_LONGEST_CHAIN = 1000
"""Number of earlier answers that are read."""
_EVENTS = 500
"""Events that are read at once."""


@dataclass(frozen=True)
class KeptResponse:
    """An answer as it is sent, the items that it answers, and when it was last written.

    The events of one that is `streamed` are kept, too.
    """

    response: dict[str, Any]
    input: list[dict[str, Any]]
    updated_at: datetime
    streamed: bool


def new_response_id() -> str:
    """Return an id for an answer, as long as a conversation's may be."""
    return f"{PREFIX}{uuid.uuid4().hex[:31]}"


def add(
    connection: sa.Connection,
    caller: Caller,
    response: dict[str, Any],
    input: Sequence[dict[str, Any]],
    *,
    streamed: bool = False,
) -> None:
    """Store an answer, and delete the caller's expired ones."""
    now = datetime.now(UTC)
    old = conversations.c.created_at < now - timedelta(days=DAYS)
    connection.execute(conversations.delete().where(_is_own(caller), old))
    connection.execute(
        conversations.insert().values(
            id=response["id"],
            organisation_id=caller.organisation_id,
            user_id=caller.user_id,
            partner={"response": response, "input": [*input], "streamed": streamed},
            created_at=now,
            updated_at=now,
        )
    )


def get(connection: sa.Connection, caller: Caller, id: str) -> KeptResponse:
    """Return an answer of the caller.

    Raises:
        NotFound: it does not exist, or is another's.
    """
    query = sa.select(conversations).where(_is_own(caller), conversations.c.id == id)
    row = find(connection, query, "response", id)
    return KeptResponse(**{"streamed": False, **row.partner}, updated_at=row.updated_at)


def items_before(connection: sa.Connection, caller: Caller, id: str | None) -> list[dict[str, Any]]:
    """Return the items of an answer and of all answers before it.

    Raises:
        NotFound: one of them does not exist.
    """
    parts: list[list[dict[str, Any]]] = []
    while id is not None and len(parts) < _LONGEST_CHAIN:
        kept = get(connection, caller, id)
        parts.append([*kept.input, *kept.response["output"]])
        id = kept.response.get("previous_response_id")
    return [item for part in reversed(parts) for item in part]


def replace_unfinished(
    connection: sa.Connection, caller: Caller, id: str, changes: dict[str, Any]
) -> bool:
    """Change an answer unless it has ended; return whether it was changed.

    Raises:
        NotFound: it does not exist, or is another's.
    """
    kept = get(connection, caller, id)
    if kept.response["status"] not in UNFINISHED:
        return False
    partner = {
        "response": {**kept.response, **changes},
        "input": kept.input,
        "streamed": kept.streamed,
    }
    connection.execute(
        conversations.update()
        .where(conversations.c.id == id)
        .values(partner=partner, updated_at=datetime.now(UTC))
    )
    wakes.notify(connection, wakes.ANSWERS, id)
    return True


def add_events(
    connection: sa.Connection, caller: Caller, id: str, events: Sequence[dict[str, Any]]
) -> None:
    """Keep events of an answer, by their sequence numbers.

    Raises:
        NotFound: the answer was deleted meanwhile.
    """
    get(connection, caller, id)
    rows = [
        {"conversation_id": id, "position": event["sequence_number"], "entry": event}
        for event in events
    ]
    if rows:
        connection.execute(conversation_entries.insert(), rows)
        wakes.notify(connection, wakes.ANSWERS, id)


def events_after(
    connection: sa.Connection, caller: Caller, id: str, number: int
) -> tuple[KeptResponse, list[dict[str, Any]]]:
    """Return an answer with its next events after a sequence number.

    Raises:
        NotFound: it does not exist, or is another's.
    """
    columns = conversation_entries.c
    query = (
        sa.select(columns.entry)
        .where(columns.conversation_id == id, columns.position > number)
        .order_by(columns.position)
        .limit(_EVENTS)
    )
    return get(connection, caller, id), list(connection.scalars(query))


def delete(connection: sa.Connection, caller: Caller, id: str) -> None:
    """Delete an answer for ever.

    Raises:
        NotFound: it does not exist, or is another's.
    """
    get(connection, caller, id)
    connection.execute(conversations.delete().where(conversations.c.id == id))
    wakes.notify(connection, wakes.ANSWERS, id)


def _is_own(caller: Caller) -> sa.ColumnElement[bool]:
    return sa.and_(
        conversations.c.organisation_id == caller.organisation_id,
        conversations.c.user_id == caller.user_id,
        conversations.c.id.startswith(PREFIX, autoescape=True),
    )
