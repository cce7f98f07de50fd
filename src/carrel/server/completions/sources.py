"""Passages of libraries for an answer: numbered, fitted to the context, put into the prompt."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from carrel.server.completions.citations import reference_name
from carrel.server.completions.messages import ChatMessage
from carrel.server.library.search import FoundPassage
from carrel.server.models.embedded_client import EmbeddedClient
from carrel.server.models.pool import PoolClient
from carrel.wire.generation.completions import Passage
from carrel.wire.generation.content import text_chunk
from carrel.wire.generation.tools import LibraryTool

QUERY_CHARACTERS = 2000
FULL = "There is no room for more. Answer from what you have."
_CITE = "Cite a passage by its name after the sentence it supports, like [ref1]."
_NOTHING = (
    "The libraries have no passage that answers this. If the question is about their documents, say"
    " so.\nQuestion: "
)


@dataclass(frozen=True)
class LibraryQuery:
    """A search in the libraries of an answer; `document` is a part of a document's name."""

    library_ids: list[str]
    words: str
    limit: int = 5
    document: str | None = None


SearchLibraries = Callable[[LibraryQuery], Awaitable[list[FoundPassage]]]
"""The passages found by a query, best first."""


def library_ids(tools: Iterable[object]) -> list[str]:
    """Return the libraries that some tools name, each once."""
    libraries = (tool for tool in tools if isinstance(tool, LibraryTool))
    return list(dict.fromkeys(id for tool in libraries for id in tool.library_ids))


class GivenPassages:
    """The passages that one answer was given, numbered from 1 in the order they came."""

    def __init__(self, found: Iterable[FoundPassage] = ()) -> None:
        self._found: list[FoundPassage] = []
        self._numbers: dict[tuple[object, ...], int] = {}
        self.add(found)

    def add(self, found: Iterable[FoundPassage]) -> list[int]:
        """Add passages and return their numbers; one that was given before keeps its number."""
        numbers = []
        for passage in found:
            place = passage.document_id, passage.page, passage.text
            if place not in self._numbers:
                self._found.append(passage)
                self._numbers[place] = len(self._found)
            numbers.append(self._numbers[place])
        return numbers

    def is_given(self, number: int) -> bool:
        """Return whether a passage has this number."""
        return 1 <= number <= len(self._found)

    def is_citable(self, number: int) -> bool:
        """Return whether a bare `[number]` can only be a citation: no passage contains it."""
        return self.is_given(number) and not any(f"[{number}]" in one.text for one in self._found)

    def sources(self, numbers: Iterable[int] | None = None) -> list[Passage]:
        """Return passages as sources of the answer, all without `numbers`."""
        every = range(1, len(self._found) + 1)
        return [
            as_source(number, self._found[number - 1])
            for number in (every if numbers is None else dict.fromkeys(numbers))
        ]


def as_source(number: int, passage: FoundPassage) -> Passage:
    """Return a passage as a source of an answer."""
    return Passage(index=number, **dict(passage))


class Room:
    """The tokens left for passages and tool results beside the conversation."""

    def __init__(self, tokens: int, client: EmbeddedClient | PoolClient) -> None:
        self._left = tokens
        self._client = client

    async def passages(self, found: Sequence[FoundPassage]) -> list[FoundPassage]:
        """Return the best passages that fit, and subtract their tokens."""
        fitting = []
        for passage in found:
            needed = await self._client.count_tokens(passage.text)
            if needed > self._left:
                break
            self._left -= needed
            fitting.append(passage)
        return fitting

    async def text(self, text: str) -> str:
        """Return as much of a text as fits, and subtract its tokens."""
        needed = await self._client.count_tokens(text)
        if needed > self._left:
            text = f"{text[: len(text) * self._left // needed]}\n(cut here)" if self._left else FULL
        self._left -= min(needed, self._left)
        return text


def as_text(number: int, passage: FoundPassage, *, place: bool) -> str:
    """Return a passage under its name, with `place` also its document and page."""
    if not place:
        return f"[{reference_name(number)}] {passage.text}"
    page = "" if passage.page is None else f", page {passage.page + 1}"
    return f"[{reference_name(number)}] {passage.document_name}{page}\n{passage.text}"


def put_before(messages: list[ChatMessage], passages: Sequence[FoundPassage]) -> list[ChatMessage]:
    """Return the messages with named passages in the last question.

    The best passage comes last, next to the question: small models answer best from there.
    """
    numbers = [number for number, message in enumerate(messages) if message["role"] == "user"]
    if not numbers:
        return messages
    texts = [as_text(number, passage, place=False) for number, passage in enumerate(passages, 1)]
    asking = f"Answer from the passages above. {_CITE}\nQuestion: "
    context = "\n\n".join([*reversed(texts), asking]) if passages else _NOTHING
    at = numbers[-1]
    content = messages[at]["content"]
    both = context + content if isinstance(content, str) else [text_chunk(context), *content]
    return [*messages[:at], {**messages[at], "content": both}, *messages[at + 1 :]]
