"""Conversations and their entries; each belongs to the user who began it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter

from carrel.server.records import trash
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import Conflict
from carrel.server.records.responses import PREFIX as RESPONSE_PREFIX
from carrel.server.records.sql.conditions import find
from carrel.server.records.sql.tables import conversation_entries, conversations
from carrel.wire.generation.conversations import (
    Conversation,
    ConversationQuery,
    ConversationWrite,
    Entry,
)

_ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


def get(connection: sa.Connection, caller: Caller, id: str) -> Conversation:
    """Return a conversation of the caller.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    query = sa.select(conversations).where(_is_own(caller), conversations.c.id == id)
    return _conversation(find(connection, query, "conversation", id))


def entries(connection: sa.Connection, caller: Caller, id: str) -> list[Entry]:
    """Return the entries of a conversation, in order.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    get(connection, caller, id)
    columns = conversation_entries.c
    query = sa.select(columns.entry).where(columns.conversation_id == id).order_by(columns.position)
    return [_ENTRY.validate_python(entry) for entry in connection.scalars(query)]


def page(connection: sa.Connection, caller: Caller, query: ConversationQuery) -> list[Conversation]:
    """Return a page of the caller's conversations, newest first."""
    columns = conversations.c
    listed = (
        sa.select(conversations)
        .where(_is_own(caller))
        .order_by(columns.created_at.desc(), columns.id.desc())
    )
    first = query.page * query.page_size
    if not query.metadata:
        rows = connection.execute(listed.limit(query.page_size).offset(first))
        return [_conversation(row) for row in rows]
    # Compared in Python: metadata values have any shape.
    expected = query.metadata.items()
    found = (
        row
        for row in connection.execute(listed)
        if expected <= (row._mapping["metadata"] or {}).items()
    )
    return [_conversation(row) for row in islice(found, first, first + query.page_size)]


def write(
    connection: sa.Connection, caller: Caller, id: str, written: ConversationWrite
) -> Conversation:
    """Add a conversation, or change one unless it has changed since its `updated_at`.

    Raises:
        NotFound, there is none to change, or the id is another's; or Conflict, it was changed
            meanwhile.
    """
    now = datetime.now(UTC)
    conversation = Conversation(id=id, created_at=now, updated_at=now)
    stay: list[Entry] = []
    there = sa.select(sa.exists().where(conversations.c.id == id))
    if written.updated_at is not None or connection.scalar(there):
        conversation = get(connection, caller, id)
        if conversation.updated_at != written.updated_at:
            raise Conflict("The conversation was changed meanwhile. Read it, then write it.")
        stay = entries(connection, caller, id)[: written.keep]
        delete(connection, caller, id, trash_days=0)
    else:
        trash.release(connection, caller, "conversation", id)
    fields = written.model_fields_set - {"entries", "keep", "updated_at"}
    changes = {name: getattr(written, name) for name in fields}
    # A clock may stand still, but no two states have the same time.
    changes["updated_at"] = max(now, conversation.updated_at + timedelta(microseconds=1))
    conversation = conversation.model_copy(update=changes)
    create(connection, caller, conversation, [*stay, *written.entries])
    return conversation


def create(
    connection: sa.Connection, caller: Caller, conversation: Conversation, said: Sequence[Entry]
) -> None:
    """Add a conversation with its first entries."""
    named = {"id", "name", "description", "metadata", "created_at", "updated_at"}
    partner = conversation.model_dump(mode="json", exclude=named | {"object"}, exclude_none=True)
    connection.execute(
        conversations.insert().values(
            organisation_id=caller.organisation_id,
            user_id=caller.user_id,
            partner=partner,
            **{name: getattr(conversation, name) for name in named},
        )
    )
    _add(connection, conversation.id, 0, said)


def extend(
    connection: sa.Connection, caller: Caller, id: str, known: int, said: Sequence[Entry]
) -> None:
    """Add entries to a conversation if it still has the `known` number of them.

    Raises:
        NotFound; or Conflict, it has new entries.
    """
    get(connection, caller, id)
    counted = sa.select(sa.func.count()).where(conversation_entries.c.conversation_id == id)
    if connection.scalar(counted) != known:
        raise Conflict("The conversation went on meanwhile. Read it, then append again.")
    _add(connection, id, known, said)
    connection.execute(
        conversations.update().where(conversations.c.id == id).values(updated_at=datetime.now(UTC))
    )


def decide(
    connection: sa.Connection, caller: Caller, id: str, known: int, decided: Mapping[int, Entry]
) -> None:
    """Replace entries, by their positions, if the conversation still has the `known` number.

    Raises:
        NotFound; or Conflict, it went on meanwhile.
    """
    extend(connection, caller, id, known, [])
    columns = conversation_entries.c
    for position, entry in decided.items():
        connection.execute(
            conversation_entries.update()
            .where(columns.conversation_id == id, columns.position == position)
            .values(entry=_json(entry))
        )


def delete(connection: sa.Connection, caller: Caller, id: str, trash_days: int) -> None:
    """Move a conversation with its entries to the trash.

    Raises:
        NotFound: it does not exist, or is hidden.
    """
    name = get(connection, caller, id).name
    trash.delete(connection, caller, "conversation", id, name, days=trash_days)


def _add(connection: sa.Connection, id: str, position: int, said: Sequence[Entry]) -> None:
    rows = [
        {"conversation_id": id, "position": at, "entry": _json(entry)}
        for at, entry in enumerate(said, position)
    ]
    if rows:
        connection.execute(conversation_entries.insert(), rows)


def _json(entry: Entry) -> dict[str, Any]:
    return entry.model_dump(mode="json", exclude_none=True)


def _is_own(caller: Caller) -> sa.ColumnElement[bool]:
    return sa.and_(
        conversations.c.organisation_id == caller.organisation_id,
        conversations.c.user_id == caller.user_id,
        ~conversations.c.id.startswith(RESPONSE_PREFIX, autoescape=True),
    )


def _conversation(row: sa.Row[Any]) -> Conversation:
    return Conversation(**{**row._asdict(), **row.partner})
