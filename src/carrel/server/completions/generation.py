"""Generating answers: the model's chunks, read as text, calls and an end."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

from carrel.server.completions.plan import CompletionPlan
from carrel.server.completions.tools import new_call
from carrel.server.errors import ApiError
from carrel.server.models.engine import ModelSession
from carrel.server.models.formats import is_json
from carrel.server.models.stages import Tell
from carrel.server.spans import span
from carrel.wire.completions import FinishReason, Progress
from carrel.wire.tools import ToolCall

T = TypeVar("T")

_REASONS: dict[str, FinishReason] = {"length": "length", "tool_calls": "tool_calls"}
# Fits an answer of usual length, so that a slow reader does not hold the model.
_WAITING = 1024
_TOGETHER = 64


@dataclass(frozen=True)
class Text:
    """The next piece of an answer; empty when the model starts to read."""

    text: str


@dataclass(frozen=True)
class Calls:
    """Functions that the model calls."""

    calls: list[ToolCall]


@dataclass(frozen=True)
class End:
    """How an answer ended; `problem` says why the reason is `error`."""

    reason: FinishReason
    prompt_tokens: int
    completion_tokens: int
    problem: ApiError | None = None


Event = Text | Calls | End | Progress


async def generate(
    session: ModelSession, plan: CompletionPlan, index: int, tell: Tell
) -> AsyncGenerator[Event]:
    """The events of one answer, the end last. Closing it frees the model.

    `tell` hears of the steps before the model begins to read.

    Raises:
        ApiError: the model refused or failed.
    """
    if plan.max_tokens == 0:
        yield Text(plan.prefix)
        yield End("length", plan.prompt_tokens or 0, 0)
        return
    answer = _Answer(plan)
    # The events are taken by others, whose spans are not inside this one.
    model = str(plan.body_of(index).get("model", ""))
    with span("model", inner=False, operation="chat", model=model) as observed:
        async with aclosing(session.stream(plan.body_of(index), plan.tokens, tell)) as chunks:
            async for chunk in chunks:
                text = answer.take(chunk)
                if text is not None:
                    if "first_token_seconds" not in observed.attributes:
                        observed.set(first_token_seconds=time.perf_counter() - observed.began)
                    yield Text(text)
                if reading := _reading(chunk):
                    yield reading
        for event in answer.rest():
            yield event
        end = await answer.end(session)
        observed.set(prompt_tokens=end.prompt_tokens, completion_tokens=end.completion_tokens)
    yield end


def _reading(chunk: dict[str, Any]) -> Progress | None:
    """The model's progress through its prompt, if a chunk reports it."""
    progress = chunk.get("prompt_progress")
    if not isinstance(progress, dict):
        return None
    done, total = progress.get("processed"), progress.get("total")
    if not isinstance(done, int) or not isinstance(total, int):
        return None
    return Progress(stage="reading", done=done, total=total)


class _Answer:
    """An answer as far as it has come."""

    def __init__(self, plan: CompletionPlan) -> None:
        self._plan = plan
        self._text = ""
        self._shown = -1
        """Number of characters passed on; -1 before the first chunk."""
        self._native: dict[int, dict[str, str]] = {}
        self._usage: dict[str, Any] = {}
        self._reason: FinishReason = "stop"
        self._called = False

    def take(self, chunk: dict[str, Any]) -> str | None:
        """Reads a chunk; the text that can be passed on, or None if there is none."""
        self._usage = chunk.get("usage") or self._usage
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            self._text += delta.get("content") or ""
            for fragment in delta.get("tool_calls") or ():
                self._add_fragment(fragment)
            if choice.get("finish_reason"):
                self._reason = _REASONS.get(choice["finish_reason"], "stop")
        if self._shown < 0:
            self._shown = 0
            return self._plan.prefix + self._news()
        return self._news() or None

    def _news(self) -> str:
        if self._plan.prompted.may_begin(self._text):
            return ""
        news, self._shown = self._text[self._shown :], len(self._text)
        return news

    def _add_fragment(self, fragment: dict[str, Any]) -> None:
        call = self._native.setdefault(fragment.get("index") or 0, {"name": "", "arguments": ""})
        function = fragment.get("function") or {}
        for key in call:
            call[key] += function.get(key) or ""

    def rest(self) -> list[Event]:
        """The events held back until the end was known."""
        native = [call for _, call in sorted(self._native.items())]
        cut = self._reason == "length" and native and not is_json(native[-1]["arguments"])
        if cut:
            # Half a call is useless.
            native.pop()
        calls = [
            new_call(call["name"], call["arguments"], index) for index, call in enumerate(native)
        ]
        prompted = self._plan.prompted
        if prompted.may_begin(self._text):
            call = prompted.read_call(self._text)
            if call is not None:
                calls.append(call)
            elif not prompted.must_call:
                return [Text(self._text)] if self._text else []
        if not calls:
            return []
        self._called = not cut
        return [Calls(calls)]

    async def end(self, session: ModelSession) -> End:
        """The end, with the tokens that were used."""
        used = self._usage.get("completion_tokens")
        reason = self._why(used)
        if used is None:
            used = await session.client.count_tokens(self._text)
        prompt = self._usage.get("prompt_tokens") or self._plan.prompt_tokens or 0
        problem = self._problem()
        return End("error" if problem else reason, prompt, used, problem)

    def _why(self, used: int | None) -> FinishReason:
        """The finish reason: cut at the requested length, or at the model's context."""
        if self._called:
            return "tool_calls"
        if self._reason == "length" and self._plan.cut_by_model(used):
            return "model_length"
        return self._reason

    def _problem(self) -> ApiError | None:
        if self._called or self._reason == "length":
            return None
        missing = self._plan.missing_from(self._text)
        if missing is None:
            return None
        return ApiError(
            503, f"The model did not write the {missing} that was asked for. Try again."
        )


async def interleave(
    sources: Sequence[AsyncGenerator[T]], deadline: float | None
) -> AsyncGenerator[list[tuple[int, T]]]:
    """Merges several generators; each item comes with the index of its generator.

    Simultaneous items share a list, up to a length. Items are buffered up to a
    number. Closing closes all generators; so does the deadline (on the loop's clock), whether
    items are taken or not.

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
