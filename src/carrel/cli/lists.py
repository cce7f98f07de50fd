"""Whole lists of a service, however many pages they have."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.agents import Agent
    from carrel.wire.documents import Document
    from carrel.wire.files import File
    from carrel.wire.libraries import Library

T = TypeVar("T")

_PAGE = 100


def every_file(client: "Client", search: str | None = None) -> "AsyncIterator[File]":
    """All files, or those whose name has a text."""

    async def page(number: int) -> "Sequence[File]":
        return (await client.files.list(page=number, page_size=_PAGE, search=search)).data

    return _every(page, lambda file: file.id)


def every_agent(client: "Client", search: str | None = None) -> "AsyncIterator[Agent]":
    """All agents, or those whose name or id has a text."""

    async def page(number: int) -> "Sequence[Agent]":
        return await client.agents.list(page=number, page_size=_PAGE, search=search)

    return _every(page, lambda agent: agent.id)


def every_version(client: "Client", agent_id: str) -> "AsyncIterator[Agent]":
    """All versions of an agent."""

    async def page(number: int) -> "Sequence[Agent]":
        return await client.agents.versions(agent_id, page=number, page_size=_PAGE)

    return _every(page, lambda agent: agent.version)


def every_library(client: "Client", search: str | None = None) -> "AsyncIterator[Library]":
    """All libraries, or those whose name has a text."""

    async def page(number: int) -> "Sequence[Library]":
        return (await client.libraries.list(page=number, page_size=_PAGE, search=search)).data

    return _every(page, lambda library: library.id)


def every_document(
    client: "Client", library_id: str, search: str | None = None
) -> "AsyncIterator[Document]":
    """All documents of a library, or those whose name has a text."""

    async def page(number: int) -> "Sequence[Document]":
        listed = await client.documents.list(
            library_id, page=number, page_size=_PAGE, search=search
        )
        return listed.data

    return _every(page, lambda document: document.id)


async def _every(
    page: Callable[[int], Awaitable[Sequence[T]]], key: Callable[[T], object]
) -> AsyncIterator[T]:
    seen: set[object] = set()
    number = 0
    # A service that knows no pages answers the same list again, which ends this too.
    while fresh := [item for item in await page(number) if key(item) not in seen]:
        for item in fresh:
            seen.add(key(item))
            yield item
        if len(fresh) < _PAGE:
            return
        number += 1
