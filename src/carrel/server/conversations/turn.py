"""One answer in a conversation: its events while it streams, then its entries."""

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from carrel.server.completions.own_tools import TO_CONFIRM
from carrel.server.completions.responder import Responder
from carrel.server.conversations.entries import as_messages
from carrel.server.errors import ApiError
from carrel.server.records.errors import NotFound
from carrel.server.records.sql.ids import new_id
from carrel.wire.generation.agents import Agent, CompletionArgs
from carrel.wire.generation.chat import ChatRequest
from carrel.wire.generation.completions import CompletionChunk, Delta, Passage, Progress, Usage
from carrel.wire.generation.content import as_chunks
from carrel.wire.generation.conversations import (
    ConversationEvent,
    ConversationResponse,
    ConversationUsage,
    Entry,
    EventType,
    FunctionCallEntry,
    HandoffEntry,
    HandoffExecution,
    MessageOutput,
    ToolExecutionEntry,
)
from carrel.wire.generation.tools import Function, FunctionTool, RequestTool, ToolCall

Complete = Callable[[Responder, ChatRequest], AsyncGenerator[list[CompletionChunk | Progress]]]
"""The chunks of a completion."""
FindAgent = Callable[[str], Awaitable[Agent]]
Keep = Callable[[Sequence[Entry]], Awaitable[None]]
"""Keeps the entries of an answer."""

_LIBRARIES = "document_library"
_HANDOFFS = 5
"""Handoffs in one answer."""


@dataclass(frozen=True)
class Speaker:
    """The author of an answer: an agent, or a model with its conversation's settings."""

    responder: Responder
    agent: Agent | None = None

    def with_arguments(self, arguments: CompletionArgs | None) -> "Speaker":
        """Return the speaker with the arguments of a request."""
        if arguments is None:
            return self
        merged = {**self.responder.arguments.body(), **arguments.body()}
        both = CompletionArgs.model_validate(merged)
        responder = replace(
            self.responder, arguments=both, temperature=both.temperature, top_p=both.top_p
        )
        return replace(self, responder=responder)


@dataclass
class Turn:
    """An answer to the new input. Iterate its events once, then read its entries and usage."""

    conversation_id: str
    _said: Sequence[Entry]
    _speaker: Speaker
    _arguments: CompletionArgs | None
    """The arguments of the request, which apply to every speaker."""
    _handoffs: HandoffExecution
    _complete: Complete
    _find_agent: FindAgent
    _keep: Keep
    outputs: list[Entry] = field(default_factory=list)
    usage: ConversationUsage = field(default_factory=ConversationUsage)
    """The tokens that were used until now."""

    async def events(self) -> AsyncGenerator[ConversationEvent]:
        """Yield the events. The answer is kept before the last one.

        Raises:
            ApiError: as a completion; or agents hand over to each other without end.
        """
        begun = False
        async with aclosing(self._speak()) as events:
            async for one in events:
                if not begun:
                    begun = True
                    id = self.conversation_id
                    yield event("conversation.response.started", conversation_id=id)
                yield one
        await self._keep(self.outputs)
        yield event("conversation.response.done", usage=self.usage)

    def whole(self) -> ConversationResponse:
        """Return the whole answer, once its events have ended."""
        return ConversationResponse(
            conversation_id=self.conversation_id, outputs=self.outputs, usage=self.usage
        )

    async def _speak(self) -> AsyncGenerator[ConversationEvent]:
        """Yield the events of every speaker, one after the other."""
        for _ in range(_HANDOFFS + 1):
            leg = _Leg(self._speaker, self._said, self.outputs, await self._reachable())
            async with aclosing(self._complete(self._speaker.responder, leg.request())) as batches:
                async for batch in batches:
                    for one in leg.take(batch):
                        yield one
            self._count(leg.usage)
            for one in leg.end():
                yield one
            if leg.successor is None:
                return
            for one in self._hand_over(leg.successor):
                yield one
            if self._handoffs == "client":
                return
            successor = Speaker(Responder.of_agent(leg.successor), leg.successor)
            self._speaker = successor.with_arguments(self._arguments)
        raise ApiError(400, f"The agents handed the question on more than {_HANDOFFS} times.")

    async def _reachable(self) -> dict[str, Agent]:
        """Return the agents that the speaker can hand over to, by the names of their functions."""
        ids = (self._speaker.agent.handoffs if self._speaker.agent else None) or []
        agents: dict[str, Agent] = {}
        for id in ids:
            try:
                agent = await self._find_agent(id)
            except NotFound:
                # It was deleted since.
                continue
            words = re.sub(r"[^a-z0-9]+", "_", agent.name.lower()).strip("_")[:40]
            name = f"hand_over_to_{words or id}"
            agents[f"{name}_{id}" if name in agents else name] = agent
        return agents

    def _count(self, usage: Usage) -> None:
        self.usage = ConversationUsage(
            **{
                name: getattr(self.usage, name) + getattr(usage, name)
                for name in ConversationUsage.model_fields
            }
        )

    def _hand_over(self, successor: Agent) -> Iterator[ConversationEvent]:
        before, now = self._speaker.agent, datetime.now(UTC)
        assert before is not None, "a model hands nothing over"
        entry = HandoffEntry(
            id=new_id(),
            created_at=now,
            completed_at=now,
            previous_agent_id=before.id,
            previous_agent_name=before.name,
            next_agent_id=successor.id,
            next_agent_name=successor.name,
        )
        place = {"id": entry.id, "output_index": len(self.outputs)}
        self.outputs.append(entry)
        yield event(
            "agent.handoff.started",
            previous_agent_id=before.id,
            previous_agent_name=before.name,
            **place,
        )
        yield event(
            "agent.handoff.done",
            next_agent_id=successor.id,
            next_agent_name=successor.name,
            **place,
        )


class _Leg:
    """The part of an answer that one speaker gives."""

    def __init__(
        self,
        speaker: Speaker,
        said: Sequence[Entry],
        outputs: list[Entry],
        reachable: dict[str, Agent],
    ) -> None:
        self.usage = Usage()
        self.successor: Agent | None = None
        """The agent that it is handed to."""
        self._reachable = reachable
        self._outputs = outputs
        self._first = len(outputs)
        self._tool = "", ""
        self._by = {
            "agent_id": speaker.agent.id if speaker.agent else None,
            "model": speaker.responder.model,
        }
        self._messages = as_messages([*said, *outputs])
        self._content: list[dict[str, Any]] = []
        """The chunks of the open message; pieces of text or thinking are joined."""
        self._message_at: int | None = None
        self._tool_at: int | None = None
        self._sources: dict[int | str, Passage] = {}
        self._called = False

    def request(self) -> ChatRequest:
        """Return the request for the completion.

        Raises:
            ApiError: 400, there is no message to answer.
        """
        if not self._messages:
            raise ApiError(400, "Nothing was said yet. Send inputs.")
        tools: list[RequestTool] = [
            FunctionTool(
                function=Function(
                    name=name,
                    description=f"Lets {agent.name} answer. {agent.description or ''}".strip(),
                    parameters={"type": "object", "properties": {}},
                )
            )
            for name, agent in self._reachable.items()
        ]
        return ChatRequest(
            model=self._by["model"] or "", messages=self._messages, tools=tools or None
        )

    def take(self, batch: Sequence[CompletionChunk | Progress]) -> Iterator[ConversationEvent]:
        """Yield the events of a batch of chunks."""
        for chunk in batch:
            if isinstance(chunk, Progress):
                yield from self._step(chunk)
                continue
            self.usage = chunk.usage or self.usage
            for choice in chunk.choices:
                yield from self._events_of(choice.delta)

    def end(self) -> Iterator[ConversationEvent]:
        """Yield the events that are left at the end, when the message is whole."""
        yield from self._end_tool({})
        if not self._called and not any(
            isinstance(entry, MessageOutput) for entry in self._outputs[self._first :]
        ):
            yield self._append({"type": "text", "text": ""})
        self._close_message()

    def _events_of(self, delta: Delta) -> Iterator[ConversationEvent]:
        for sent in as_chunks(delta.content or ""):
            for chunk in self._citations(sent) if sent["type"] == "reference" else (sent,):
                yield self._append(chunk)
        for call in delta.tool_calls or ():
            self._called = True
            if successor := self._reachable.get(call.function.name):
                self.successor = self.successor or successor
            else:
                yield self._call(call)

    def _append(self, chunk: dict[str, Any]) -> ConversationEvent:
        if self._message_at is None:
            self._message_at = self._add(MessageOutput(content="", **self._entry_fields()))
            self._content = []
        last = self._content[-1] if self._content else None
        if last is not None and last["type"] == chunk["type"] != "tool_reference":
            self._content[-1] = _join(last, chunk)
        else:
            self._content.append(chunk)
        return self._event(
            "message.output.delta",
            self._message_at,
            content=chunk["text"] if chunk["type"] == "text" else chunk,
            content_index=len(self._content) - 1,
            role="assistant",
            **self._by,
        )

    def _close_message(self) -> None:
        """Store the content of the open message: a text, unless it has other chunks."""
        if self._message_at is not None:
            texts = [chunk["text"] for chunk in self._content if chunk["type"] == "text"]
            content = "".join(texts) if len(texts) == len(self._content) else self._content
            entry = MessageOutput.model_validate({"content": content, **self._entry_fields()})
            self._change(self._message_at, content=entry.content)
        self._message_at = None

    def _citations(self, chunk: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield a citation as the chunks that conversations have, one for each passage."""
        for number in chunk["reference_ids"]:
            if source := self._sources.get(number):
                page = "" if source.page is None else f", page {source.page + 1}"
                yield {
                    "type": "tool_reference",
                    "tool": _LIBRARIES,
                    "title": f"{source.document_name}{page}",
                    "description": source.snippet,
                    "reference_ids": [number],
                }

    def _call(self, call: ToolCall) -> ConversationEvent:
        function = call.function
        named: dict[str, Any] = {
            "tool_call_id": call.id,
            "name": function.name,
            "arguments": function.arguments,
        }
        if call.type == TO_CONFIRM:
            named["confirmation_status"] = "pending"
        at = self._add(FunctionCallEntry(**named, **self._entry_fields()))
        return self._event("function.call.delta", at, **named, **self._by)

    def _step(self, step: Progress) -> Iterator[ConversationEvent]:
        """Yield the events of a search or of a connector's tool that begins or ends."""
        info: dict[str, Any]
        if step.query is not None:
            tool = _LIBRARIES, json.dumps({"query": step.query}, ensure_ascii=False)
            sources = step.sources or []
            self._sources |= {source.index: source for source in sources}
            info = {"sources": [source.model_dump(mode="json") for source in sources]}
        elif step.tool is not None:
            tool = step.tool, step.arguments or "{}"
            info = {"result": step.result or ""}
        else:
            return
        if self._tool_at is None or self._tool != tool:
            yield from self._end_tool({})
            yield self._begin_tool(*tool)
        if step.stage in ("found", "called"):
            yield from self._end_tool(info)

    def _begin_tool(self, name: str, arguments: str) -> ConversationEvent:
        self._close_message()
        self._tool = name, arguments
        named: dict[str, Any] = {"name": name, "arguments": arguments}
        self._tool_at = self._add(ToolExecutionEntry(**named, **self._entry_fields()))
        return self._event("tool.execution.started", self._tool_at, **named, **self._by)

    def _end_tool(self, info: dict[str, Any]) -> Iterator[ConversationEvent]:
        if self._tool_at is None:
            return
        self._change(self._tool_at, info=info)
        yield self._event("tool.execution.done", self._tool_at, name=self._tool[0], info=info)
        self._tool_at = None

    def _entry_fields(self) -> dict[str, Any]:
        """Return the fields of a new entry."""
        return {"id": new_id(), "created_at": datetime.now(UTC), **self._by}

    def _add(self, entry: Entry) -> int:
        now = datetime.now(UTC)
        self._outputs.append(entry.model_copy(update={"completed_at": now}))
        return len(self._outputs) - 1

    def _change(self, at: int, **fields: Any) -> None:
        update = {"completed_at": datetime.now(UTC), **fields}
        self._outputs[at] = self._outputs[at].model_copy(update=update)

    def _event(self, kind: EventType, at: int, **fields: Any) -> ConversationEvent:
        return event(kind, id=self._outputs[at].id, output_index=at, **fields)


def _join(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return two chunks of text, or of thinking, as one."""
    if before["type"] == "text":
        return {**before, "text": before["text"] + after["text"]}
    [one], [other] = before["thinking"], after["thinking"]
    return {**before, "thinking": [{**one, "text": one["text"] + other["text"]}]}


def event(kind: EventType, **fields: Any) -> ConversationEvent:
    """Return an event with the present time."""
    return ConversationEvent(type=kind, created_at=datetime.now(UTC), **fields)
