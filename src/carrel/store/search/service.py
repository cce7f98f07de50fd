"""Full-text search in all libraries of a service and in the chats of this machine."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from carrel.client.http.errors import NotFound
from carrel.store.chat.sessions.saved import ChatSession, SavedSessions
from carrel.store.core.actions.action import Policy, Service, action
from carrel.store.core.formatting import one_line
from carrel.store.core.problem import Problem
from carrel.store.shared import Area, Shared

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.libraries import Library, PageBox, SearchHit

AT_ONCE = 4
"""Number of libraries searched concurrently."""
AROUND = 120
"""Number of characters shown before and after the first match in a chat."""


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage of a document or a chat.

    `group` is its library's name or the chat's agent; `library_id` is None for a chat. `page`
    counts from 0; matched words in `passage` are enclosed in « and ». `turn` is the index of a
    chat's turn.
    """

    kind: Literal["document", "chat"]
    id: str
    name: str
    group: str
    passage: str
    library_id: str | None = None
    page: int | None = None
    box: PageBox | None = None
    turn: int | None = None

    @property
    def page_number(self) -> int | None:
        """Return the number of its page, from 1, or None."""
        return None if self.page is None else self.page + 1


@dataclass(frozen=True, slots=True)
class SearchedPlaces:
    """The searched places. `unsearched` are libraries that their service cannot search.

    `chats` is None if only libraries were searched.
    """

    libraries: int = 0
    chats: int | None = None
    unsearched: int = 0


@dataclass(frozen=True, slots=True)
class SearchState:
    """The passages found for `query`, grouped by library, the chats last."""

    query: str = ""
    found: tuple[FoundPassage, ...] = ()
    places: SearchedPlaces | None = None
    searching: bool = False
    error: Problem | None = None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The found passages, and the places that were searched."""

    found: tuple[FoundPassage, ...]
    places: SearchedPlaces


async def search_everywhere(
    client: Client, chats: Iterable[ChatSession], query: str, limit: int
) -> SearchAnswer:
    """Return the best passages of the libraries and of the chats, at most `limit` of each.

    The library with the best passage comes first.
    """
    chats = tuple(chats)
    libraries = [library async for library in client.libraries.every()]
    answer = await search_libraries(client, libraries, query, limit)
    said = await asyncio.to_thread(_search_chats, chats, query, limit)
    places = replace(answer.places, chats=len(chats))
    return SearchAnswer((*answer.found, *said), places)


async def search_libraries(
    client: Client, libraries: Sequence[Library], query: str, limit: int
) -> SearchAnswer:
    """Return the best passages of each library, at most `limit` of each."""
    turn = asyncio.Semaphore(AT_ONCE)
    answers = await asyncio.gather(
        *(_search(client, library, query, limit, turn) for library in libraries)
    )
    searched = [
        (library, hits)
        for library, hits in zip(libraries, answers, strict=True)
        if hits is not None
    ]
    searched.sort(key=lambda one: -max((hit.score for hit in one[1]), default=0.0))
    found = tuple(_passage(library, hit) for library, hits in searched for hit in hits)
    return SearchAnswer(found, SearchedPlaces(len(searched), None, len(libraries) - len(searched)))


async def _search(
    client: Client, library: Library, query: str, limit: int, turn: asyncio.Semaphore
) -> list[SearchHit] | None:
    """Return a library's passages, or None if its service has no search."""
    async with turn:
        try:
            return (await client.libraries.search(library.id, query, limit)).data
        except NotFound:
            return None


def _passage(library: Library, hit: SearchHit) -> FoundPassage:
    from carrel.wire.libraries import mark_matches

    return FoundPassage(
        "document", hit.document_id, one_line(hit.document_name), one_line(library.name),
        one_line(mark_matches(hit.snippet, hit.matches)), library.id, hit.page, hit.box,
    )  # fmt: skip


def _search_chats(chats: Iterable[ChatSession], query: str, limit: int) -> list[FoundPassage]:
    """Return one passage of each chat with all words in one turn, the newest chats first."""
    words = query.split()
    pattern = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
    found: list[FoundPassage] = []
    for chat in sorted(chats, key=lambda chat: -chat.updated):
        if len(found) == limit:
            break
        for index, turn in enumerate(chat.conversation.said):
            said = turn.text.casefold()
            if words and all(word.casefold() in said for word in words):
                passage = _mark_words(turn.text, pattern)
                title, agent = one_line(chat.title), one_line(chat.agent_name)
                found.append(FoundPassage("chat", chat.id, title, agent, passage, turn=index))
                break
    return found


def _mark_words(text: str, pattern: re.Pattern[str]) -> str:
    """Return the text around its first match, with all matches enclosed in « and »."""
    first = pattern.search(text)
    at = first.start() if first is not None else 0
    start, end = max(at - AROUND, 0), min(at + AROUND, len(text))
    if start:  # a truncated word is left out
        start = text.find(" ", start, at) + 1 or start
    end = end if end == len(text) else max(text.rfind(" ", at, end), at + AROUND // 2)
    shown = pattern.sub(lambda match: f"«{match[0]}»", text[start:end])
    return one_line(("… " if start else "") + shown + (" …" if end < len(text) else ""))


LIMIT = 10
"""Most passages of each library, and of the chats."""


class SearchService(Area, Service[SearchState]):
    def __init__(self, shared: Shared, chats: SavedSessions) -> None:
        super().__init__(shared, SearchState())
        self._chats = chats

    @action(Policy.LATEST)
    async def search(
        self, query: str, limit: int = LIMIT, library_ids: tuple[str, ...] | None = None
    ) -> SearchState:
        """Search libraries, by default all and the local chats; an empty query ends the search."""
        query = query.strip()
        self.slice.put(SearchState(query, searching=bool(query)))
        if not query:
            return self.slice.value
        try:
            client = await self._session.client()
            if library_ids is None:
                chats = await asyncio.to_thread(self._chats.all)
                answer = await search_everywhere(client, chats, query, limit)
            else:
                libraries = [await client.libraries.get(id) for id in library_ids]
                answer = await search_libraries(client, libraries, query, limit)
        finally:
            self.slice.set(searching=False)
        return self.slice.set(found=answer.found, places=answer.places)
