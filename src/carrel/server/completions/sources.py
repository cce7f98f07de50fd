"""Passages of an agent's libraries for a question, added to the prompt."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from carrel.server.completions.messages import ChatMessage
from carrel.server.library.search import FoundPassage
from carrel.server.models.address import ModelClient
from carrel.server.models.pool import PoolClient
from carrel.wire.completions import Passage
from carrel.wire.tools import LibraryTool

SearchLibraries = Callable[[list[str], str, int], Awaitable[list[FoundPassage]]]
"""Library ids, a query and a limit to the passages found, best first."""

_MOST = 5
_QUERY_CHARACTERS = 2000


async def find_passages(
    tools: Iterable[LibraryTool], question: str, search: SearchLibraries
) -> list[FoundPassage] | None:
    """The best passages for a question, best first; None without libraries."""
    ids = list(dict.fromkeys(id for tool in tools for id in tool.library_ids))
    if not ids or not question.strip():
        return None
    return await search(ids, question[:_QUERY_CHARACTERS], _MOST)


async def that_fit(
    found: Sequence[FoundPassage], tokens: int, client: ModelClient | PoolClient
) -> list[FoundPassage]:
    """The best passages that fit into a number of tokens."""
    fitting = []
    for passage in found:
        tokens -= await client.count_tokens(passage.text)
        if tokens < 0:
            break
        fitting.append(passage)
    return fitting


def put_before(messages: list[ChatMessage], passages: Sequence[FoundPassage]) -> list[ChatMessage]:
    """The messages with numbered passages in the last question.

    The best passage comes last, next to the question: small models answer best from there.
    """
    numbers = [number for number, message in enumerate(messages) if message["role"] == "user"]
    if not passages or not numbers:
        return messages
    texts = [f"[{index}] {passage.text}" for index, passage in enumerate(passages, 1)]
    context = "\n\n".join([*reversed(texts), "Answer from the passages above.\nQuestion: "])
    asked = messages[numbers[-1]]
    return [
        {**message, "content": _after(context, message["content"])} if message is asked else message
        for message in messages
    ]


def _after(text: str, content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    return (
        text + content if isinstance(content, str) else [{"type": "text", "text": text}, *content]
    )


def as_sources(passages: Sequence[FoundPassage]) -> list[Passage]:
    """The passages as the answer's sources, numbered as in the prompt."""
    return [
        Passage(
            index=index,
            library_id=passage.library_id,
            document_id=passage.document_id,
            document_name=passage.document_name,
            page=passage.page,
            snippet=passage.snippet,
            matches=passage.matches,
            score=passage.score,
            box=passage.box,
        )
        for index, passage in enumerate(passages, 1)
    ]
