"""Libraries as a function that the model calls, with queries of its own."""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from carrel.server.completions.messages import ChatMessage
from carrel.server.completions.sources import (
    QUERY_CHARACTERS,
    GivenPassages,
    LibraryQuery,
    SearchLibraries,
    as_text,
    that_fit,
)
from carrel.server.errors import ApiError
from carrel.server.models.embedded_client import EmbeddedClient
from carrel.server.models.pool import PoolClient
from carrel.server.models.schemas.json_schema import fits
from carrel.server.records.errors import RecordError
from carrel.wire.generation.completions import Progress
from carrel.wire.generation.tools import Function, FunctionTool, ToolCall

LIBRARY_FUNCTION = "document_library"
MOST_ROUNDS = 4
"""Times that a model may search before it has to answer."""
_MOST_CALLS = 4
_INSTRUCTIONS = (
    f"Before you answer a question about documents, search them with {LIBRARY_FUNCTION}, with a"
    " query that can be understood without the conversation. Search again with other words where"
    " the passages do not answer. Cite each passage you use by its name right after the sentence"
    " it supports, like [ref1]. If nothing answers, say that the documents do not."
)
_NOTHING = "No passage was found. Try other words, or say that the documents do not answer this."
_WEAK = "The match is weak: these passages may be about something else."
_FULL = "There is no room for more passages. Answer from those you have."

LIBRARY_TOOL = FunctionTool(
    function=Function(
        name=LIBRARY_FUNCTION,
        description="Search the documents of the libraries. Returns passages, each with its name,"
        " its document and its page.",
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "The words to search for"},
                "document": {
                    "type": "string",
                    "description": "Search only documents with this in their name",
                },
                "limit": {"type": "integer", "minimum": 1, "maximum": 10},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    )
)


@dataclass(frozen=True)
class LibrarySearch:
    """The search that a model calls. `tokens` is the room for all passages of an answer."""

    library_ids: list[str]
    find: SearchLibraries
    tokens: int
    client: EmbeddedClient | PoolClient

    @property
    def instructions(self) -> str:
        """Tell the model when to search, and to cite."""
        return _INSTRUCTIONS

    def begin(self) -> "Searching":
        """Return the searches of one answer, of which there is none yet."""
        return Searching(self, GivenPassages(), self.tokens)


class Searching:
    """The searches of one answer."""

    def __init__(self, search: LibrarySearch, given: GivenPassages, tokens: int) -> None:
        self.given = given
        self.rounds = 0
        self._search = search
        self._tokens = tokens

    @property
    def is_over(self) -> bool:
        """Return whether the model has searched as often as it may."""
        return self.rounds >= MOST_ROUNDS

    async def run(
        self, calls: Sequence[ToolCall], add: Callable[[ChatMessage], object]
    ) -> AsyncGenerator[Progress]:
        """Answer calls that the model made together; yields each search as it begins and ends."""
        self.rounds += 1
        add(
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [call.model_dump(mode="json", exclude={"index"}) for call in calls],
            }
        )
        for number, call in enumerate(calls):
            query = self._query(call.function.arguments) if number < _MOST_CALLS else _FULL
            if isinstance(query, str):
                text = query
            else:
                yield Progress(stage="searching", query=query.words)
                try:
                    found = await self._search.find(query)
                except (ApiError, RecordError) as error:
                    found, text = [], f"Error: {error.message}"
                else:
                    text, found = await self._told(found)
                sources = self.given.sources(self.given.add(found))
                yield Progress(stage="found", query=query.words, sources=sources)
            add(
                {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "name": call.function.name,
                    "content": text,
                }
            )

    def _query(self, arguments: str) -> LibraryQuery | str:
        """Return the query of a call, or what is wrong with it."""
        try:
            given: Any = json.loads(arguments or "{}")
        except ValueError:
            return "Error: the arguments are not JSON."
        if not fits(given, LIBRARY_TOOL.function.parameters) or not given["query"].strip():
            return 'Error: the arguments must be like {"query": "notice period"}.'
        words = given["query"][:QUERY_CHARACTERS]
        return LibraryQuery(
            self._search.library_ids, words, given.get("limit", 5), given.get("document")
        )

    async def _told(self, found: Sequence[Any]) -> tuple[str, list[Any]]:
        """Return the result of a search for the model, and the passages it has."""
        fitting, self._tokens = await that_fit(found, self._tokens, self._search.client)
        if not fitting:
            return (_FULL if found else _NOTHING), []
        numbers = self.given.add(fitting)
        texts = [as_text(at, one, place=True) for at, one in zip(numbers, fitting, strict=True)]
        weak = [_WEAK] if all(one.is_weak for one in fitting) else []
        return "\n\n".join([*weak, *texts]), fitting
