"""Finds files, documents, agents, versions and chats by a part of their name."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from carrel.store.chat.service import ChatService
from carrel.store.core.actions.action import Policy, Service, action
from carrel.store.core.problem import Problem
from carrel.store.shared import Area, Shared

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.libraries import Library

SHOWN = 8
"""Most results per kind."""
LIBRARIES = 100
"""Most libraries that are searched for documents."""
AT_ONCE = 4
"""Number of libraries searched concurrently."""

_VERSION = re.compile(r"(?P<name>.*?)\s*\bv(?P<number>\d*)$")


FoundKind = Literal["file", "document", "agent", "version", "chat"]
KINDS: tuple[FoundKind, ...] = ("file", "document", "agent", "version", "chat")


@dataclass(frozen=True, slots=True)
class FoundItem:
    """A result. `parent` is a document's library or a version's agent; `version` its number."""

    kind: FoundKind
    id: str
    name: str
    details: str = ""
    parent: str | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class FinderState:
    """The results for `text` so far, ordered by kind."""

    text: str = ""
    found: tuple[FoundItem, ...] = ()
    searching: bool = False
    error: Problem | None = None


class FinderService(Area, Service[FinderState]):
    def __init__(self, shared: Shared, chat: ChatService) -> None:
        super().__init__(shared, FinderState())
        self._chat = chat

    @action(Policy.LATEST)
    async def find(self, text: str) -> None:
        """Search by name; results arrive one kind after the other."""
        text = text.strip()
        self.slice.put(FinderState(text, self._chats(text), searching=bool(text)))
        if not text:
            return
        client = await self._session.client()
        searches: tuple[Coroutine[Any, Any, list[FoundItem]], ...] = (
            _files(client, text),
            _agents(client, text),
            _documents(client, text),
        )
        try:
            async with asyncio.TaskGroup() as group:
                for search in searches:
                    group.create_task(self._add(search))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            self.slice.set(searching=False)

    async def _add(self, search: Coroutine[Any, Any, list[FoundItem]]) -> None:
        new = await search
        found = sorted((*self.slice.value.found, *new), key=lambda item: KINDS.index(item.kind))
        self.slice.set(found=tuple(found))

    def _chats(self, text: str) -> tuple[FoundItem, ...]:
        if not text:
            return ()
        sessions = (
            session
            for session in self._chat.slice.value.sessions
            if text.lower() in f"{session.title} {session.agent_name}".lower()
        )
        found = (FoundItem("chat", item.id, item.title, item.agent_name) for item in sessions)
        return tuple(found)[:SHOWN]


async def _files(client: Client, text: str) -> list[FoundItem]:
    listed = await client.files.list(search=text, page_size=SHOWN, include_total=False)
    return [FoundItem("file", file.id, file.filename, str(file.purpose)) for file in listed.data]


async def _agents(client: Client, text: str) -> list[FoundItem]:
    agents = await client.agents.list(search=text, page_size=SHOWN)
    found = [FoundItem("agent", agent.id, agent.name, f"v{agent.version}") for agent in agents]
    if match := _VERSION.fullmatch(text):
        # “support v3” names a version, but an agent's name may end like that too.
        for agent in await client.agents.list(search=match["name"] or None, page_size=SHOWN):
            numbers = sorted(agent.versions or [agent.version], reverse=True)
            found += [
                FoundItem(
                    "version",
                    f"{agent.id} v{number}",
                    f"{agent.name} v{number}",
                    "active" if number == agent.version else "",
                    parent=agent.id,
                    version=number,
                )
                for number in numbers
                if str(number).startswith(match["number"])
            ][:SHOWN]
    return found


async def _documents(client: Client, text: str) -> list[FoundItem]:
    libraries = (await client.libraries.list(page_size=LIBRARIES)).data
    turn = asyncio.Semaphore(AT_ONCE)

    async def search(library: Library) -> list[FoundItem]:
        async with turn:
            listed = await client.documents.list(library.id, search=text, page_size=SHOWN)
        return [
            FoundItem("document", document.id, document.name, library.name, parent=library.id)
            for document in listed.data
        ]

    found = await asyncio.gather(*(search(library) for library in libraries))
    return [item for each in found for item in each][:SHOWN]
