"""Finding any file, document, agent, version or chat by a part of its name."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from carrel.store.chat.service import ChatService
from carrel.store.core.action import Policy, action
from carrel.store.core.loop import OwnerLoop
from carrel.store.core.problem import Problem
from carrel.store.session.area import Area
from carrel.store.session.service import SessionService

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.libraries import Library

SHOWN = 8
"""How many of each kind are found."""
LIBRARIES = 100
"""So many libraries are searched for documents."""
AT_ONCE = 4
"""So many of them at the same time."""

Kind = Literal["file", "document", "agent", "version", "chat"]
KINDS: tuple[Kind, ...] = ("file", "document", "agent", "version", "chat")

_VERSION = re.compile(r"(?P<name>.*?)\s*\bv(?P<number>\d*)$")


@dataclass(frozen=True, slots=True)
class Found:
    """One thing. `parent` is a document's library or a version's agent; `version` its number."""

    kind: Kind
    id: str
    name: str
    details: str = ""
    parent: str | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class FinderState:
    """What was found for `text` so far, kind by kind."""

    text: str = ""
    found: tuple[Found, ...] = ()
    searching: bool = False
    error: Problem | None = None


class FinderService(Area[FinderState]):
    def __init__(self, loop: OwnerLoop, session: SessionService, chat: ChatService) -> None:
        super().__init__(loop, FinderState(), session)
        self._chat = chat

    @action(Policy.LATEST)
    async def find(self, text: str) -> None:
        """Looks for what has this in its name, at the service; what is found comes bit by bit."""
        text = text.strip()
        self.slice.put(FinderState(text, self._chats(text), searching=bool(text)))
        if not text:
            return
        client = await self._session.client()
        searches: tuple[Coroutine[Any, Any, list[Found]], ...] = (
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

    async def _add(self, search: Coroutine[Any, Any, list[Found]]) -> None:
        new = await search
        found = sorted((*self.slice.value.found, *new), key=lambda item: KINDS.index(item.kind))
        self.slice.set(found=tuple(found))

    def _chats(self, text: str) -> tuple[Found, ...]:
        if not text:
            return ()
        sessions = (
            session
            for session in self._chat.slice.value.sessions
            if text.lower() in f"{session.title} {session.agent_name}".lower()
        )
        found = (Found("chat", item.id, item.title, item.agent_name) for item in sessions)
        return tuple(found)[:SHOWN]


async def _files(client: Client, text: str) -> list[Found]:
    listed = await client.files.list(search=text, page_size=SHOWN, include_total=False)
    return [Found("file", file.id, file.filename, str(file.purpose)) for file in listed.data]


async def _agents(client: Client, text: str) -> list[Found]:
    agents = await client.agents.list(search=text, page_size=SHOWN)
    found = [Found("agent", agent.id, agent.name, f"v{agent.version}") for agent in agents]
    if match := _VERSION.fullmatch(text):
        # “support v3” means a version; the agent's name may have such an ending all the same.
        for agent in await client.agents.list(search=match["name"] or None, page_size=SHOWN):
            numbers = sorted(agent.versions or [agent.version], reverse=True)
            found += [
                Found(
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


async def _documents(client: Client, text: str) -> list[Found]:
    libraries = (await client.libraries.list(page_size=LIBRARIES)).data
    turn = asyncio.Semaphore(AT_ONCE)

    async def search(library: Library) -> list[Found]:
        async with turn:
            listed = await client.documents.list(library.id, search=text, page_size=SHOWN)
        return [
            Found("document", document.id, document.name, library.name, parent=library.id)
            for document in listed.data
        ]

    found = await asyncio.gather(*(search(library) for library in libraries))
    return [item for each in found for item in each][:SHOWN]
