"""Completions, whole and as a stream."""

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from carrel.server.completions.call import Batch, CompletionCall
from carrel.server.completions.citations import (
    Reference,
    content_of,
    reference_chunk,
    thinking_chunk,
)
from carrel.server.completions.connector_calls import ConnectorCalls
from carrel.server.completions.generation import (
    Calls,
    End,
    Event,
    Logprobs,
    Text,
    Thought,
    ToolsRefusedError,
    generate,
    interleave,
)
from carrel.server.completions.plan import check, make_plan, refuse_far_too_long
from carrel.server.completions.responder import Responder
from carrel.server.completions.sources import LibraryQuery, library_ids
from carrel.server.connectors.service import Connectors
from carrel.server.errors import ApiError
from carrel.server.library.search import FoundPassage
from carrel.server.library.service import LibraryService
from carrel.server.models.engine import Engine
from carrel.server.models.stages import Stages, Tell, tell_nobody
from carrel.server.records.errors import RecordError
from carrel.wire.generation.completions import (
    Choice,
    ChunkChoice,
    Completion,
    CompletionChunk,
    CompletionMessage,
    Delta,
    FinishReason,
    Passage,
    Progress,
    Usage,
)
from carrel.wire.generation.content import DocumentURLChunk, FileChunk, ImageURLChunk, as_chunks
from carrel.wire.generation.tools import FunctionCall, ToolCall

log = logging.getLogger(__name__)


class CompletionService:
    """Lets agents and models answer."""

    def __init__(
        self, engine: Engine, library: LibraryService, connectors: Connectors, *, seconds: float
    ) -> None:
        """`seconds` is the longest that one completion may take."""
        self._engine = engine
        self._connectors = connectors
        self._library = library
        self._seconds = seconds

    async def complete(self, call: CompletionCall) -> Completion:
        """Return the whole answer.

        Raises:
            ApiError: 400 for a request that cannot be answered, 503 without a model, 504 late.
        """
        answers = [_Collected() for _ in range(call.options.n or 1)]
        run = _Run(call.responder)
        async with aclosing(self._events(run, call, tell_nobody)) as events:
            async for batch in events:
                for index, event in batch:
                    answers[index].add(event)
        for answer in answers:
            if answer.problem is not None:
                raise answer.problem
        return Completion(
            id=run.id,
            model=call.responder.model,
            created=run.created,
            usage=run.usage,
            choices=[answer.choice(index, run) for index, answer in enumerate(answers)],
            agent_version=call.responder.version,
        )

    async def stream(
        self, call: CompletionCall, *, progress: bool = False
    ) -> AsyncGenerator[Batch]:
        """Yield the answer in batches of chunks; closing it frees the model.

        With `progress`, includes the steps before the first word. Without it, a failure after the
        first chunk ends the answer with the finish reason `error`.

        Raises:
            ApiError: as `complete`; without `progress` before the first chunk alone.
        """
        run = _Run(call.responder)
        chunks = _Chunks(run, call.options.n or 1, progress)
        stages = Stages()
        tell = stages.tell if progress else tell_nobody
        try:
            async with aclosing(self._events(run, call, tell)) as events:
                if progress:
                    first = asyncio.ensure_future(anext(events))
                    try:
                        async with aclosing(stages.follow(first)) as steps:
                            async for step in steps:
                                yield [step]
                        yield chunks.convert(await first)
                    finally:
                        first.cancel()
                        # The events are closed next, which fails while a step is running.
                        with anyio.CancelScope(shield=True):
                            await asyncio.wait({first})
                async for batch in events:
                    if news := chunks.convert(batch):
                        yield news
        except (ApiError, RecordError) as error:
            if progress or not chunks.has_begun:
                raise
            log.warning("completion %s broke off: %s", run.id, error.message)
            yield chunks.close_choices()

    async def run_allowed(self, responder: Responder, call: FunctionCall) -> str:
        """Run an allowed call of a connector's tool and return its answer.

        Raises:
            ApiError: 503, the connector does not answer.
        """
        calls = await ConnectorCalls.of(responder.tools, self._connectors)
        return await calls.answer(call)

    async def _events(
        self, run: "_Run", call: CompletionCall, tell: Tell
    ) -> AsyncGenerator[list[tuple[int, Event]]]:
        """Yield the events of every choice, with token counts and a deadline."""

        async def search(query: LibraryQuery) -> list[FoundPassage]:
            return await self._library.search(
                query.library_ids, query.words, query.limit, call.caller, document=query.document
            )

        async def read(chunk: DocumentURLChunk | FileChunk | ImageURLChunk) -> str:
            tell(Progress(stage="documents"))
            return await call.read_document(chunk)

        check(call, self._connectors)
        await self._library.require(library_ids(call.tools), call.caller)
        asked = replace(call, read_document=read)
        try:
            # An address that refuses tools is asked once more, with the functions in the prompt.
            for is_last in (False, True):
                async with AsyncExitStack() as stack:
                    async with asyncio.timeout(self._seconds) as timeout:
                        card = await self._engine.resolve(call.responder.model)
                        model = card.id
                        refuse_far_too_long(call, card.max_context_length)
                        owner = call.caller.organisation_id
                        running = self._engine.session(tell, model=model, owner=owner)
                        session = await stack.enter_async_context(running)
                        plan = await make_plan(
                            asked, model, session, search, self._connectors, tell
                        )
                    # The first choice is the first in every queue.
                    choices = [
                        generate(session, plan, index, tell_nobody if index else tell)
                        for index in range(plan.n)
                    ]
                    try:
                        merged = interleave(choices, timeout.when())
                        async with aclosing(merged) as events:
                            async for batch in events:
                                for index, event in batch:
                                    run.count(index, event)
                                yield batch
                    except ToolsRefusedError:
                        if is_last:
                            raise
                        self._engine.note_without_tools(model)
                    else:
                        return
        except TimeoutError as error:
            raise ApiError(
                504,
                f"The answer took longer than {self._seconds:g} seconds. Ask for less with"
                " max_tokens, or raise completion_seconds in the server's settings.",
            ) from error


@dataclass
class _Run:
    """The fields shared by all choices and chunks of one completion."""

    responder: Responder
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    created: int = field(default_factory=lambda: int(time.time()))
    sources: dict[int, list[Passage] | None] = field(default_factory=dict)
    """The passages given to each choice, once it has ended."""
    _prompt_tokens: int = 0
    _completion_tokens: int = 0

    def count(self, index: int, event: Event) -> None:
        # The prompt counts once, whatever n.
        if isinstance(event, End):
            self.sources[index] = event.sources
            self._prompt_tokens = event.prompt_tokens
            self._completion_tokens += event.completion_tokens

    @property
    def usage(self) -> Usage:
        return Usage(
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._completion_tokens,
            total_tokens=self._prompt_tokens + self._completion_tokens,
        )

    def thinking_delta(self, text: str) -> Delta:
        """Return a piece of thinking as a content chunk, or in the field that chats use."""
        if not text:
            return Delta()
        if self.responder.thinks_apart:
            return Delta(reasoning_content=text)
        return Delta(content=[thinking_chunk(text)])

    def chunk(
        self,
        index: int,
        delta: Delta,
        reason: FinishReason | None = None,
        usage: Usage | None = None,
    ) -> CompletionChunk:
        return CompletionChunk(
            id=self.id,
            created=self.created,
            model=self.responder.model,
            choices=[ChunkChoice(index=index, delta=delta, finish_reason=reason)],
            usage=usage,
            agent_version=self.responder.version,
        )

    def last_chunk(self, index: int, reason: FinishReason, *, with_usage: bool) -> CompletionChunk:
        delta = Delta(content="", sources=self.sources.get(index))
        return self.chunk(index, delta, reason, self.usage if with_usage else None)


class _Chunks:
    """Converts the events of a streamed completion to chunks."""

    def __init__(self, run: _Run, n: int, progress: bool) -> None:
        self._run = run
        self._progress = progress
        self._open = set(range(n))
        self._begun: set[int] = set()

    @property
    def has_begun(self) -> bool:
        """Whether there was a chunk."""
        return bool(self._begun)

    def convert(self, batch: list[tuple[int, Event]]) -> Batch:
        """Return a batch of events as chunks; progress is told of the first choice alone."""
        return [chunk for index, event in batch for chunk in self._chunks_of(index, event)]

    def _chunks_of(self, index: int, event: Event) -> Iterator[CompletionChunk | Progress]:
        """Yield the chunks of one event; the first of a choice carries the role."""
        if isinstance(event, Progress):
            if self._progress and index == 0:
                yield event
            return
        if index not in self._begun:
            self._begun.add(index)
            yield self._run.chunk(index, Delta(role="assistant", content=""))
        if isinstance(event, End):
            # A stream does not distinguish the two limits.
            yield self._final_chunk(
                index, "length" if event.reason == "model_length" else event.reason
            )
        elif isinstance(event, Calls):
            yield self._run.chunk(index, Delta(tool_calls=event.calls))
        elif isinstance(event, Reference):
            delta = Delta(content=[reference_chunk(event)], sources=event.sources)
            yield self._run.chunk(index, delta)
        elif isinstance(event, Logprobs):
            chunk = self._run.chunk(index, Delta())
            told = chunk.choices[0].model_copy(update={"logprobs": {"content": event.content}})
            yield chunk.model_copy(update={"choices": [told]})
        elif isinstance(event, Thought):
            yield self._run.chunk(index, self._run.thinking_delta(event.text))
        elif event.text:
            yield self._run.chunk(index, Delta(content=event.text))

    def close_choices(self) -> Batch:
        """Return a last chunk for each choice that has none yet."""
        return [self._final_chunk(index, "error") for index in sorted(self._open)]

    def _final_chunk(self, index: int, reason: FinishReason) -> CompletionChunk:
        self._open.discard(index)
        return self._run.last_chunk(index, reason, with_usage=not self._open)


@dataclass
class _Collected:
    """One choice of a whole answer."""

    parts: list[str | Reference] = field(default_factory=list)
    thoughts: str = ""
    logprobs: list[Any] = field(default_factory=list)
    calls: list[ToolCall] | None = None
    reason: FinishReason = "error"
    problem: ApiError | None = None

    def add(self, event: Event) -> None:
        if isinstance(event, Text):
            self.parts.append(event.text)
        elif isinstance(event, Reference):
            self.parts.append(event)
        elif isinstance(event, Thought):
            self.thoughts += event.text
        elif isinstance(event, Logprobs):
            self.logprobs += event.content
        elif isinstance(event, Calls):
            self.calls = event.calls
        elif isinstance(event, End):
            self.reason, self.problem = event.reason, event.problem

    def choice(self, index: int, run: _Run) -> Choice:
        # A chat client may send unknown fields of the message back:
        # litellm does, and the request would be refused.
        prefix = None if run.responder.version is None else False
        thought = run.thinking_delta(self.thoughts)
        content = content_of(self.parts)
        if thought.content is not None:
            content = [*thought.content, *as_chunks(content)]
        message = CompletionMessage(
            content=content,
            reasoning_content=thought.reasoning_content,
            tool_calls=self.calls,
            prefix=prefix,
            sources=run.sources.get(index),
        )
        logprobs = {"content": self.logprobs} if self.logprobs else None
        return Choice(index=index, message=message, finish_reason=self.reason, logprobs=logprobs)
