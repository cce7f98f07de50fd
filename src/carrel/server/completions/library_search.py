"""Libraries as a function that the model calls, with queries of its own."""

import json
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from carrel.server.completions.sources import (
    FULL,
    QUERY_CHARACTERS,
    GivenPassages,
    LibraryQuery,
    Room,
    SearchLibraries,
    as_text,
)
from carrel.server.errors import ApiError
from carrel.server.library.search import FoundPassage
from carrel.server.models.schemas.json_schema import fits
from carrel.server.records.errors import RecordError
from carrel.wire.generation.completions import Progress
from carrel.wire.generation.tools import Function, FunctionCall, FunctionTool

LIBRARY_FUNCTION = "document_library"
_NOTHING = "No passage was found. Try other words, or say that the documents do not answer this."
_WEAK = "The match is weak: these passages may be about something else."

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
    """The search that a model calls."""

    library_ids: list[str]
    find: SearchLibraries
    rounds: ClassVar = 4
    """Times that the model may call before it has to answer."""
    functions: ClassVar = [LIBRARY_TOOL]
    asked_first: ClassVar[Collection[str]] = ()
    """No function: the search needs no consent."""
    instructions: ClassVar = (
        f"Before you answer a question about documents, search them with {LIBRARY_FUNCTION}, with a"
        " query that can be understood without the conversation. Search again with other words"
        " where the passages do not answer. Cite each passage you use by its name right after the"
        " sentence it supports, like [ref1]. If nothing answers, say that the documents do not."
    )

    async def run(
        self, call: FunctionCall, given: GivenPassages, room: Room
    ) -> AsyncGenerator[Progress | str]:
        """Yield the search as it begins and ends, and then its result for the model."""
        query = self._query(call.arguments)
        if isinstance(query, str):
            yield query
            return
        yield Progress(stage="searching", query=query.words)
        fitting: list[FoundPassage] = []
        try:
            found = await self.find(query)
        except (ApiError, RecordError) as error:
            told = f"Error: {error.message}"
        else:
            fitting = await room.passages(found)
            told = _passages_for_model(fitting, given) if fitting else FULL if found else _NOTHING
        sources = given.sources(given.add(fitting))
        yield Progress(stage="found", query=query.words, sources=sources)
        yield told

    def _query(self, arguments: str) -> LibraryQuery | str:
        """Return the query of a call, or what is wrong with it."""
        try:
            given: Any = json.loads(arguments or "{}")
        except ValueError:
            return "Error: the arguments are not JSON."
        if not fits(given, LIBRARY_TOOL.function.parameters) or not given["query"].strip():
            return 'Error: the arguments must be like {"query": "notice period"}.'
        words = given["query"][:QUERY_CHARACTERS]
        return LibraryQuery(self.library_ids, words, given.get("limit", 5), given.get("document"))


def _passages_for_model(passages: Sequence[FoundPassage], given: GivenPassages) -> str:
    """Return the passages of a search for the model."""
    numbers = given.add(passages)
    texts = [as_text(at, one, place=True) for at, one in zip(numbers, passages, strict=True)]
    weak = [_WEAK] if all(passage.is_weak for passage in passages) else []
    return "\n\n".join([*weak, *texts])
