"""Resolution of a file, agent, library or document by id or name."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from carrel.cli.errors import CommandError
from carrel.cli.options import version_or_alias
from carrel.cli.output import HasId
from carrel.client.http.errors import NotFound

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.documents import Document
    from carrel.wire.files import File
    from carrel.wire.generation.agents import Agent
    from carrel.wire.libraries import Library
    from carrel.wire.trash import TrashItem

_LISTED_BY = {
    "file": "carrel files list",
    "agent": "carrel agents list",
    "library": "carrel libraries list",
    "document": "carrel libraries documents LIBRARY",
    "deleted item": "carrel trash list",
}


class NothingFound(CommandError):
    """No item has this name."""


_COMPARED = 1_000
"""Most names among which a similar one is looked for."""

T = TypeVar("T", bound=HasId)

_ID = re.compile(r"(ag_)?[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


async def find_file(client: "Client", wanted: str) -> "File":
    """Return the file with this id, or the only one with this name."""
    return await _find("file", wanted, client.files.get, client.files.every, lambda it: it.filename)


async def find_agent(client: "Client", wanted: str) -> "Agent":
    """Return the agent with this id, or the only one with this name."""
    return await _find("agent", wanted, client.agents.get, client.agents.every, lambda it: it.name)


def check_version(agent: "Agent", version: int) -> int:
    """Return the version if the agent has it.

    Raises:
        NothingFound: the agent has no such version.
    """
    from carrel.store.agents.formatting import lack_words

    if lack := lack_words(agent, version):
        raise NothingFound(f"{lack}.")
    return version


async def find_version(client: "Client", agent: "Agent", wanted: str) -> "Agent":
    """Return a version of an agent by its number or alias."""
    version = version_or_alias(wanted)
    if version.isdecimal():
        check_version(agent, int(version))
    return await client.agents.get(agent.id, version)


async def find_library(client: "Client", wanted: str) -> "Library":
    """Return the library with this id, or the only one with this name.

    Raises:
        NothingFound: no library has this name.
        CommandError: no library has this id, or several have this name.
    """
    return await _find(
        "library", wanted, client.libraries.get, client.libraries.every, lambda it: it.name
    )


async def find_document(client: "Client", library_id: str, wanted: str) -> "Document":
    """Return the document of a library with this id, or the only one with this name."""
    get = partial(client.documents.get, library_id)
    every = partial(client.documents.every, library_id)
    return await _find("document", wanted, get, every, lambda it: it.name)


async def find_deleted(client: "Client", wanted: str) -> "TrashItem":
    """Return the item of the trash with this id, or the only one with this name."""
    return await _find(
        "deleted item",
        wanted,
        client.trash.get,
        lambda _: client.trash.every(),
        lambda it: it.name or "",
    )


async def _find(
    kind: str,
    wanted: str,
    get: Callable[[str], Awaitable[T]],
    every: Callable[[str | None], AsyncIterator[T]],
    name: Callable[[T], str],
) -> T:
    from carrel.store.core.naming import did_you_mean, find_id
    from carrel.store.core.problem import ProblemError

    if _ID.fullmatch(wanted):
        try:
            return await get(wanted)
        except NotFound:
            pass
    found = [item async for item in every(wanted) if wanted in (item.id, name(item))]
    try:
        id = find_id(kind, wanted, {item.id: name(item) for item in found})
    except ProblemError as error:
        raise CommandError(str(error.problem)) from error
    if id is None:
        hint = did_you_mean(wanted, await _first_names(every(None), name))
        kind_of_error = CommandError if _ID.fullmatch(wanted) else NothingFound
        raise kind_of_error(f"There is no {kind} “{wanted}”. {hint}See: {_LISTED_BY[kind]}")
    return next(item for item in found if item.id == id)


async def _first_names(listed: AsyncIterator[T], name: Callable[[T], str]) -> list[str]:
    names: list[str] = []
    async for item in listed:
        names.append(name(item))
        if len(names) == _COMPARED:
            break
    return names
