"""Entries of a conversation as the messages of a completion."""

from collections.abc import Sequence
from datetime import UTC, datetime

from carrel.server.errors import ApiError
from carrel.server.records.sql.ids import new_id
from carrel.wire.generation.completions import AssistantMessage, Message, ToolMessage, UserMessage
from carrel.wire.generation.conversations import (
    Entry,
    FunctionCallEntry,
    FunctionResultEntry,
    HandoffEntry,
    Inputs,
    MessageInput,
    MessageOutput,
)
from carrel.wire.generation.tools import ToolCall


def as_entries(inputs: Inputs, before: Sequence[Entry]) -> list[Entry]:
    """Return the entries that follow others, each with an id of its own.

    Raises:
        ApiError: 400, there is a result of a call that was not made.
    """
    given = [MessageInput(content=inputs)] if isinstance(inputs, str) else inputs
    now = datetime.now(UTC)
    calls = {
        entry.tool_call_id for entry in (*before, *given) if isinstance(entry, FunctionCallEntry)
    }
    for entry in given:
        if isinstance(entry, FunctionResultEntry) and entry.tool_call_id not in calls:
            raise ApiError(
                400, f"There is no call {entry.tool_call_id[:80]!r} that this is the result of."
            )
    stamped = {"created_at": now, "completed_at": now}
    return [entry.model_copy(update={**stamped, "id": new_id()}) for entry in given]


def as_messages(entries: Sequence[Entry]) -> list[Message]:
    """Return the messages that a model is shown."""
    messages: list[Message] = []
    for number, entry in enumerate(entries):
        if isinstance(entry, MessageInput) and entry.role == "user":
            messages.append(UserMessage(content=entry.content))
        elif isinstance(entry, MessageInput):
            prefix = entry.prefix and number == len(entries) - 1
            messages.append(AssistantMessage(content=entry.content, prefix=prefix))
        elif isinstance(entry, MessageOutput):
            # A model is not shown an answer without words, which no other may follow.
            if entry.content:
                messages.append(AssistantMessage(content=entry.content))
        elif isinstance(entry, FunctionCallEntry):
            _add_call(messages, entry)
        elif isinstance(entry, FunctionResultEntry):
            messages.append(ToolMessage(tool_call_id=entry.tool_call_id, content=entry.result))
        elif isinstance(entry, HandoffEntry):
            last = messages[-1] if messages else None
            if isinstance(last, AssistantMessage) and not last.tool_calls:
                # The next agent answers the question, not the words that went with the handoff.
                messages.pop()
    return messages


def _add_call(messages: list[Message], entry: FunctionCallEntry) -> None:
    """Add a call to the message of the calls that were made together with it."""
    call = ToolCall(id=entry.tool_call_id, function=entry.function)
    last = messages[-1] if messages else None
    if isinstance(last, AssistantMessage) and not last.prefix:
        calls = [*(last.tool_calls or ()), call]
        messages[-1] = AssistantMessage(content=last.content, tool_calls=calls)
    else:
        messages.append(AssistantMessage(tool_calls=[call]))
