"""The list of saved sessions, and saving of the open one, here and at the service."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from carrel.store.chat.compared import Comparison
from carrel.store.chat.comparisons import every_comparison
from carrel.store.chat.kept import KeptChats
from carrel.store.chat.sessions import ChatSession, SavedSessions, SessionSummary
from carrel.store.chat.state import ChatState
from carrel.store.core.action import Policy, action
from carrel.store.core.loop import OwnerLoop
from carrel.store.core.problem import ProblemError
from carrel.store.session.area import Area
from carrel.store.session.service import SessionService

if TYPE_CHECKING:
    from carrel.wire.agents import AgentCreate

HISTORY = 200
"""Questions kept in the prompt's history."""


class SessionList(Area[ChatState]):
    """The saved sessions of one profile. With `keeps` false the open one is not saved."""

    def __init__(
        self,
        loop: OwnerLoop,
        session: SessionService,
        saved: SavedSessions,
        kept: KeptChats,
        *,
        keeps: bool,
    ) -> None:
        super().__init__(loop, ChatState(), session)
        self._saved = saved
        self._kept = kept
        self._keeps = keeps

    @action(Policy.JOIN)
    async def load_sessions(self) -> None:
        """Loads the list of saved sessions; those of the service join it when they are known."""
        self.load_kept()
        await asyncio.to_thread(self._saved.remove_old)
        await self._list()

    @action(Policy.JOIN)
    async def load_kept(self) -> None:
        """Loads the list of the sessions that the service keeps, and writes those it lacks."""
        before = self._kept.listed
        await self._kept.load()
        for session in self._kept.take_unwritten():
            self._keep(session)
        if self._kept.listed != before:
            await self.reload()

    @action(Policy.RENEW, lane="load_sessions")
    async def reload(self) -> None:
        """Loads again after a change: does not join a load that began before it."""
        await self._list()

    @action(Policy.LATEST, lane="load_sessions")
    async def search_sessions(self, text: str) -> None:
        """Lists only sessions in which something holds `text`; all for an empty text."""
        self.slice.set(search=text.strip())
        await self._list()

    @action(Policy.JOIN)
    async def comparisons(self) -> tuple[Comparison, ...]:
        """The comparisons of all chats; of this machine alone while the service is out of reach."""
        from carrel.client.errors import Unreachable

        try:
            return await every_comparison(self._saved, await self._session.client())
        except (Unreachable, ProblemError):
            return await every_comparison(self._saved, None)

    async def _list(self) -> None:
        changes = -1
        while changes != self._saved.changes:  # else it would undo a save made meanwhile
            changes = self._saved.changes
            found = await asyncio.to_thread(self._saved.all)
        asked = [
            turn.text
            for session in reversed(found)
            for turn in session.conversation.said
            if turn.role == "user"
        ]
        asked += [turn.text for turn in self.slice.value.conversation.said if turn.role == "user"]
        history = tuple(reversed(dict.fromkeys(reversed(asked))))[-HISTORY:]
        listed = sorted(self._listed(found), key=lambda one: one.updated, reverse=True)
        self.slice.set(sessions=tuple(listed), history=history)

    def _listed(self, found: Sequence[ChatSession]) -> Iterator[SessionSummary]:
        """The sessions of this machine and those of the service, once each.

        The chats of a comparison are listed as the first of them.
        """
        search = self.slice.value.search
        there = dict(self._kept.listed or {})
        beside = {id for session in found for id in session.beside}
        beside.update(id for one in there.values() for id in one.beside)
        if (open_here := self.slice.value.comparison) is not None:
            beside.update(open_here.beside)
        found = [session for session in found if session.id not in beside]
        there = {id: one for id, one in there.items() if id not in beside}
        for session in found:
            summary = session.summary()
            if (kept := there.pop(session.id, None)) and kept.updated > summary.updated:
                summary = replace(summary, updated=kept.updated)
            if not search or session.matches(search):
                yield summary
        yield from (one for one in there.values() if not search or one.matches(search))

    def _save(self) -> Coroutine[Any, Any, None]:
        """Saves the open session as it is now."""
        session = self._session_now()
        if self._keeps and session.id and (session.agent_id or session.draft is not None):
            return self._write_file(session)
        return asyncio.sleep(0)

    def _keep_open(self) -> None:
        """Begins to write the open session to the service; one with a draft stays here."""
        session = self._session_now()
        if self._keeps and session.id and session.agent_id and session.draft is None:
            self._keep(session)

    @action(Policy.QUEUE)
    async def _keep(self, session: ChatSession) -> None:
        """Writes a session to the service; what was said elsewhere meanwhile is a variant."""
        turns = await self._kept.keep(session)
        state = self.slice.value
        if turns and state.session_id == session.id:
            joined = replace(state.conversation.joined(turns), last=state.conversation.last)
            if joined != state.conversation:
                self.slice.set(conversation=joined)
                await self._save()

    async def _write_file(self, session: ChatSession) -> None:
        if await asyncio.to_thread(self._saved.save, session):
            itself = {session.id, *session.beside}
            others = (other for other in self.slice.value.sessions if other.id not in itself)
            self.slice.set(sessions=(session.summary(), *others))

    def _session_now(self) -> ChatSession:
        state = self.slice.value
        return ChatSession(
            state.session_id or "",
            state.agent_id or "",
            state.agent_name,
            time.time(),
            state.conversation,
            state.pinned,
            state.parameters,
            self._draft(),
            state.comparison,
        )

    def _draft(self) -> AgentCreate | None:
        """The agent that answers, where it is not saved."""
        raise NotImplementedError
