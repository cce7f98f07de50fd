"""Conversion of a chat's turns to a conversation's entries, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, get_args

from carrel.store.chat.conversation import Attachment, Turn, TurnStatus
from carrel.store.tools.state import AgentCall

if TYPE_CHECKING:
    from carrel.wire.generation.completions import Passage
    from carrel.wire.generation.content import Content
    from carrel.wire.generation.conversations import Entry

_LIBRARIES = "document_library"
_NUMBER = (int, float)
_FIGURES: dict[str, Any] = {
    "version": int,
    "agent": str,
    "first_token": _NUMBER,
    "rate": _NUMBER,
    "prompt_tokens": int,
    "completion_tokens": int,
    "cut": bool,
    "searches": bool,
    "thought": _NUMBER,
}
"""Fields of an answer without a counterpart in entries, saved in metadata."""


def entries_of(turns: Sequence[Turn]) -> list[Entry]:
    """Convert turns to entries."""
    return [entry for turn in turns for entry in _entries(turn)]


def turns_of(entries: Sequence[Entry]) -> list[tuple[Turn, int]]:
    """Convert entries to turns, each with the number of entries up to its end."""
    from carrel.wire.generation.content import text_of, thinking_of

    turns: list[tuple[Turn, int]] = []
    sources: tuple[Passage, ...] | None = None
    for number, entry in enumerate(entries, 1):
        match entry.type:
            case "tool.execution":
                sources = _sources(entry.info) if entry.name == _LIBRARIES else sources
            case "function.call" if turns and turns[-1][0].role == "assistant":
                before = turns[-1][0]
                turns[-1] = (replace(before, calls=(*before.calls, _call(entry))), number)
            case "function.call":
                turns.append((Turn("assistant", "", calls=(_call(entry),)), number))
            case "function.result":
                turns.append((Turn("tool", entry.result, call_id=entry.tool_call_id), number))
            case "message.output":
                told = _figures(entry.metadata or {})
                turn = Turn("assistant", text_of(entry.content), **told)
                turn = replace(turn, thinking=thinking_of(entry.content))
                if sources is not None:
                    turn = replace(turn, sources=sources, searched=True)
                turns.append((turn, number))
                sources = None
            case "message.input":
                attached = _attachments(entry.metadata or {})
                turns.append(
                    (Turn(entry.role, text_of(entry.content), attachments=attached), number)
                )
    return turns


def _entries(turn: Turn) -> Iterator[Entry]:
    from carrel.wire.generation.content import TextChunk, ThinkingChunk
    from carrel.wire.generation.conversations import (
        FunctionCallEntry,
        FunctionResultEntry,
        MessageInput,
        MessageOutput,
        ToolExecutionEntry,
    )

    if turn.role == "user":
        attached = [asdict(attachment) for attachment in turn.attachments]
        metadata = {"attachments": attached} if attached else None
        yield MessageInput(content=turn.text, metadata=metadata)
    elif turn.role == "tool":
        yield FunctionResultEntry(tool_call_id=turn.call_id or "", result=turn.text)
    else:
        if turn.searched:
            sources = [source.model_dump(mode="json") for source in turn.sources]
            yield ToolExecutionEntry(name=_LIBRARIES, arguments="{}", info={"sources": sources})
        figures = {name: getattr(turn, name) for name in _FIGURES}
        content: Content = turn.text
        if turn.thinking:
            thinking = ThinkingChunk(thinking=[{"type": "text", "text": turn.thinking}])
            content = [thinking, TextChunk(text=turn.text)]
        yield MessageOutput(content=content, metadata={**figures, "status": turn.status})
        for call in turn.calls:
            yield FunctionCallEntry(tool_call_id=call.id, name=call.name, arguments=call.arguments)


def _call(entry: Any) -> AgentCall:
    import json

    arguments = entry.arguments
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return AgentCall(entry.tool_call_id, entry.name, text)


def _sources(info: Mapping[str, Any] | None) -> tuple[Passage, ...]:
    from pydantic import TypeAdapter, ValidationError

    from carrel.wire.generation.completions import Passage

    try:
        found = TypeAdapter(list[Passage]).validate_python((info or {}).get("sources"))
    except ValidationError:  # another service may use another form
        return ()
    return tuple(found)


# Any client may have written the metadata.


def _figures(metadata: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: metadata.get(name) for name in _FIGURES}
    figures = {name: value for name, value in told.items() if isinstance(value, _FIGURES[name])}
    status = metadata.get("status")
    return {**figures, "status": status if status in get_args(TurnStatus) else "done"}


def _attachments(metadata: Mapping[str, Any]) -> tuple[Attachment, ...]:
    from pydantic import TypeAdapter, ValidationError

    try:
        found = TypeAdapter(list[Attachment]).validate_python(metadata.get("attachments", []))
    except ValidationError:
        return ()
    return tuple(found)
