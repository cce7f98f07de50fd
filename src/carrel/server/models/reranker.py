"""A reranker at an address, with `/rerank` as Cohere, Jina, vLLM and llama.cpp have it."""

import logging
import math
from collections.abc import Sequence

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from carrel.server.models.address import ModelAddress

log = logging.getLogger(__name__)

CANDIDATES = 30
"""Passages that are reranked for one search."""
_SECONDS = 10.0
"""Timeout of a reranking."""


class _Ranked(BaseModel):
    index: int
    relevance_score: float


class _Ranking(BaseModel):
    results: list[_Ranked]


_RANKING = TypeAdapter(_Ranking)


async def rerank(
    address: ModelAddress, query: str, texts: Sequence[str], most: int
) -> list[tuple[int, float]] | None:
    """Return the places of the best texts with their scores from 0 to 1, best first.

    `/rerank` is added to the base address.

    Return None if the address fails: the search's own order stands.
    """
    body = {"query": query, "documents": list(texts), "top_n": most}
    headers = {"authorization": f"Bearer {address.key}"} if address.key else {}
    try:
        async with httpx.AsyncClient(timeout=_SECONDS, trust_env=False) as http:
            answer = await http.post(
                f"{address.url.rstrip('/')}/rerank",
                json={**body, "model": address.model} if address.model else body,
                headers=headers,
            )
        answer.raise_for_status()
        ranked = _RANKING.validate_json(answer.content).results
    except (httpx.HTTPError, ValidationError) as error:
        log.warning("the reranker failed, its passages keep their order: %s", type(error).__name__)
        return None
    known = {one.index: one.relevance_score for one in ranked if 0 <= one.index < len(texts)}
    best = sorted(known, key=lambda at: (-known[at], at))[:most]
    # llama.cpp answers with logits.
    is_share = all(0 <= score <= 1 for score in known.values())
    return [(at, known[at] if is_share else 1 / (1 + math.exp(-known[at]))) for at in best]
