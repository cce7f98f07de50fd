"""Creates and removes a demo's resources at its server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from carrel.store.agents.definitions import Defined, Definition, Names
from carrel.store.agents.drafts import Draft
from carrel.store.agents.plan import default_model
from carrel.store.core.problem import ProblemError
from carrel.store.demo.script import Demo, NeededLibrary
from carrel.store.libraries.phase import check_processed, wait_processed
from carrel.wire.generation.agents import Agent
from carrel.wire.libraries import LibraryCreate
from carrel.yamlfile import Document as Read

if TYPE_CHECKING:
    from carrel.client import Client

LOOK = 0.3
"""Seconds between two polls of a document's processing."""


class _Item(Protocol):
    @property
    def id(self) -> str: ...


async def make(client: Client, demo: Demo, folder: Path) -> AsyncIterator[str]:
    """Create all resources; yield a message before each part. Paths are relative to `folder`.

    Raises:
        ProblemError: there is no model, or a document cannot be processed.
    """
    libraries: dict[str, str] = {}
    for library in demo.needs.libraries:
        yield f"Making the library {library.name} …"
        libraries[await _make_library(client, library, folder)] = library.name
    agents: dict[str, str] = {}
    model = await default_model(client) if demo.needs.agents else ""
    for definition in demo.needs.agents:
        yield f"Making the agent {definition.name} …"
        agent = await _make_agent(client, definition, Names(libraries, agents), model)
        agents[agent.id] = agent.name


async def clear(client: Client) -> None:
    """Delete everything at a demo's server, its trash included."""
    await client.health()  # tells whether the service has a trash
    every: list[tuple[AsyncIterator[_Item], Callable[[str], Awaitable[object]]]] = [
        (client.conversations.every(), client.conversations.delete),
        (client.agents.every(), client.agents.delete),
        (client.libraries.every(), client.libraries.delete),
        (client.files.every(), client.files.delete),
    ]
    for items, delete in every:
        for id in [item.id async for item in items]:
            await delete(id)
    if client.trash_days is not None:
        await client.trash.empty()


async def _make_library(client: Client, library: NeededLibrary, folder: Path) -> str:
    made = await client.libraries.create(LibraryCreate(name=library.name))
    documents = [
        await client.documents.upload(made.id, folder / name) for name in library.documents
    ]
    for document in documents:
        check_processed(await wait_processed(client, document, LOOK))
    return made.id


async def _make_agent(client: Client, definition: Definition, names: Names, model: str) -> Agent:
    if not (definition.model or model):
        raise ProblemError("There is no model here", "The demo's agents need one.")
    fields = names.fields(Defined(definition, Path(), Read(definition.body(), 1)), model)
    draft = Draft.blank().changed(**fields)
    return await client.agents.create(draft.create())
