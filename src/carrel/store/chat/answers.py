"""Answers the last question: chooses the agent, builds the request, streams the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from carrel.store.chat import attachments
from carrel.store.chat.asked import Asked
from carrel.store.chat.conversation import Attachment, Conversation, Turn
from carrel.store.chat.growing_answer import GrowingAnswer
from carrel.store.chat.kept import KeptChats
from carrel.store.chat.messages import messages
from carrel.store.chat.next_question import NextQuestion
from carrel.store.chat.parameters import Parameters
from carrel.store.chat.sessions import SavedSessions
from carrel.store.chat.state import Phase
from carrel.store.core.loop import OwnerLoop
from carrel.store.core.problem import ProblemError
from carrel.store.files.service import FilesService
from carrel.store.session.service import SessionService
from carrel.store.tools.loop import Tools, answer_with_tools
from carrel.store.tools.service import ToolsService
from carrel.store.tools.state import AgentCall
from carrel.store.tools.words import PAUSED

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.completions import CompletionRequest, Progress


class Answers(NextQuestion):
    """Streams answers into the open session; tools are called as agents ask for it."""

    def __init__(
        self,
        loop: OwnerLoop,
        session: SessionService,
        files: FilesService,
        tools: ToolsService,
        saved: SavedSessions,
        kept: KeptChats,
        *,
        keeps: bool,
    ) -> None:
        super().__init__(loop, session, files, saved, kept, keeps=keeps)
        self._tools = tools

    def _answer(self, conversation: Conversation) -> Coroutine[Any, Any, None]:
        """Answers the last turn, with the parameters that are set when this is called."""
        return self._answer_with(conversation, self.slice.value.parameters)

    async def _answer_with(self, conversation: Conversation, parameters: Parameters) -> None:
        """Answers the last turn, and continues while tools answer the calls."""
        tools = self._tools.of_question(parameters.tools)

        async def ask(step: int) -> Sequence[AgentCall]:
            now = conversation if step == 1 else self.slice.value.conversation
            await self._write(now, parameters, tools, step)
            calls = self.slice.value.conversation.open_calls()
            if calls:
                self.slice.set(phase="calling")
            return calls

        try:
            if await answer_with_tools(ask, tools, self._answered) == "limit":
                raise ProblemError(PAUSED)
        finally:
            self.slice.set(phase="idle", started=None, asked=0)
            # Shielded: a stopped answer is saved too.
            await asyncio.shield(asyncio.ensure_future(self._save()))
            self._keep_open()

    def _answered(self, call: AgentCall, result: str) -> None:
        turn = Turn("tool", result, call_id=call.id)
        self.slice.set(conversation=self.slice.value.conversation.add(turn))

    async def _write(
        self, conversation: Conversation, parameters: Parameters, tools: Tools, step: int
    ) -> None:
        """Streams an answer to the last turn."""
        state = self.slice.value
        begun = Turn("assistant", "", "writing", version=state.version)
        answer = GrowingAnswer(self._grown, begun)
        self.slice.set(
            conversation=conversation.add(begun),
            phase="connecting",
            step=None,
            asked=step,
            started=time.time(),
            error=None,
        )
        from carrel.client.errors import Unreachable

        status: Literal["done", "stopped", "failed", "lost"] = "failed"
        try:
            await self._save()
            client = await self._session.client()
            asked = await self._who_is_asked()
            answer.trial = asked.needs_trial(parameters)
            if answer.trial:
                self._check_allowed()
            answer.turn = replace(
                answer.turn, version=asked.version, searches=bool(asked.library_ids)
            )
            await self._find_mentions(client)
            request = await self._request(client, asked, parameters, tools)
            self.slice.set(phase="waiting")
            async with asked.answering(client, parameters) as agent_id:
                request = request.model_copy(update={"agent_id": agent_id})
                async with client.completions.stream(request, self._stepped) as chunks:
                    async for chunk in chunks:
                        answer.take(chunk)
            status = "done"
        except asyncio.CancelledError:
            status = "stopped"
            raise
        except Unreachable:
            status = "lost"
            raise
        finally:
            answer.end(status)

    def _stepped(self, progress: Progress) -> None:
        """Shows the service's step before the first word."""
        self.slice.set(step=progress)

    def _grown(self, turn: Turn) -> None:
        """Writes the growing answer to the slice."""
        state = self.slice.value
        phase: Phase = "writing" if turn.text and turn.status == "writing" else state.phase
        version = state.version if turn.version is None else turn.version
        conversation = state.conversation.with_turn(-1, turn)
        self.slice.set(conversation=conversation, phase=phase, version=version)

    async def _find_mentions(self, client: Client) -> None:
        """Attaches files and documents that the last question mentions."""
        turns = self.slice.value.turns
        question = turns[-2]
        if question.role != "user":
            return
        found = list(question.attachments)
        for name in attachments.mentions(question.text):
            self.slice.set(phase="attaching")
            if any(one.name == name for one in found):
                continue
            path = attachments.local_path(name)
            if path is not None:
                self._check_allowed()
                file = await client.files.upload(path)
                found.append(Attachment("file", file.id, file.filename))
            elif one := await attachments.named(client, name, self._library_ids()):
                found.append(one)
        question = replace(question, attachments=tuple(dict.fromkeys(found)))
        self.slice.set(conversation=self.slice.value.conversation.with_turn(-2, question))

    async def _request(
        self, client: Client, asked: Asked, parameters: Parameters, tools: Tools
    ) -> CompletionRequest:
        from carrel.wire.completions import CompletionRequest

        state = self.slice.value
        *before, _ = state.turns
        # An agent that must call a function every time would never answer.
        has_called = asked.must_call and before[-1].role == "tool"
        return CompletionRequest(
            agent_id="",
            messages=await messages(client, before),
            tools=await tools.offered(asked.functions) or None,
            tool_choice="auto" if has_called else None,
            **parameters.request(),
        )

    async def _who_is_asked(self) -> Asked:
        # The active version may have changed, and with it whether the pinned one is active.
        if self._asked is None or self.slice.value.pinned is not None:
            return await self._load_agent()
        return self._asked

    async def _load_agent(self) -> Asked:
        """Loads the version that answers: the pinned one, or the active one."""
        state = self.slice.value
        client = await self._session.client()
        agent = active = await client.agents.get(state.agent_id or "")
        if state.pinned is not None and state.pinned != active.version:
            agent = await client.agents.version(active.id, state.pinned)
        self._asked = Asked(agent, active=agent is active)
        self.slice.set(
            agent_name=active.name,
            model=agent.model,
            version=agent.version,
            versions=tuple(sorted(active.versions, reverse=True)),
            context_length=self._context(state.parameters.model or agent.model),
        )
        return self._asked

    def _context(self, model: str) -> int | None:
        card = self._session.card(model)
        return card.max_context_length if card else None
