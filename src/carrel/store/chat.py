"""Chat: questions to an agent, answers as they are written."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from carrel.store.action import Policy, action
from carrel.store.area import Area
from carrel.store.chats import SavedSessions, Session, SessionSummary, Turn
from carrel.store.loop import OwnerLoop
from carrel.store.problem import Problem, ProblemError
from carrel.store.session import SessionService

if TYPE_CHECKING:
    from carrel.wire.agents import Agent
    from carrel.wire.completions import CompletionChunk, CompletionRequest

UPDATES = 30
"""How often a second the growing answer is put into the slice, at most."""

NO_AGENT = Problem("No agent chosen", "", "Choose the agent to chat with first.")

Phase = Literal["idle", "connecting", "loading", "searching", "writing"]


@dataclass(frozen=True, slots=True)
class ChatState:
    """The open session.

    `phase` tells what is waited for: the connection, the model ("loading"), the search in the
    agent's libraries, or nothing while the answer is written. `started` is when the question was
    sent (seconds since 1970), `context_length` how many tokens the model can take.
    """

    session_id: str | None = None
    agent_id: str | None = None
    agent_name: str = ""
    model: str | None = None
    version: int | None = None
    turns: tuple[Turn, ...] = ()
    phase: Phase = "idle"
    started: float | None = None
    sessions: tuple[SessionSummary, ...] = ()
    context_length: int | None = None
    loading: bool = False
    error: Problem | None = None


class ChatService(Area[ChatState]):
    def __init__(self, loop: OwnerLoop, session: SessionService) -> None:
        super().__init__(loop, ChatState(), session)
        self._agent: Agent | None = None

    @action(Policy.LATEST)
    async def load_sessions(self) -> None:
        """Loads the list of saved sessions."""
        self.slice.set(sessions=await asyncio.to_thread(self._saved().summaries))

    @action(Policy.LATEST, lane="open")
    async def new(self, agent_id: str) -> None:
        """Begins a session with an agent. It is saved with its first question."""
        await self._end_answer()
        self._open(Session(uuid.uuid4().hex, agent_id, "", time.time(), ()))
        with self._loading():
            await self._load_agent(agent_id)

    @action(Policy.LATEST, lane="open")
    async def resume(self, session_id: str) -> None:
        """Opens a saved session, to read it and to go on."""
        await self._end_answer()
        with self._loading():
            try:
                session = await asyncio.to_thread(self._saved().load, session_id)
            except (OSError, ValueError):
                raise ProblemError(
                    Problem("This session cannot be opened", "Its file is missing or damaged.")
                ) from None
            self._open(session)
            await self._load_agent(session.agent_id)

    @action(Policy.QUEUE)
    async def delete_session(self, session_id: str) -> None:
        """Deletes a saved session; when it is the open one, nothing is open then."""
        if session_id == self.slice.value.session_id:
            await self._end_answer()
            self.slice.put(ChatState(sessions=self.slice.value.sessions))
        await asyncio.to_thread(self._saved().delete, session_id)
        await self.load_sessions()

    @action(Policy.SINGLE)
    async def send(self, text: str) -> None:
        """Sends a question; the answer grows in the slice."""
        state = self.slice.value
        if state.agent_id is None:
            raise ProblemError(NO_AGENT)
        question = Turn("user", text)
        await self._answer((*state.turns, question))

    @action(Policy.SINGLE, lane="send")
    async def retry(self) -> None:
        """Has the last question answered again, in place of its answer."""
        turns = self.slice.value.turns
        if turns and turns[-1].role == "assistant":
            turns = turns[:-1]
        if self.slice.value.agent_id is None or not turns:
            raise ProblemError(NO_AGENT)
        await self._answer(turns)

    @action(Policy.QUEUE)
    async def stop(self) -> None:
        """Stops the answer. What is written of it stays."""
        self._lane("send").cancel()

    async def _answer(self, turns: tuple[Turn, ...]) -> None:
        """Streams an answer to the last of `turns`."""
        answer = _Answer(self._grown, self._agent)
        self.slice.set(
            turns=(*turns, answer.turn), phase="connecting", started=time.time(), error=None
        )
        status: Literal["done", "stopped", "failed"] = "failed"
        try:
            await self._save()
            client = await self._session.client()
            self.slice.set(phase="searching" if _searches(self._agent) else "loading")
            async with client.completions.stream(self._request(turns)) as chunks:
                async for chunk in chunks:
                    answer.take(chunk)
            status = "done"
        except asyncio.CancelledError:
            status = "stopped"
            raise
        finally:
            answer.end(status)
            self.slice.set(phase="idle", started=None)
            # Shielded: a stopped answer is saved too.
            await asyncio.shield(asyncio.ensure_future(self._save()))

    def _grown(self, turn: Turn) -> None:
        """Puts the answer as it is now into the slice."""
        state = self.slice.value
        phase: Phase = "writing" if turn.text and turn.status == "writing" else state.phase
        version = state.version if turn.version is None else turn.version
        self.slice.set(turns=(*state.turns[:-1], turn), phase=phase, version=version)

    def _request(self, turns: tuple[Turn, ...]) -> CompletionRequest:
        from carrel.wire.completions import AssistantMessage, CompletionRequest, UserMessage

        return CompletionRequest(
            agent_id=self.slice.value.agent_id or "",
            messages=[
                UserMessage(content=turn.text)
                if turn.role == "user"
                else AssistantMessage(content=turn.text)
                for turn in turns
                # An answer that never began says nothing.
                if turn.text
            ],
        )

    def _open(self, session: Session) -> None:
        self._agent = None
        self.slice.put(
            ChatState(
                session_id=session.id,
                agent_id=session.agent_id,
                agent_name=session.agent_name,
                turns=session.turns,
                sessions=self.slice.value.sessions,
            )
        )

    async def _load_agent(self, agent_id: str) -> None:
        client = await self._session.client()
        agent = self._agent = await client.agents.get(agent_id)
        card = self._session.card(agent.model)
        self.slice.set(
            agent_name=agent.name,
            model=agent.model,
            version=agent.version,
            context_length=card.max_context_length if card else None,
        )

    async def _end_answer(self) -> None:
        """Stops the answer and waits until its last word is in the slice."""
        await asyncio.gather(*self._lane("send").cancel(), return_exceptions=True)

    async def _save(self) -> None:
        state = self.slice.value
        if state.session_id is None or state.agent_id is None:
            return
        session = Session(
            state.session_id, state.agent_id, state.agent_name, time.time(), state.turns
        )
        await asyncio.to_thread(self._saved().save, session)
        others = (other for other in state.sessions if other.id != session.id)
        self.slice.set(sessions=(session.summary(), *others))

    def _saved(self) -> SavedSessions:
        from carrel.config import folders

        return SavedSessions(folders().state, self._session.slice.value.profile)


class _Answer:
    """An answer while it is written: gathers chunks and shows them a few times a second."""

    def __init__(self, show: Callable[[Turn], None], agent: Agent | None) -> None:
        self.turn = Turn("assistant", "", "writing", version=agent.version if agent else None)
        self._show = show
        self._parts: list[str] = []
        self._began = time.monotonic()
        self._first: float | None = None
        self._last = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0

    def take(self, chunk: CompletionChunk) -> None:
        """Takes in one chunk."""
        for choice in chunk.choices[:1]:
            if text := _text_of(choice.delta.content):
                self._last = time.monotonic()
                self._first = self._first or self._last
                self._parts.append(text)
            if choice.delta.sources:
                self.turn = replace(self.turn, sources=tuple(choice.delta.sources))
        if chunk.usage is not None:
            self.turn = replace(
                self.turn,
                prompt_tokens=chunk.usage.prompt_tokens,
                completion_tokens=chunk.usage.completion_tokens,
            )
        if chunk.agent_version is not None:
            self.turn = replace(self.turn, version=chunk.agent_version)
        self._show_soon()

    def end(self, status: Literal["done", "stopped", "failed"]) -> None:
        """Shows it for the last time."""
        if self._timer is not None:
            self._timer.cancel()
        self.turn = replace(self.turn, status=status)
        self._show_now()

    def _show_soon(self) -> None:
        if self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        if loop.time() >= self._next:
            self._show_now()
        else:
            self._timer = loop.call_at(self._next, self._show_now)

    def _show_now(self) -> None:
        self._timer = None
        self._next = asyncio.get_running_loop().time() + 1 / UPDATES
        # What the service counted, or one token a fragment as long as it has not counted.
        tokens = self.turn.completion_tokens or len(self._parts)
        writing = self._last - self._first if self._first is not None else 0.0
        self.turn = replace(
            self.turn,
            text="".join(self._parts),
            first_token=None if self._first is None else self._first - self._began,
            rate=(tokens - 1) / writing if writing > 0 and tokens > 1 else None,
        )
        self._show(self.turn)


def _text_of(content: object) -> str:
    """The text of a fragment, which may be plain or a list of chunks."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if part.get("type") == "text")
    return content if isinstance(content, str) else ""


def _searches(agent: Agent | None) -> bool:
    return agent is not None and any(tool.get("type") == "document_library" for tool in agent.tools)
