"""Generating answers: the model's chunks, read as text, calls and an end."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from carrel.server.completions.citations import CitationReader, Reference
from carrel.server.completions.own_tools import TO_CONFIRM, OwnCalls
from carrel.server.completions.plan import CompletionPlan
from carrel.server.completions.sources import GivenPassages
from carrel.server.completions.tools import new_call
from carrel.server.errors import ApiError
from carrel.server.models.engine import ModelSession
from carrel.server.models.schemas.formats import is_json
from carrel.server.models.stages import Tell
from carrel.server.spans import span
from carrel.wire.generation.completions import FinishReason, Passage, Progress
from carrel.wire.generation.tools import ToolCall

T = TypeVar("T")

# As Ollama, vLLM and SGLang refuse; a refusal of one schema must not match.
_REFUSES_TOOLS = re.compile(
    r"(not|n't) support.{0,40}\b(tool|function)|\btool.{0,40}((not|n't) support|requires? --)", re.I
)
_REASONS: dict[str, FinishReason] = {"length": "length", "tool_calls": "tool_calls"}
# Fits an answer of usual length, so that a slow reader does not hold the model.
_WAITING = 1024
_TOGETHER = 64


@dataclass(frozen=True)
class Text:
    """The next piece of an answer; empty when the model starts to read."""

    text: str


@dataclass(frozen=True)
class Thought:
    """The next piece of what the model thinks before it answers."""

    text: str


@dataclass(frozen=True)
class Logprobs:
    """The log probabilities of the next tokens, as the address tells them."""

    content: list[Any]


@dataclass(frozen=True)
class Calls:
    """Functions that the model calls."""

    calls: list[ToolCall]


@dataclass(frozen=True)
class End:
    """How an answer ended; `problem` says why the reason is `error`.

    `sources` are the passages that the model was given, None where there was nothing to search.
    """

    reason: FinishReason
    prompt_tokens: int
    completion_tokens: int
    problem: ApiError | None = None
    sources: list[Passage] | None = None


Event = Text | Reference | Thought | Logprobs | Calls | End | Progress


class ToolsRefusedError(ApiError):
    """The address refused a request because of its tools."""


async def generate(
    session: ModelSession, plan: CompletionPlan, index: int, tell: Tell
) -> AsyncGenerator[Event]:
    """Yield the events of one answer, the end last. Closing it frees the model.

    A model that calls a function of the server, such as the search of libraries, gets its result
    and continues. `tell` is called with the steps before the model begins to read.

    Raises:
        ApiError: the model refused or failed.
    """
    given = GivenPassages(plan.passages or ())
    if plan.max_tokens == 0:
        yield Text(plan.prefix)
        yield End("length", plan.prompt_tokens or 0, 0, sources=_sources(plan, given))
        return
    own = plan.own.begin() if plan.own else None
    given = own.given if own else given
    cites = CitationReader(given.is_given, given.is_citable) if plan.cites else None
    body, written, more = plan.body_of(index), 0, True
    found = None
    if plan.passages is not None:
        found = Progress(stage="found", query=plan.query, sources=given.sources())
    # The events are taken by others, whose spans are not inside this one.
    model = str(body.get("model", ""))
    with span("model", inner=False, operation="chat", model=model) as observed:
        while more:
            answer = _Answer(plan, own, begins=not written)
            async with aclosing(_read(session, body, plan, answer, tell)) as events:
                async for event in events:
                    if found is not None:
                        yield found
                        found = None
                    if isinstance(event, Text | Thought) and event.text:
                        seconds = time.perf_counter() - observed.began
                        observed.attributes.setdefault("first_token_seconds", seconds)
                    for part in _cite(event, cites, given):
                        yield part
            end = await answer.end(session)
            written += end.completion_tokens
            more = bool(answer.own_calls) and own is not None and not own.is_over
            if more and own is not None:
                body = {**body, "messages": list(body["messages"])}
                add = body["messages"].append
                async with aclosing(own.run(answer.own_calls, add)) as steps:
                    async for step in steps:
                        yield step
                body |= own.next_choice(body["tools"])
                if answer.text.strip():
                    yield Text("\n\n")
        if cites is not None:
            for part in _parts(cites.rest(), given):
                yield part
            observed.set(unknown_citations=cites.unknown)
        observed.set(prompt_tokens=end.prompt_tokens, completion_tokens=written)
    yield replace(end, completion_tokens=written, sources=_sources(plan, given))


async def _read(
    session: ModelSession, body: dict[str, Any], plan: CompletionPlan, answer: "_Answer", tell: Tell
) -> AsyncGenerator[Text | Thought | Logprobs | Calls | Progress]:
    """Yield the events of one request to the model, up to a call that the server answers."""
    begun = False
    try:
        async with aclosing(session.stream(body, plan.tokens, tell)) as chunks:
            async for chunk in chunks:
                begun = True
                for news in answer.take(chunk):
                    yield news
                if reading := _prompt_progress(chunk):
                    yield reading
    except ApiError as error:
        if not begun and "tools" in body and _REFUSES_TOOLS.search(error.message):
            raise ToolsRefusedError(400, error.message) from error
        raise
    for last in answer.rest():
        yield last


def _cite(event: Event, cites: CitationReader | None, given: GivenPassages) -> Iterator[Event]:
    """Yield an event with the citations in its text taken out."""
    if cites is None or not isinstance(event, Text | Calls):
        yield event
        return
    # An empty text says that the model has begun.
    if isinstance(event, Text) and not event.text:
        yield event
        return
    parts = cites.take(event.text) if isinstance(event, Text) else cites.rest()
    yield from _parts(parts, given)
    if isinstance(event, Calls):
        yield event


def _parts(parts: Iterable[str | Reference], given: GivenPassages) -> Iterator[Text | Reference]:
    for part in parts:
        if isinstance(part, str):
            yield Text(part)
        else:
            yield replace(part, sources=given.sources(part.numbers))


def _sources(plan: CompletionPlan, given: GivenPassages) -> list[Passage] | None:
    return None if plan.passages is None and not plan.searches else given.sources()


def _prompt_progress(chunk: dict[str, Any]) -> Progress | None:
    """Return the model's progress through its prompt, if a chunk reports it."""
    progress = chunk.get("prompt_progress")
    if not isinstance(progress, dict):
        return None
    done, total = progress.get("processed"), progress.get("total")
    if not isinstance(done, int) or not isinstance(total, int):
        return None
    return Progress(stage="reading", done=done, total=total)


class _Answer:
    """An answer so far. The first part, which `begins`, has the prefix in front."""

    def __init__(self, plan: CompletionPlan, own: OwnCalls | None, *, begins: bool) -> None:
        self.own_calls: list[ToolCall] = []
        """Calls that the server runs itself, once the answer is whole."""
        self._plan = plan
        self._own = own
        self.text = ""
        self._shown = -1 if begins else 0
        """Number of characters passed on; -1 before the first chunk."""
        self._native: dict[int, dict[str, str]] = {}
        self._usage: dict[str, Any] = {}
        self._reason: FinishReason = "stop"
        self._called = False

    def take(self, chunk: dict[str, Any]) -> Iterator[Text | Thought | Logprobs]:
        """Read a chunk and yield what can be passed on."""
        self._usage = chunk.get("usage") or self._usage
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            if thought := _thinking_in(delta):
                yield Thought(thought)
            self.text += _text_of(delta.get("content"))
            for fragment in delta.get("tool_calls") or ():
                self._add_fragment(fragment)
            if tokens := (choice.get("logprobs") or {}).get("content"):
                yield Logprobs(tokens)
            if choice.get("finish_reason"):
                self._reason = _REASONS.get(choice["finish_reason"], "stop")
        if self._shown < 0:
            self._shown = 0
            yield Text(self._plan.prefix + self._take_new_text())
        elif news := self._take_new_text():
            yield Text(news)

    def _take_new_text(self) -> str:
        if self._plan.prompted.is_call_beginning(self.text):
            return ""
        news, self._shown = self.text[self._shown :], len(self.text)
        return news

    def _add_fragment(self, fragment: dict[str, Any]) -> None:
        call = self._native.setdefault(fragment.get("index") or 0, {"name": "", "arguments": ""})
        function = fragment.get("function") or {}
        for key in call:
            call[key] += function.get(key) or ""

    def rest(self) -> list[Text | Calls]:
        """Return the events held back until the end was known."""
        native = [call for _, call in sorted(self._native.items())]
        cut = self._reason == "length" and native and not is_json(native[-1]["arguments"])
        if cut:
            # Half a call is useless.
            native.pop()
        calls = [
            new_call(call["name"], call["arguments"], index) for index, call in enumerate(native)
        ]
        prompted = self._plan.prompted
        if prompted.is_call_beginning(self.text):
            call = prompted.read_call(self.text)
            if call is not None:
                calls.append(call)
            elif not prompted.must_call:
                return [Text(self.text)] if self.text else []
        others = [call for call in calls if self._own is None or call not in self._own]
        if not others:
            self.own_calls = calls
            return []
        self._called = not cut
        if self._own is not None:
            others = [
                call.model_copy(update={"type": TO_CONFIRM}) if self._own.asks_about(call) else call
                for call in others
            ]
        return [Calls(others if self._plan.parallel else others[:1])]

    async def end(self, session: ModelSession) -> End:
        """Return the end with the tokens that were used."""
        used = self._usage.get("completion_tokens")
        reason = self._finish_reason(used)
        if used is None:
            used = await session.client.count_tokens(self.text)
        prompt = self._usage.get("prompt_tokens") or self._plan.prompt_tokens or 0
        problem = self._problem()
        return End("error" if problem else reason, prompt, used, problem)

    def _finish_reason(self, used: int | None) -> FinishReason:
        """Return the finish reason: cut at the requested length, or at the model's context."""
        if self._called:
            return "tool_calls"
        if self._reason == "length" and self._plan.is_cut_early(used):
            return "model_length"
        return "stop" if self._reason == "tool_calls" else self._reason

    def _problem(self) -> ApiError | None:
        if self._called or self.own_calls or self._reason == "length":
            return None
        missing = self._plan.missing_format(self.text)
        if missing is None:
            return None
        return ApiError(
            503, f"The model did not write the {missing} that was asked for. Try again."
        )


def _thinking_in(delta: dict[str, Any]) -> str:
    """Return the thinking in a fragment, in any form that model servers use."""
    for name in ("reasoning_content", "reasoning"):
        if isinstance(thought := delta.get(name), str):
            return thought
    return _text_of(
        [
            part
            for chunk in _chunks_of(delta.get("content"), "thinking")
            for part in _chunks_of(chunk.get("thinking"), "text")
        ]
    )


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    return "".join(str(chunk.get("text", "")) for chunk in _chunks_of(content, "text"))


def _chunks_of(content: object, type: str) -> Iterator[dict[str, Any]]:
    for chunk in content if isinstance(content, list) else ():
        if isinstance(chunk, dict) and chunk.get("type") == type:
            yield chunk


async def interleave(
    sources: Sequence[AsyncGenerator[T]], deadline: float | None
) -> AsyncGenerator[list[tuple[int, T]]]:
    """Merge several generators, each item with the index of its generator.

    Simultaneous items share a list of limited length; a limited number is buffered. Closing closes
    all generators; so does the deadline (on the loop's clock), whether items are taken or not.

    Raises:
        TimeoutError: the deadline has come.
    """
    items: asyncio.Queue[tuple[int, T] | Exception | None] = asyncio.Queue(_WAITING)

    async def pump(index: int, source: AsyncGenerator[T]) -> None:
        try:
            async with asyncio.timeout_at(deadline), aclosing(source):
                async for item in source:
                    await items.put((index, item))
        except Exception as error:
            await items.put(error)
        else:
            await items.put(None)

    tasks = [asyncio.create_task(pump(index, source)) for index, source in enumerate(sources)]
    try:
        running = len(tasks)
        while running:
            arrived = [await items.get()]
            while not items.empty() and len(arrived) < _TOGETHER:
                arrived.append(items.get_nowait())
            if batch := [item for item in arrived if isinstance(item, tuple)]:
                yield batch
            for item in arrived:
                if isinstance(item, Exception):
                    raise item
                running -= item is None
    finally:
        for task in tasks:
            task.cancel()
        # Not gather: a second cancellation would cancel them while they close.
        await asyncio.wait(tasks)
