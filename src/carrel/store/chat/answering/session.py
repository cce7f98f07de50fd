"""The open session: its part of the slice, and its answering agent."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from carrel.store.chat.answering.agent import AnsweringAgent
from carrel.store.chat.sessions.saved import ChatSession
from carrel.store.chat.state import ChatState
from carrel.store.core.actions.slice import Slice
from carrel.store.session.service import SessionService

if TYPE_CHECKING:
    from carrel.wire.generation.agents import AgentCreate


class OpenSession:
    """The open session of a chat; `agent` is its answering agent once loaded."""

    def __init__(self, slice: Slice[ChatState], session: SessionService) -> None:
        self.agent: AnsweringAgent | None = None
        self._slice = slice
        self._session = session

    @property
    def library_ids(self) -> tuple[str, ...]:
        """The libraries that the agent searches."""
        return self.agent.library_ids if self.agent else ()

    @property
    def draft(self) -> AgentCreate | None:
        """The unsaved agent that answers, or None."""
        return self.agent.draft if self.agent and self._slice.value.draft else None

    def open(self, session: ChatSession, uploading: int) -> None:
        """Open a session, which has `uploading` uploads under way."""
        draft = session.draft
        self.agent = None if draft is None else AnsweringAgent(draft, active=False)
        model = None if draft is None else draft.model
        state = self._slice.value
        self._slice.put(
            ChatState(
                session_id=session.id,
                agent_id=session.agent_id,
                agent_name=session.agent_name,
                model=model,
                pinned=session.pinned,
                draft=draft is not None,
                parameters=session.parameters,
                comparison=session.comparison,
                context_length=None if model is None else self.context_length(model),
                conversation=session.conversation,
                uploading=uploading,
                sessions=state.sessions,
                search=state.search,
                history=state.history,
            )
        )

    def close(self) -> None:
        """Close the session."""
        self.agent = None
        state = self._slice.value
        self._slice.put(
            ChatState(sessions=state.sessions, search=state.search, history=state.history)
        )

    def snapshot(self) -> ChatSession:
        """Return the session's current state for saving."""
        state = self._slice.value
        return ChatSession(
            state.session_id or "",
            state.agent_id or "",
            state.agent_name,
            time.time(),
            state.conversation,
            state.pinned,
            state.parameters,
            self.draft,
            state.comparison,
        )

    async def current_agent(self) -> AnsweringAgent:
        """Return the agent, loaded again if the active version may have changed."""
        # The active version may have changed, and with it whether the pinned one is active.
        if self.agent is None or self._slice.value.pinned is not None:
            return await self.load_agent()
        return self.agent

    async def load_agent(self) -> AnsweringAgent:
        """Load the answering version: the pinned one, or the active one."""
        state = self._slice.value
        client = await self._session.client()
        agent = active = await client.agents.get(state.agent_id or "")
        if state.pinned is not None and state.pinned != active.version:
            agent = await client.agents.version(active.id, state.pinned)
        self.agent = AnsweringAgent(agent, active=agent is active)
        self._slice.set(
            agent_name=active.name,
            model=agent.model,
            version=agent.version,
            versions=tuple(sorted(active.versions, reverse=True)),
            context_length=self.context_length(state.parameters.model or agent.model),
        )
        return self.agent

    def context_length(self, model: str) -> int | None:
        """Return a model's context length in tokens, or None if the service does not tell."""
        card = self._session.card(model)
        return card.max_context_length if card else None
