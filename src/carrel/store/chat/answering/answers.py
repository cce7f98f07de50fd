"""Answers the last question: chooses the agent, builds the request, streams the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from carrel.client.http.errors import ServiceError, Unreachable
from carrel.store.chat.answering import attachments
from carrel.store.chat.answering.agent import AnsweringAgent
from carrel.store.chat.answering.attachments import chunk
from carrel.store.chat.answering.growing_answer import GrowingAnswer
from carrel.store.chat.answering.session import OpenSession
from carrel.store.chat.conversation import Attachment, Conversation, Turn
from carrel.store.chat.formatting import without_citations
from carrel.store.chat.parameters import Parameters
from carrel.store.chat.state import ChatState, Phase
from carrel.store.core.actions.slice import Slice
from carrel.store.core.formatting import one_line
from carrel.store.core.problem import ProblemError
from carrel.store.session.service import SessionService
from carrel.store.tools.formatting import PAUSED
from carrel.store.tools.loop import Tools, answer_with_tools
from carrel.store.tools.service import ToolsService
from carrel.store.tools.state import AgentCall

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.generation.completions import CompletionRequest, Message

SAVED = 2.0
"""Seconds between two saves of a growing answer: what a kill may take of it."""


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


class Answers:
    """Streams answers into the open session; tools are called as agents ask for it."""

    def __init__(
        self,
        slice: Slice[ChatState],
        session: SessionService,
        current: OpenSession,
        tools: ToolsService,
        save: Callable[[], Awaitable[None]],
    ) -> None:
        self._slice = slice
        self._session = session
        self._current = current
        self._tools = tools
        self._save = save

    async def answer(self, conversation: Conversation, parameters: Parameters) -> None:
        """Answer the last turn, and continue while tools answer the calls."""
        tools = self._tools.of_question(parameters.tools, lambda: self._slice.value.session_id)

        async def ask(step: int) -> Sequence[AgentCall]:
            now = conversation if step == 1 else self._slice.value.conversation
            await self._write(now, parameters, tools, step)
            calls = self._slice.value.conversation.open_calls()
            if calls:
                self._slice.set(phase="calling")
            return calls

        try:
            if await answer_with_tools(ask, tools, self._add_result) == "limit":
                raise ProblemError(PAUSED)
        finally:
            self._slice.set(phase="idle", started=None, asked=0)

    def _add_result(self, call: AgentCall, result: str) -> None:
        turn = Turn("tool", result, call_id=call.id)
        self._slice.set(conversation=self._slice.value.conversation.add(turn))

    async def _write(
        self, conversation: Conversation, parameters: Parameters, tools: Tools, step: int
    ) -> None:
        """Stream an answer to the last turn."""
        state = self._slice.value
        begun = Turn("assistant", "", "writing", version=state.version)
        answer = GrowingAnswer(self._show_growth, begun)
        self._slice.set(
            conversation=conversation.add(begun),
            phase="connecting",
            step=None,
            asked=step,
            started=time.time(),
            error=None,
        )
        status: Literal["done", "stopped", "failed", "lost"] = "failed"
        try:
            # A kill from now on leaves the question and an answer marked as broken off.
            await self._save()
            client = await self._session.client()
            asked = await self._current.current_agent()
            answer.trial = asked.needs_trial(parameters)
            if answer.trial:
                self._session.check_allowed()
            answer.turn = replace(
                answer.turn, version=asked.version, searches=bool(asked.library_ids)
            )
            await self._find_mentions(client)
            request = await self._request(client, asked, parameters, tools)
            self._slice.set(phase="waiting")
            async with asked.answering(client, parameters) as agent_id:
                request = request.model_copy(update={"agent_id": agent_id})
                show_step = lambda step: self._slice.set(step=step)  # noqa: E731
                async with client.completions.stream(request, show_step) as chunks:
                    due = time.monotonic() + SAVED
                    async for chunk in chunks:
                        answer.take(chunk)
                        if time.monotonic() > due:
                            await self._save()
                            due = time.monotonic() + SAVED
            status = "done"
        except asyncio.CancelledError:
            status = "stopped"
            raise
        except Unreachable:
            status = "lost"
            raise
        except ServiceError as error:
            answer.turn = replace(answer.turn, refusal=one_line(str(error)))
            raise
        finally:
            answer.end(status)

    def _show_growth(self, turn: Turn) -> None:
        """Write the growing answer to the slice."""
        state = self._slice.value
        phase: Phase = state.phase
        if turn.status == "writing" and (turn.text or turn.thinking):
            phase = "writing" if turn.text else "thinking"
        version = state.version if turn.version is None else turn.version
        conversation = state.conversation.with_turn(-1, turn)
        self._slice.set(conversation=conversation, phase=phase, version=version)

    async def _find_mentions(self, client: Client) -> None:
        """Attach files and documents that the last question mentions."""
        turns = self._slice.value.turns
        question = turns[-2]
        if question.role != "user":
            return
        found = list(question.attachments)
        for name in attachments.mentions(question.text):
            self._slice.set(phase="attaching")
            if any(one.name == name for one in found):
                continue
            path = attachments.local_path(name)
            if path is not None:
                self._session.check_allowed()
                file = await client.files.upload(path)
                found.append(Attachment("file", file.id, file.filename))
            elif one := await attachments.find_named(client, name, self._current.library_ids):
                found.append(one)
        question = replace(question, attachments=tuple(dict.fromkeys(found)))
        self._slice.set(conversation=self._slice.value.conversation.with_turn(-2, question))

    async def _request(
        self, client: Client, asked: AnsweringAgent, parameters: Parameters, tools: Tools
    ) -> CompletionRequest:
        from carrel.wire.generation.completions import CompletionRequest

        state = self._slice.value
        *before, _ = state.turns
        # An agent that must call a function every time would never answer.
        has_called = asked.must_call and before[-1].role == "tool"
        return CompletionRequest(
            agent_id="",
            messages=await messages(client, before),
            tools=[*await tools.offer(asked.functions)] or None,
            tool_choice="auto" if has_called else None,
            **parameters.request(),
        )
