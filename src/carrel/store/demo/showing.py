"""Applies a step's `show` to the store, for any face."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from carrel.store.cache.copies import DocumentSource
from carrel.store.chat.sources import source_of
from carrel.store.core.problem import ProblemError
from carrel.store.demo.script import Show

if TYPE_CHECKING:
    from carrel.store.agents.service import AgentsService
    from carrel.store.chat.service import ChatService
    from carrel.store.documents.service import DocumentsService
    from carrel.store.libraries.service import LibrariesService

ScreenName = Literal["libraries", "document", "agents", "chat"]
"""Screens that a demo shows."""


class Areas(Protocol):
    """The areas of a store that demo steps use."""

    libraries: LibrariesService
    documents: DocumentsService
    agents: AgentsService
    chat: ChatService


class _Named(Protocol):
    id: str
    name: str


N = TypeVar("N", bound=_Named)


async def put(areas: Areas, show: Show) -> ScreenName:
    """Open or select an item; return the screen that shows it.

    Raises:
        ProblemError: the item does not exist, or could not be loaded.
    """
    if show.library is not None:
        await areas.libraries.load()
        library = _find_named(areas.libraries.slice.value.items, show.library, "library")
        if areas.libraries.slice.value.query:
            await areas.libraries.search("")
        await areas.libraries.select(library.id)
        return "libraries"
    if (name := show.agent or show.chat) is not None:
        await areas.agents.load()
        agent = _find_named(areas.agents.slice.value.items, name, "agent")
        if show.chat is not None:
            await areas.chat.new(agent.id)
            return "chat"
        await areas.agents.select(agent.id)
        return "agents"
    if show.hit is not None:
        libraries = areas.libraries.slice.value
        hit = _get_item(libraries.hits, show.hit, "passage")
        document = DocumentSource(
            "document", hit.document_id, hit.document_name, libraries.selected
        )
        areas.documents.open(document, hit.page or 0, hit.box)
    elif show.source is not None:
        turns = areas.chat.slice.value.turns
        passage = _get_item(turns[-1].sources if turns else (), show.source, "source")
        areas.documents.open(source_of(passage), passage.page or 0, passage.box)
    elif show.page is not None:
        areas.documents.go(show.page - 1)
    return "document"


def _find_named(items: Iterable[N], name: str, kind: str) -> N:
    for item in items:
        if item.name == name:
            return item
    raise ProblemError(f"There is no {kind} “{name}”", "It was removed meanwhile.")


def _get_item(items: tuple[Any, ...], number: int, kind: str) -> Any:
    if number > len(items):
        there = f"There are {len(items) or 'none'}."
        raise ProblemError(f"There is no {kind} {number}", there)
    return items[number - 1]
