"""Chats saved as conversations of the service, for other faces and machines."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from carrel.client.http.errors import ClientError, NotFound, ServiceError, Unreachable
from carrel.store.cache.last_seen import LastSeen
from carrel.store.chat.compared import Comparison
from carrel.store.chat.conversation import Conversation, Turn
from carrel.store.chat.parameters import AGENTS_OWN, Parameters
from carrel.store.chat.sessions.entries import entries_of, turns_of
from carrel.store.chat.sessions.saved import ChatSession, SavedSessions, SessionSummary
from carrel.store.core.problem import ProblemError
from carrel.store.session.service import SessionService

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.generation.conversations import Conversation as Record
    from carrel.wire.generation.conversations import ConversationHistory

logger = logging.getLogger(__name__)

MOST = 500
"""Most conversations in the list."""
TRIES = 3
"""Number of tries to write a chat that others change meanwhile."""
_CHANGED = 409
"""The status of a write to a chat that was changed elsewhere meanwhile."""
_LATER = (429, 500, 502, 503, 504)
"""Status codes after which a later write of a chat may succeed."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A conversation as read; `ends` has the number of entries up to each turn's end."""

    record: Record
    turns: tuple[Turn, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, record: Record, history: ConversationHistory) -> _Kept:
        found = turns_of(history.entries)
        return cls(record, tuple(turn for turn, _ in found), tuple(end for _, end in found))

    def session(self) -> ChatSession:
        about = self.record
        metadata = about.metadata or {}
        parameters = metadata.get("parameters")
        try:
            chosen = Parameters.of(parameters) if isinstance(parameters, dict) else AGENTS_OWN
        except ValueError:
            chosen = AGENTS_OWN
        return ChatSession(
            about.id,
            about.agent_id or "",
            str(metadata.get("agent_name") or ""),
            about.updated_at.timestamp(),
            Conversation.of(*self.turns),
            about.agent_version if isinstance(about.agent_version, int) else None,
            chosen,
            comparison=comparison_of(metadata),
        )


class RemoteChats:
    """The chats of one profile that the service stores.

    A service without conversations stores none; one that refuses ours still lists its own. Every
    chat is stored locally too, so nothing depends on the service's copy.
    """

    def __init__(self, session: SessionService, last_seen: LastSeen) -> None:
        self._session = session
        self._last_seen = last_seen
        self._tried: set[str] = set()
        """Ids of chats whose write was sent, even if its answer was lost."""
        self._deleted: set[str] = set()
        # One call at a time: a write under way would bring back a chat that is being deleted.
        self._changing = asyncio.Lock()
        self._takes = True
        self._unwritten: dict[str, ChatSession] = {}
        """Chats whose last write did not reach the service, by id."""
        self.listed: dict[str, SessionSummary] | None = None
        """Listed chats with an agent, by id; None until the service is known to have conversations.
        """

    async def load(self) -> None:
        """List the chats again; an unreachable service leaves the list unchanged."""
        from carrel.wire.generation.conversations import Conversation as Record

        deleted_before = frozenset(self._deleted)
        try:
            seen = await self._last_seen.ask("chats", list[Record], with_agents)
        except (Unreachable, ProblemError):
            return
        except ClientError as error:
            logger.info("the service has no conversations: %s", error)
            self.listed = None
            return
        listed = {record.id: _summary(record) for record in seen.value}
        # Chats deleted since the list was requested; a copy may be older than any deletion.
        for id in self._deleted - (deleted_before if seen.as_of is None else set()):
            listed.pop(id, None)
        self.listed, self._takes = listed, True

    async def read(self, session_id: str) -> ChatSession | None:
        """Return a chat from the service, or its cached copy.

        Returns None if the service has no such chat.
        """
        from carrel.wire.generation.conversations import Conversation as Record
        from carrel.wire.generation.conversations import ConversationHistory

        if self.listed is None:
            return None
        try:
            seen = await self._last_seen.ask(
                f"chat {session_id}",
                tuple[Record, ConversationHistory],
                lambda client: _load_whole(client, session_id),
            )
        except NotFound:
            return None
        except (ClientError, ProblemError) as error:
            logger.info("a chat was not read from the service: %s", error)
            return None
        return _Kept.of(*seen.value).session()

    async def keep(self, session: ChatSession) -> tuple[Turn, ...]:
        """Write a chat's shown path; return the turns that the service had before.

        If the service is unreachable or busy, the next listing writes it.
        """
        for _ in range(TRIES):
            if not self._takes or self._session.slice.value.read_only:
                return ()
            if self.listed is None:
                self._unwritten[session.id] = session
                return ()
            try:
                async with self._changing:
                    had = await self._write(session)
                    self._unwritten.pop(session.id, None)
                    return had
            except (ClientError, ProblemError) as error:
                status = error.status if isinstance(error, ServiceError) else None
                if status == _CHANGED:
                    continue
                logger.info("a chat was not written to the service: %s", error)
                if isinstance(error, Unreachable | ProblemError) or status in _LATER:
                    self._unwritten[session.id] = session
                # Writing is an extension: a service without it refuses once and is not asked again.
                self._takes = status not in (404, 405, 501)
                return ()
        return ()

    def take_unwritten(self) -> tuple[ChatSession, ...]:
        """Return the unwritten chats, to write them again.

        Empty until the service is known to have conversations.
        """
        if self.listed is None:
            return ()
        waiting, self._unwritten = self._unwritten, {}
        return tuple(one for one in waiting.values() if one.id not in self._deleted)

    async def delete(self, session_id: str) -> None:
        """Delete a chat at the service; a missing one counts as deleted.

        Raises:
            ProblemError: the profile is read-only, so that the chat would reappear.
            ClientError: the service did not delete it.
        """
        if self.listed is None:
            await self.load()
        known = session_id in self._tried | (self.listed or {}).keys()
        if known:
            self._session.check_allowed()
        self._deleted.add(session_id)
        if not known:
            return
        try:
            async with self._changing:
                client = await self._session.client()
                await client.conversations.delete(session_id)
        except NotFound:
            pass
        except BaseException:
            self._deleted.discard(session_id)
            raise
        if self.listed is not None:
            self.listed.pop(session_id, None)

    async def restore(self, session_id: str) -> None:
        """Restore a chat from the service's trash.

        If that fails, the chat is written again with its next answer.
        """
        self._deleted.discard(session_id)
        state = self._session.slice.value
        if self.listed is None or state.read_only or state.trash_days is None:
            return
        try:
            async with self._changing:
                client = await self._session.client()
                await client.trash.restore(session_id)
                record = await client.conversations.get(session_id)
        except (ClientError, ProblemError) as error:
            logger.info("a chat was not restored at the service: %s", error)
            return
        if self.listed is not None:
            self.listed[session_id] = _summary(record)

    async def _read(self, session_id: str) -> _Kept | None:
        if self.listed is None:
            return None
        try:
            return _Kept.of(*await _load_whole(await self._session.client(), session_id))
        except NotFound:
            return None

    async def _write(self, session: ChatSession) -> tuple[Turn, ...]:
        from carrel.wire.generation.conversations import ConversationWrite

        before = await self._read(session.id)
        turns = session.conversation.turns
        had = before.turns if before is not None else ()
        same = 0
        while same < min(len(had), len(turns)) and had[same].says(turns[same]):
            same += 1
        metadata = {
            **((before.record.metadata or {}) if before is not None else {}),
            "agent_name": session.agent_name,
            "parameters": asdict(session.parameters),
            "turns": len(turns),
            "comparison": asdict(session.comparison) if session.comparison else None,
        }
        written = ConversationWrite(
            agent_id=session.agent_id,
            agent_version=session.pinned,
            name=session.title,
            metadata=metadata,
            entries=entries_of(turns[same:]),
            keep=before.ends[same - 1] if before is not None and same else 0,
            updated_at=before.record.updated_at if before is not None else None,
        )
        client = await self._session.client()
        if session.id in self._deleted:
            return ()
        self._tried.add(session.id)
        record = await client.conversations.write(session.id, written)
        if self.listed is not None:
            self.listed[record.id] = _summary(record)
        return had


async def with_agents(client: Client) -> list[Record]:
    """Return at most MOST conversations that are chats with an agent."""
    records: list[Record] = []
    async for record in client.conversations.every():
        if record.agent_id:
            records.append(record)
        if len(records) == MOST:
            break
    return records


async def _load_whole(client: Client, id: str) -> tuple[Record, ConversationHistory]:
    return await client.conversations.get(id), await client.conversations.history(id)


def _summary(record: Record) -> SessionSummary:
    metadata = record.metadata or {}
    turns = metadata.get("turns")
    return SessionSummary(
        record.id,
        " ".join((record.name or "").split()),
        record.agent_id or "",
        str(metadata.get("agent_name") or ""),
        record.updated_at.timestamp(),
        turns if isinstance(turns, int) else 0,
        comparison.beside if (comparison := comparison_of(metadata)) else (),
    )


def comparison_of(metadata: Mapping[str, Any]) -> Comparison | None:
    """Return the comparison in a conversation's metadata, or None if it is missing or invalid."""
    try:
        return Comparison.of(metadata.get("comparison"))
    except ValueError:
        return None


async def every_comparison(saved: SavedSessions, client: Client | None) -> tuple[Comparison, ...]:
    """Return the newest state of each comparison; only local ones without a client."""
    found = {
        session.id: (session.updated, session.comparison)
        for session in await asyncio.to_thread(saved.all)
        if session.comparison is not None
    }
    for id, kept in (await _load_remote(client) if client is not None else {}).items():
        if id not in found or found[id][0] < kept[0]:
            found[id] = kept
    return tuple(comparison for _, comparison in found.values())


async def _load_remote(client: Client) -> dict[str, tuple[float, Comparison]]:
    try:
        records = await with_agents(client)
    except ServiceError as error:
        if error.status not in (404, 405, 501):
            raise
        return {}  # a service without conversations
    named = ((record, comparison_of(record.metadata or {})) for record in records)
    return {one.id: (one.updated_at.timestamp(), found) for one, found in named if found}
