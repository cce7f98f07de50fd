"""Messages: their valid order, and their form for a model."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from carrel.server.completions.tools import calls_as_text
from carrel.server.errors import ApiError
from carrel.server.models.address import Abilities
from carrel.wire.generation.completions import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from carrel.wire.generation.content import (
    Content,
    ContentChunk,
    DocumentURLChunk,
    FileChunk,
    ImageURLChunk,
    InputAudioChunk,
    ResourceChunk,
    ResourceLinkChunk,
    TextChunk,
)

ReadDocument = Callable[[DocumentURLChunk | FileChunk | ImageURLChunk], Awaitable[str]]
"""The text of a document that a message brings along, or the data URL of a picture."""

ChatMessage = dict[str, Any]
"""A message in the form of the OpenAI interface."""

_CALL_ID = re.compile(r"[a-zA-Z0-9]{9}")
_NO_ID = "null"
_FOLLOWS: dict[str, set[str | None]] = {
    "system": {None, "system", "user", "assistant", "tool"},
    "user": {None, "system", "user", "assistant"},
    "assistant": {None, "system", "user", "assistant", "tool"},
    "tool": {"assistant", "tool"},
}
"""The roles allowed before each role; None is the beginning."""


def check_order(messages: Sequence[Message], *, own_ids: bool = True) -> None:
    """Refuse messages in an order that no model can continue.

    With `own_ids`, the ids of calls must be of the interface's form.

    Raises:
        ApiError: 400, naming the message that is out of place.
    """
    before = None
    called: set[str] = set()
    for number, message in enumerate(messages):
        if before not in _FOLLOWS[message.role]:
            raise _order_error(
                f"Unexpected role '{message.role}' after role '{before or 'none'}'", number
            )
        if isinstance(message, AssistantMessage):
            _check_assistant(message, number, last=number == len(messages) - 1)
            ids = [call.id for call in message.tool_calls or ()]
        else:
            ids = [message.tool_call_id or _NO_ID] if isinstance(message, ToolMessage) else []
        for id in ids if own_ids else ():
            _check_id(id, number)
        if isinstance(message, AssistantMessage):
            called = {call.id for call in message.tool_calls or ()}
        elif isinstance(message, ToolMessage) and called and not called & {*ids, _NO_ID}:
            raise ApiError(
                400,
                f"Tool call id {ids[0][:40]} is not one of the calls before it. (message {number})",
                "invalid_function_call",
                "3280",
            )
        before = message.role
    last = messages[-1]
    if isinstance(last, SystemMessage) or (isinstance(last, AssistantMessage) and not last.prefix):
        raise _order_error(
            "Expected last role User or Tool (or Assistant with prefix True) for serving but got"
            f" {last.role}",
            len(messages) - 1,
        )


def _check_assistant(message: AssistantMessage, number: int, *, last: bool) -> None:
    if message.prefix and not last:
        raise _order_error("Only the last message may have prefix true", number)
    if not message.content and not message.tool_calls and not message.prefix:
        raise ApiError(
            400,
            "Assistant message must have either content or tool_calls, but not none."
            f" (message {number})",
            "invalid_request_assistant_message",
            "3240",
        )


def _check_id(id: str, number: int) -> None:
    if id != _NO_ID and not _CALL_ID.fullmatch(id):
        raise ApiError(
            400,
            f"Tool call id was {id[:40]} but must be a-z, A-Z, 0-9, with a length of 9."
            f" (message {number})",
            "invalid_function_call",
            "3280",
        )


def _order_error(message: str, number: int) -> ApiError:
    return ApiError(400, f"{message} (message {number})", "invalid_request_message_order", "3230")


def last_question(messages: Sequence[Message]) -> str:
    """Return the text of the last user message; empty if there is none."""
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            return plain_text(message.content)
    return ""


def plain_text(content: Content | None) -> str:
    """Return the text of a message."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(chunk.text for chunk in content if isinstance(chunk, TextChunk))


def letters_of(message: Message) -> int:
    """Return the letters of a message's own text and calls, without its documents."""
    calls = message.tool_calls or () if isinstance(message, AssistantMessage) else ()
    name = message.name or "" if isinstance(message, ToolMessage) else ""
    return (
        _letters_in(message.content)
        + sum(len(call.function.name) + len(call.function.arguments) for call in calls)
        + len(name)
    )


def _letters_in(content: Content | ContentChunk | None) -> int:
    if content is None or isinstance(content, str):
        return len(content or "")
    if isinstance(content, list):
        return sum(map(_letters_in, content))
    if isinstance(content, ResourceChunk):
        return _letters_in(content.content)
    if isinstance(content, ResourceLinkChunk):
        return len(content.uri)
    return len(content.text) if isinstance(content, TextChunk) else 0


async def as_chat(
    messages: Sequence[Message], abilities: Abilities, read_document: ReadDocument
) -> list[ChatMessage]:
    """Return the messages for the model, with tool calls as text if its template lacks them.

    Raises:
        ApiError: 400, the model cannot take a kind of content, or a document is unreadable.
    """
    reader = _Reader(abilities, read_document)
    return [await reader.message(message) for message in messages]


class _Reader:
    def __init__(self, abilities: Abilities, read_document: ReadDocument) -> None:
        self._abilities = abilities
        self._read_document = read_document
        self._called: dict[str, str] = {}

    async def message(self, message: Message) -> ChatMessage:
        # An answer's chunks are cut at its citations, not at its lines.
        between = "" if isinstance(message, AssistantMessage) else "\n"
        content = await self._content(message.content, between)
        if isinstance(message, AssistantMessage) and message.tool_calls:
            return self._call(message, content)
        if isinstance(message, ToolMessage):
            return self._result(message, content)
        return {"role": message.role, "content": content}

    def _call(self, message: AssistantMessage, content: Any) -> ChatMessage:
        calls = message.tool_calls or []
        self._called |= {call.id: call.function.name for call in calls}
        if self._abilities.tools is False:
            return {
                "role": "assistant",
                "content": "\n".join([content, calls_as_text(calls)]).strip(),
            }
        return {
            "role": "assistant",
            "content": content,
            "tool_calls": [call.model_dump(mode="json", exclude={"index"}) for call in calls],
        }

    def _result(self, message: ToolMessage, content: Any) -> ChatMessage:
        name = message.name or self._called.get(message.tool_call_id or "", "the function")
        if self._abilities.tools is False:
            return {
                "role": "user",
                "content": f"The result of {name} is: {content}\nNow answer my question.",
            }
        return {
            "role": "tool",
            "content": content,
            "name": name,
            "tool_call_id": message.tool_call_id or _NO_ID,
        }

    async def _content(self, content: Content | None, between: str) -> str | list[dict[str, Any]]:
        if content is None or isinstance(content, str):
            return content or ""
        parts = [part for chunk in content if (part := await self._part(chunk)) is not None]
        if all(isinstance(part, str) for part in parts):
            return between.join(str(part) for part in parts)
        return [{"type": "text", "text": p} if isinstance(p, str) else p for p in parts]

    async def _part(self, chunk: ContentChunk) -> str | dict[str, Any] | None:
        """Return a chunk as text or an image, or None for one that a model does not read."""
        if isinstance(chunk, TextChunk):
            return chunk.text
        if isinstance(chunk, DocumentURLChunk | FileChunk):
            # An empty line separates the question that follows.
            return await self._read_document(chunk) + "\n"
        if isinstance(chunk, ImageURLChunk):
            if self._abilities.images is False:
                raise ApiError(
                    400, "This model cannot see images. Send text, or choose another model."
                )
            # Not its address: the model must not fetch addresses that this server would refuse.
            url = await self._read_document(chunk)
            return {"type": "image_url", "image_url": {"url": url}}
        if isinstance(chunk, ResourceChunk):
            return await self._part(chunk.content)
        if isinstance(chunk, ResourceLinkChunk):
            return chunk.uri
        if isinstance(chunk, InputAudioChunk):
            raise ApiError(400, "This model cannot hear audio. Send text instead.")
        return None
