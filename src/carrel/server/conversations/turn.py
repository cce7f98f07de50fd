"""One answer in a conversation: its events as it is given, and then its entries."""

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from carrel.server.completions.messages import last_question
from carrel.server.completions.responder import Responder
from carrel.server.conversations.entries import as_messages
from carrel.server.errors import ApiError
from carrel.server.records.ids import new_id
from carrel.wire.agents import Agent, CompletionArgs
from carrel.wire.chat import ChatRequest
from carrel.wire.completions import CompletionChunk, Delta, Progress, Usage
from carrel.wire.conversations import (
    ConversationEvent,
    ConversationUsage,
    Entry,
    EventType,
    FunctionCallEntry,
    HandoffEntry,
    HandoffExecution,
    MessageOutput,
    ToolExecutionEntry,
)
from carrel.wire.tools import Function, FunctionTool, ToolCall

Complete = Callable[[Responder, ChatRequest], AsyncGenerator[list[CompletionChunk | Progress]]]
"""The chunks of a completion."""
FindAgent = Callable[[str], Awaitable[Agent]]

_LIBRARIES = "document_library"
_HANDOFFS = 5
"""Handoffs in one answer."""


@dataclass(frozen=True)
class Speaker:
    """The one that answers: an agent, or a model as its conversation has it."""

    responder: Responder
    agent: Agent | None = None

    def told(self, arguments: CompletionArgs | None) -> "Speaker":
        """The speaker with the arguments of a request."""
        if arguments is None:
            return self
        merged = {**self.responder.arguments.body(), **arguments.body()}
        both = CompletionArgs.model_validate(merged)
        responder = replace(
            self.responder, arguments=both, temperature=both.temperature, top_p=both.top_p
        )
        return replace(self, responder=responder)


class Turn:
    """An answer to what was said; iterate its events once, then take what it left."""

    def __init__(
        self,
        conversation_id: str,
        said: Sequence[Entry],
        speaker: Speaker,
        *,
        arguments: CompletionArgs | None,
        handoffs: HandoffExecution,
        complete: Complete,
        find_agent: FindAgent,
    ) -> None:
        self.outputs: list[Entry] = []
        self.usage = ConversationUsage()
        self._conversation_id = conversation_id
        self._said = said
        self._speaker = speaker.told(arguments)
        self._arguments = arguments
        self._handoffs = handoffs
        self._complete = complete
        self._find_agent = find_agent

    async def events(self) -> AsyncGenerator[ConversationEvent]:
        """The events of the answer but for the last.

        Raises:
            ApiError: as a completion; or the agents hand the question around.
        """
        begun = False
        async with aclosing(self._spoken()) as events:
            async for one in events:
                if not begun:
                    begun = True
                    yield event(
                        "conversation.response.started", conversation_id=self._conversation_id
                    )
                yield one

    def done(self) -> ConversationEvent:
        """The last event."""
        return event("conversation.response.done", usage=self.usage)

    async def _spoken(self) -> AsyncGenerator[ConversationEvent]:
        """The events of every speaker, one after the other."""
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
            self._speaker = successor.told(self._arguments)
        raise ApiError(400, f"The agents handed the question on more than {_HANDOFFS} times.")

    async def _reachable(self) -> dict[str, Agent]:
        """The agents that the speaker can hand over to, by the names of the functions for it."""
        ids = (self._speaker.agent.handoffs if self._speaker.agent else None) or []
        agents: dict[str, Agent] = {}
        for id in ids:
            try:
                agent = await self._find_agent(id)
            except ApiError:
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
        self._by = {
            "agent_id": speaker.agent.id if speaker.agent else None,
            "model": speaker.responder.model,
        }
        self._messages = as_messages([*said, *outputs])
        self._text = ""
        self._message_at: int | None = None
        self._search_at: int | None = None
        self._searching = False
        self._called = False

    def request(self) -> ChatRequest:
        """The request for the completion.

        Raises:
            ApiError: 400, nothing was said.
        """
        if not self._messages:
            raise ApiError(400, "Nothing was said yet. Send inputs.")
        tools = [
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
        """The events of a batch of chunks."""
        for chunk in batch:
            if isinstance(chunk, Progress):
                if chunk.stage == "searching" and self._search_at is None:
                    yield self._begin_search()
                continue
            if self._searching:
                yield self._end_search()
            self.usage = chunk.usage or self.usage
            for choice in chunk.choices:
                yield from self._of(choice.delta)

    def end(self) -> Iterator[ConversationEvent]:
        """The events that are left at the end, when the message is whole."""
        if self._message_at is None and not self._called:
            yield self._words("")
        if self._message_at is not None:
            self._change(self._message_at, content=self._text)

    def _of(self, delta: Delta) -> Iterator[ConversationEvent]:
        if delta.sources is not None and self._search_at is not None:
            sources = [source.model_dump(mode="json") for source in delta.sources]
            self._change(self._search_at, info={"sources": sources})
        if isinstance(delta.content, str) and delta.content:
            yield self._words(delta.content)
        for call in delta.tool_calls or ():
            self._called = True
            if successor := self._reachable.get(call.function.name):
                self.successor = self.successor or successor
            else:
                yield self._call(call)

    def _words(self, text: str) -> ConversationEvent:
        if self._message_at is None:
            self._message_at = self._add(MessageOutput(content="", **self._new()))
        self._text += text
        return self._told(
            "message.output.delta",
            self._message_at,
            content=text,
            content_index=0,
            role="assistant",
            **self._by,
        )

    def _call(self, call: ToolCall) -> ConversationEvent:
        function = call.function
        named: dict[str, Any] = {
            "tool_call_id": call.id,
            "name": function.name,
            "arguments": function.arguments,
        }
        at = self._add(FunctionCallEntry(**named, **self._new()))
        return self._told("function.call.delta", at, **named, **self._by)

    def _begin_search(self) -> ConversationEvent:
        self._searching = True
        asked = {"query": last_question(self._messages)}
        named: dict[str, Any] = {
            "name": _LIBRARIES,
            "arguments": json.dumps(asked, ensure_ascii=False),
        }
        self._search_at = self._add(ToolExecutionEntry(**named, **self._new()))
        return self._told("tool.execution.started", self._search_at, **named, **self._by)

    def _end_search(self) -> ConversationEvent:
        assert self._search_at is not None
        self._searching = False
        self._change(self._search_at)
        return self._told("tool.execution.done", self._search_at, name=_LIBRARIES)

    def _new(self) -> dict[str, Any]:
        """The fields of a new entry."""
        return {"id": new_id(), "created_at": datetime.now(UTC), **self._by}

    def _add(self, entry: Entry) -> int:
        now = datetime.now(UTC)
        self._outputs.append(entry.model_copy(update={"completed_at": now}))
        return len(self._outputs) - 1

    def _change(self, at: int, **fields: Any) -> None:
        update = {"completed_at": datetime.now(UTC), **fields}
        self._outputs[at] = self._outputs[at].model_copy(update=update)

    def _told(self, kind: EventType, at: int, **fields: Any) -> ConversationEvent:
        return event(kind, id=self._outputs[at].id, output_index=at, **fields)


def event(kind: EventType, **fields: Any) -> ConversationEvent:
    """An event of now."""
    return ConversationEvent(type=kind, created_at=datetime.now(UTC), **fields)
