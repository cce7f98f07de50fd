"""Makes what a demo needs at the service, and removes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.store.agents.definitions import Defined, Definition, Names
from carrel.store.agents.plan import default_model
from carrel.store.chat.sessions.saved import SavedSessions
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.demo.journal import Journal, Record
from carrel.store.demo.script import Demo, NeededLibrary
from carrel.store.libraries.phase import UNFINISHED, document_phase
from carrel.yamlfile import Document as Read

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.generation.agents import Agent

LOOK = 0.3
"""Seconds between two looks at a document that is processed."""
MARK = "carrel-demo"
"""The name in an agent's metadata that tells which run made it."""


async def make(client: Client, demo: Demo, folder: Path, journal: Journal) -> AsyncIterator[str]:
    """Make everything; gives words before each part. Paths are from `folder`.

    Raises:
        ProblemError: a name is taken, there is no model, or a document cannot be processed.
    """
    await _check_free(client, demo)
    record = journal.begin()
    libraries: dict[str, str] = {}
    for library in demo.needs.libraries:
        yield f"Making the library {library.name} …"
        libraries[await _make_library(client, library, folder, record, journal)] = library.name
    agents: dict[str, str] = {}
    model = await default_model(client) if demo.needs.agents else ""
    for definition in demo.needs.agents:
        yield f"Making the agent {definition.name} …"
        agent = await _make_agent(client, definition, Names(libraries, agents), model, record)
        agents[agent.id] = agent.name
        record.agents.append(agent.id)
        journal.write(record)


async def remove(client: Client, journal: Journal, sessions: SavedSessions) -> None:
    """Remove everything that the journal lists, with the chats that were held meanwhile.

    Nothing of it goes to the trash. If this fails the journal stays, for the next demo.

    Raises:
        ClientError: the service did not remove something.
    """
    record = journal.record
    if record is None:
        return
    await client.health()  # tells whether there is a trash
    marked = [agent.id async for agent in client.agents.every() if _is_of(agent, record)]
    agents = {*record.agents, *marked}
    libraries = {*record.libraries}
    async for library in client.libraries.every():
        if library.description == _description(record):
            libraries.add(library.id)
    for session in sessions.all():
        if session.agent_id in agents:
            sessions.forget(session.id)
    if agents:
        for talk in await _conversations(client, agents):
            await _delete(client, client.conversations.delete, talk)
    for agent_id in agents:
        await _delete(client, client.agents.delete, agent_id)
    for library_id in libraries:
        await _delete(client, client.libraries.delete, library_id)
    journal.end()


async def _check_free(client: Client, demo: Demo) -> None:
    agents = [one.name for one in demo.needs.agents]
    libraries = [one.name for one in demo.needs.libraries]
    taken = [f"an agent “{one.name}”" async for one in client.agents.every() if one.name in agents]
    async for one in client.libraries.every():
        if one.name in libraries:
            taken.append(f"a library “{one.name}”")
    if taken:
        detail = f"There is {taken[0]} already."
        raise ProblemError(
            Problem("The demo needs this name for its own", detail, "Rename one of the two.")
        )


async def _make_library(
    client: Client, library: NeededLibrary, folder: Path, record: Record, journal: Journal
) -> str:
    from carrel.wire.libraries import LibraryCreate

    made = await client.libraries.create(
        LibraryCreate(name=library.name, description=_description(record))
    )
    record.libraries.append(made.id)
    journal.write(record)
    documents = [
        await client.documents.upload(made.id, folder / name) for name in library.documents
    ]
    for document in documents:
        while document_phase(document) in UNFINISHED:
            await asyncio.sleep(LOOK)
            document = await client.documents.get(made.id, document.id)
        if document_phase(document) == "failed":
            detail = f"{document.name}: {document.error or 'the service gives no reason.'}"
            raise ProblemError(Problem("A document of the demo cannot be processed", detail))
    return made.id


async def _make_agent(
    client: Client, definition: Definition, names: Names, model: str, record: Record
) -> Agent:
    from carrel.store.agents.drafts import Draft

    if not (definition.model or model):
        raise ProblemError(Problem("There is no model here", "The demo's agents need one."))
    marked = definition.model_copy(
        update={"metadata": {**(definition.metadata or {}), MARK: record.run}}
    )
    fields = names.fields(Defined(marked, Path(), Read(marked.body(), 1)), model)
    draft = Draft.blank().changed(**fields)
    return await client.agents.create(draft.create())


async def _conversations(client: Client, agents: set[str]) -> list[str]:
    from carrel.client.http.errors import NotFound

    with suppress(NotFound):  # a service need not have conversations
        return [
            one.id async for one in client.conversations.every() if (one.agent_id or "") in agents
        ]
    return []


async def _delete(
    client: Client, delete: Callable[[str], Coroutine[Any, Any, None]], id: str
) -> None:
    from carrel.client.http.errors import NotFound

    with suppress(NotFound):
        await delete(id)
    if client.trash_days is not None:
        with suppress(NotFound):
            await client.trash.delete(id)


def _is_of(agent: Agent, record: Record) -> bool:
    return (agent.metadata or {}).get(MARK) == record.run


def _description(record: Record) -> str:
    return f"Made for a demo, which removes it at its end ({record.run})."
