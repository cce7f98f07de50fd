"""Passages of several libraries that fit a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from carrel.store.core.problem import Problem, ProblemError

if TYPE_CHECKING:
    from carrel.store.session.service import SessionService
    from carrel.wire.generation.completions import Passage


async def find_passages(
    session: SessionService, library_ids: Sequence[str], query: str, limit: int
) -> list[Passage]:
    """Return the passages that fit best, best first, numbered from 1.

    Raises:
        ProblemError: the service does not search its libraries.
    """
    from carrel.client.http.errors import NotFound
    from carrel.wire.generation.completions import Passage

    client = await session.client()
    hits = []
    for library_id in library_ids:
        try:
            found = await client.libraries.search(library_id, query, limit)
        except NotFound:
            title = "This service does not search its libraries"
            raise ProblemError(Problem(title, "", "Ask an agent that has them.")) from None
        hits += [(hit, library_id) for hit in found.data]
    best = sorted(hits, key=lambda pair: pair[0].score, reverse=True)[:limit]
    return [
        Passage.model_validate({**hit.model_dump(), "index": index, "library_id": library_id})
        for index, (hit, library_id) in enumerate(best, 1)
    ]
