"""The list of saved sessions, and saving of the open session, here and at the service."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from carrel.store.chat.compared import Comparison
from carrel.store.chat.sessions.remote_chats import RemoteChats, every_comparison
from carrel.store.chat.sessions.saved import ChatSession, SavedSessions, SessionSummary
from carrel.store.chat.state import ChatState
from carrel.store.core.actions.slice import Slice

if TYPE_CHECKING:
    from carrel.client import Client

HISTORY = 200
"""Number of questions in the prompt's history."""


class SessionList:
    """The saved sessions of one profile, here and at the service, as the slice lists them.

    With `keeps` false nothing is saved.
    """

    def __init__(
        self, slice: Slice[ChatState], saved: SavedSessions, remote: RemoteChats, *, keeps: bool
    ) -> None:
        self.remote = remote
        self._slice = slice
        self._saved = saved
        self._keeps = keeps

    async def load(self) -> None:
        """Remove sessions whose time in the trash is over, and list the others."""
        await asyncio.to_thread(self._saved.remove_old)
        await self.refresh()

    async def load_file(self, session_id: str) -> ChatSession | None:
        """Load a local session, or None if its file is missing or damaged."""
        with contextlib.suppress(OSError, ValueError):
            return await asyncio.to_thread(self._saved.load, session_id)
        return None

    async def comparisons(self, client: Client | None) -> tuple[Comparison, ...]:
        """Return the comparisons of all chats; only local ones without a client."""
        return await every_comparison(self._saved, client)

    def is_kept_remotely(self, session: ChatSession) -> bool:
        """Return whether the service keeps a session; a session with a draft stays local."""
        return bool(self._keeps and session.id and session.agent_id and session.draft is None)

    async def save(self, session: ChatSession) -> None:
        """Save a session on this machine, and put it first in the list."""
        if not (self._keeps and session.id and (session.agent_id or session.draft is not None)):
            return
        if await asyncio.to_thread(self._saved.save, session):
            itself = {session.id, *session.beside}
            others = (other for other in self._slice.value.sessions if other.id not in itself)
            self._slice.set(sessions=(session.summary(), *others))

    async def delete(self, session_id: str) -> None:
        """Delete a session and the sessions compared to it, here and at the service."""
        for id in (*await self._copy_here(session_id), session_id):
            await self._copy_here(id)
            await self.remote.delete(id)
            # Before the answer ends, so that its late save is ignored.
            await asyncio.to_thread(self._saved.delete, id)

    async def _copy_here(self, session_id: str) -> tuple[str, ...]:
        """Copy a session of the service to this machine, so that its deletion can be undone.

        Returns the ids of the sessions compared to it.
        """
        session = await self.load_file(session_id)
        if session is None:
            session = await self.remote.read(session_id)
            if session is None:
                return ()
            await asyncio.to_thread(self._saved.save, session)
        return session.beside

    async def restore(self, session_id: str) -> None:
        """Restore a session, and the sessions compared to it, from the trash, here and at the
        service."""
        await self._restore(session_id)
        session = await self.load_file(session_id)
        for id in session.beside if session is not None else ():
            await self._restore(id)

    async def _restore(self, session_id: str) -> None:
        # A session of another machine, or without a question, was never saved here.
        with contextlib.suppress(FileNotFoundError):
            await asyncio.to_thread(self._saved.restore, session_id)
        await self.remote.restore(session_id)

    async def refresh(self) -> None:
        """List the sessions again from this machine and the last known list of the service."""
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
        asked += [turn.text for turn in self._slice.value.conversation.said if turn.role == "user"]
        history = tuple(reversed(dict.fromkeys(reversed(asked))))[-HISTORY:]
        listed = sorted(self._merge(found), key=lambda one: one.updated, reverse=True)
        self._slice.set(sessions=tuple(listed), history=history)

    def _merge(self, found: Sequence[ChatSession]) -> Iterator[SessionSummary]:
        """Yield the local sessions and the service's, without duplicates.

        The sessions of a comparison are listed as its first.
        """
        search = self._slice.value.search
        there = dict(self.remote.listed or {})
        beside = {id for session in found for id in session.beside}
        beside.update(id for one in there.values() for id in one.beside)
        if (open_here := self._slice.value.comparison) is not None:
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
