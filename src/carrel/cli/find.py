"""Things by their id or their name, as a person gives them."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from carrel.cli.errors import CommandError

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.agents import Agent
    from carrel.wire.documents import Document
    from carrel.wire.files import File
    from carrel.wire.libraries import Library

_LISTED_BY = {
    "file": "carrel files list",
    "agent": "carrel agents list",
    "library": "carrel libraries list",
    "document": "carrel libraries documents LIBRARY",
}


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_HasId)

_PAGE = 100
_ID = re.compile(r"(ag_)?[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


async def find_file(client: "Client", wanted: str) -> "File":
    """The file with this id, or the only one with this name."""

    async def page(number: int) -> "Sequence[File]":
        return (await client.files.list(page=number, page_size=_PAGE, search=wanted)).data

    return await _find("file", wanted, client.files.get, page, lambda file: file.filename)


async def find_agent(client: "Client", wanted: str) -> "Agent":
    """The agent with this id, or the only one with this name."""

    async def page(number: int) -> "Sequence[Agent]":
        return await client.agents.list(page=number, page_size=_PAGE, search=wanted)

    return await _find("agent", wanted, client.agents.get, page, lambda agent: agent.name)


async def find_library(client: "Client", wanted: str) -> "Library":
    """The library with this id, or the only one with this name."""

    async def page(number: int) -> "Sequence[Library]":
        return (await client.libraries.list(page=number, page_size=_PAGE, search=wanted)).data

    return await _find("library", wanted, client.libraries.get, page, lambda library: library.name)


async def find_document(client: "Client", library_id: str, wanted: str) -> "Document":
    """The document of a library with this id, or the only one with this name."""

    async def page(number: int) -> "Sequence[Document]":
        found = await client.documents.list(library_id, page=number, page_size=_PAGE, search=wanted)
        return found.data

    async def get(document_id: str) -> "Document":
        return await client.documents.get(library_id, document_id)

    return await _find("document", wanted, get, page, lambda document: document.name)


async def everything(page: Callable[[int], Awaitable[Sequence[T]]]) -> AsyncIterator[T]:
    """The items of all pages of a list, each once."""
    seen: set[str] = set()
    number = 0
    # A service that knows no pages answers the same list again, which ends this too.
    while fresh := [item for item in await page(number) if item.id not in seen]:
        for item in fresh:
            seen.add(item.id)
            yield item
        if len(fresh) < _PAGE:
            return
        number += 1


async def _find(
    kind: str,
    wanted: str,
    get: Callable[[str], Awaitable[T]],
    page: Callable[[int], Awaitable[Sequence[T]]],
    name: Callable[[T], str],
) -> T:
    from carrel.client.errors import NotFound

    if _ID.fullmatch(wanted):
        try:
            return await get(wanted)
        except NotFound:
            pass
    found = [item async for item in everything(page) if wanted in (item.id, name(item))]
    if len(found) == 1:
        return found[0]
    if not found:
        raise CommandError(f"There is no {kind} “{wanted}”. See: {_LISTED_BY[kind]}")
    ids = ", ".join(item.id for item in found)
    raise CommandError(f"“{wanted}” is the name of more than one {kind}. Give its id: {ids}")
