"""Searches all libraries and chats by words."""

from __future__ import annotations

import asyncio

from carrel.store.chat.sessions.saved import SavedSessions
from carrel.store.core.actions.action import Policy, Service, action
from carrel.store.search.everywhere import search_everywhere, search_libraries
from carrel.store.search.state import SearchState
from carrel.store.shared import Shared

LIMIT = 10
"""Most passages of each library, and of the chats."""


class SearchService(Service[SearchState]):
    def __init__(self, shared: Shared, chats: SavedSessions) -> None:
        super().__init__(shared.loop, SearchState(), shared.session)
        self._session = shared.session
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
