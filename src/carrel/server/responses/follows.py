"""The context of an answer in the Responses shape: an earlier answer, or a conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from carrel.server.conversations.entries import as_entries, as_messages
from carrel.server.records import conversations, responses
from carrel.server.records.accounts.caller import Caller
from carrel.server.responses import asked
from carrel.wire.generation.conversations import (
    Entry,
    FunctionCallEntry,
    FunctionResultEntry,
    MessageInput,
    MessageOutput,
)
from carrel.wire.generation.responses import (
    CallItem,
    InputItem,
    MessageItem,
    ModelResponse,
    Part,
    ResponseRequest,
    ResultItem,
)


@dataclass(frozen=True)
class Followed:
    """The messages before an answer; of a conversation also its entries."""

    messages: Sequence[dict[str, Any]]
    entries: Sequence[Entry] = ()


def read(connection: sa.Connection, caller: Caller, request: ResponseRequest) -> Followed:
    """Return the context of a request.

    Raises:
        NotFound: there is no such answer, or no such conversation.
    """
    if (id := request.conversation_id) is None:
        before = responses.items_before(connection, caller, request.previous_response_id)
        items = asked.read_items(before)
        return Followed(asked.as_messages(items) if items else ())
    entries = conversations.entries(connection, caller, id)
    return Followed([message.model_dump() for message in as_messages(entries)], entries)


def keep(
    connection: sa.Connection,
    caller: Caller,
    request: ResponseRequest,
    followed: Followed,
    answer: ModelResponse,
) -> None:
    """Add the request's input and its answer to the request's conversation, if it has one.

    Raises:
        Conflict: the conversation went on meanwhile.
    """
    if (id := request.conversation_id) is None or answer.status == "failed":
        return
    told = asked.read_items([item.model_dump(mode="json") for item in answer.output])
    said = [*asked.request_items(request), *told]
    entries = [entry for item in said for entry in _entry(item, answer.model)]
    stamped = as_entries(entries, followed.entries)
    conversations.extend(connection, caller, id, len(followed.entries), stamped)


def _entry(item: InputItem, model: str) -> Sequence[Entry]:
    """Return an item as an entry; a conversation has none for instructions and thoughts."""
    if isinstance(item, MessageItem) and item.role == "user":
        return [MessageInput.model_validate({"content": _content(item.content)})]
    if isinstance(item, MessageItem) and item.role == "assistant":
        return [MessageOutput.model_validate({"content": _content(item.content), "model": model})]
    if isinstance(item, CallItem):
        return [
            FunctionCallEntry(
                tool_call_id=item.call_id, name=item.name, arguments=item.arguments, model=model
            )
        ]
    if isinstance(item, ResultItem):
        result = {"tool_call_id": item.call_id, "result": _content(item.output)}
        return [FunctionResultEntry.model_validate(result)]
    return []


def _content(content: str | Sequence[Part]) -> str | list[dict[str, Any]]:
    """Return the content of an item: a text, unless it has other chunks."""
    chunks = asked.content_of(content)
    if isinstance(chunks, str) or any(chunk["type"] != "text" for chunk in chunks):
        return chunks
    return "".join(chunk["text"] for chunk in chunks)
