"""The comparisons of all local chats and the service's."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from carrel.store.chat.compared import Comparison
from carrel.store.chat.sessions.remote_chats import comparison_of, with_agents
from carrel.store.chat.sessions.saved import SavedSessions

if TYPE_CHECKING:
    from carrel.client import Client


async def every_comparison(saved: SavedSessions, client: Client | None) -> tuple[Comparison, ...]:
    """Return the newest state of each comparison; only local ones without a client."""
    found = {
        session.id: (session.updated, session.comparison)
        for session in await asyncio.to_thread(saved.all)
        if session.comparison is not None
    }
    for id, kept in (await _load_remote(client) if client is not None else {}).items():
        if id not in found or found[id][0] < kept[0]:
            found[id] = kept
    return tuple(comparison for _, comparison in found.values())


async def _load_remote(client: Client) -> dict[str, tuple[float, Comparison]]:
    from carrel.client.http.errors import ServiceError

    try:
        records = await with_agents(client)
    except ServiceError as error:
        if error.status not in (404, 405, 501):
            raise
        return {}  # a service without conversations
    named = ((one, comparison_of(one.metadata or {})) for one in records)
    return {one.id: (one.updated_at.timestamp(), found) for one, found in named if found}
