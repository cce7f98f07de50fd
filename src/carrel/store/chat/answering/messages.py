"""Conversion of a chat's turns to the messages of a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from carrel.store.chat.answering.attachments import chunk
from carrel.store.chat.conversation import Turn
from carrel.store.chat.formatting import without_citations

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.generation.completions import Message


async def messages(client: Client, turns: Sequence[Turn]) -> list[Message]:
    """Return the messages of turns; the last turn is the question."""
    found: list[Message] = []
    for turn, following in zip(turns, (*turns[1:], None), strict=True):
        if _says_nothing(turn) or (following is not None and _is_refused(turn, following)):
            continue
        found.append(await _message(client, turn))
    return found


def _says_nothing(turn: Turn) -> bool:
    """Return whether a turn is an answer that never began."""
    return turn.role == "assistant" and not turn.text and not turn.calls


def _is_refused(turn: Turn, following: Turn) -> bool:
    """Return whether a failed question must be left out of later requests, as one with an
    unreadable picture.
    """
    return (
        turn.role == "user" and following.status in ("failed", "lost") and _says_nothing(following)
    )


async def _message(client: Client, turn: Turn) -> Message:
    from carrel.wire.generation.completions import AssistantMessage, ToolMessage, UserMessage
    from carrel.wire.generation.content import TextChunk
    from carrel.wire.generation.tools import FunctionCall, ToolCall

    if turn.role == "tool":
        return ToolMessage(content=turn.text, tool_call_id=turn.call_id)
    if turn.role == "assistant":
        calls = [
            ToolCall(id=call.id, function=FunctionCall(name=call.name, arguments=call.arguments))
            for call in turn.calls
        ]
        return AssistantMessage(content=without_citations(turn), tool_calls=calls or None)
    if not turn.attachments:
        return UserMessage(content=turn.text)
    parts = [await chunk(client, attachment) for attachment in turn.attachments]
    return UserMessage(content=[*parts, TextChunk(text=turn.text)])
