"""The list of saved chats, and the open one kept among them."""

from __future__ import annotations

import asyncio
import time

from carrel.store.action import Policy, action
from carrel.store.area import Area
from carrel.store.chat_state import ChatState
from carrel.store.chats import SavedSessions, Session
from carrel.store.loop import OwnerLoop
from carrel.store.session import SessionService

HISTORY = 200
"""Questions that are remembered to be asked again."""


class KeptChats(Area[ChatState]):
    """What is on disk of the chats of one profile. With `keeps` false the open one is not kept."""

    def __init__(self, loop: OwnerLoop, session: SessionService, *, keeps: bool) -> None:
        super().__init__(loop, ChatState(), session)
        self._keeps = keeps

    @action(Policy.LATEST)
    async def load_sessions(self) -> None:
        """Loads the list of saved sessions."""
        await self._list()

    @action(Policy.LATEST, lane="load_sessions")
    async def search_sessions(self, text: str) -> None:
        """Lists only sessions in which something holds `text`; all for an empty text."""
        self.slice.set(search=text.strip())
        await self._list()

    async def _list(self) -> None:
        found = await asyncio.to_thread(self._saved().all)
        asked = [
            turn.text
            for session in reversed(found)
            for turn in session.conversation.said
            if turn.role == "user"
        ]
        search = self.slice.value.search
        listed = (one.summary() for one in found if not search or one.matches(search))
        history = tuple(reversed(dict.fromkeys(reversed(asked))))[-HISTORY:]
        self.slice.set(sessions=tuple(listed), history=history)

    async def _save(self) -> None:
        state = self.slice.value
        if not self._keeps or state.session_id is None or state.agent_id is None:
            return
        session = self._session_now()
        await asyncio.to_thread(self._saved().save, session)
        others = (other for other in self.slice.value.sessions if other.id != session.id)
        self.slice.set(sessions=(session.summary(), *others))

    def _session_now(self) -> Session:
        state = self.slice.value
        return Session(
            state.session_id or "",
            state.agent_id or "",
            state.agent_name,
            time.time(),
            state.conversation,
            state.pinned,
            state.parameters,
        )

    def _saved(self) -> SavedSessions:
        from carrel.config import folders

        return SavedSessions(folders().state, self._session.slice.value.profile)
