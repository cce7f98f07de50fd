"""Generating answers: the model's chunks, read as text, calls and an end."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

from carrel.server.errors import ApiError
from carrel.server.models.engine import Session
from carrel.server.models.formats import is_answer
from carrel.server.models.plan import Plan
from carrel.server.models.tools import new_call
from carrel.wire.completions import FinishReason
from carrel.wire.tools import ToolCall

T = TypeVar("T")

_REASONS: dict[str, FinishReason] = {"length": "length", "tool_calls": "tool_calls"}
_SEEDS = 2**32
# An answer of the usual length waits whole for a slow reader, and does not keep the model.
_WAITING = 1024
_TOGETHER = 64


@dataclass(frozen=True)
class Text:
    """The next piece of an answer; empty when the model has begun to read."""

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


Event = Text | Calls | End


async def generate(session: Session, plan: Plan, index: int) -> AsyncGenerator[Event]:
    """The events of one answer, the end last. Closing it frees the model.

    Raises:
        ApiError: the model refused or failed.
    """
    if plan.max_tokens == 0:
        yield Text(plan.prefix)
        yield End("length", plan.prompt_tokens or 0, 0)
        return
    body = plan.body
    if plan.seed is not None:
        body = {**body, "seed": (plan.seed + index) % _SEEDS}
    answer = _Answer(plan)
    async with aclosing(session.stream(body, plan.tokens)) as chunks:
        async for chunk in chunks:
            text = answer.take(chunk)
            if text is not None:
                yield Text(text)
    for event in answer.rest():
        yield event
    yield await answer.end(session)


class _Answer:
    """An answer as far as it has come."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._text = ""
        self._shown = -1
        """How much of the text has been passed on; -1 before the first chunk."""
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
        if self._may_be_call():
            return ""
        news, self._shown = self._text[self._shown :], len(self._text)
        return news

    def _may_be_call(self) -> bool:
        """Whether the text could become a call, which nobody wants to read as text."""
        prompted = self._plan.prompted
        begun = self._text.lstrip()[:1]
        return prompted.must_call or (bool(prompted.functions) and begun in ("", "{"))

    def _add_fragment(self, fragment: dict[str, Any]) -> None:
        call = self._native.setdefault(fragment.get("index") or 0, {"name": "", "arguments": ""})
        function = fragment.get("function") or {}
        for key in call:
            call[key] += function.get(key) or ""

    def rest(self) -> list[Event]:
        """What could not be passed on before the end was known."""
        calls = [
            new_call(call["name"], call["arguments"], index)
            for index, (_, call) in enumerate(sorted(self._native.items()))
        ]
        if self._may_be_call():
            call = self._plan.prompted.read_call(self._text)
            if call is not None:
                calls.append(call)
            elif not self._plan.prompted.must_call:
                return [Text(self._text)] if self._text else []
        if not calls:
            return []
        self._called = True
        return [Calls(calls)]

    async def end(self, session: Session) -> End:
        """The end, with the tokens that were used."""
        used = self._usage.get("completion_tokens")
        reason = self._why(used)
        if used is None:
            used = await session.client.count_tokens(self._text)
        prompt = self._usage.get("prompt_tokens") or self._plan.prompt_tokens or 0
        problem = self._problem()
        return End("error" if problem else reason, prompt, used, problem)

    def _why(self, used: int | None) -> FinishReason:
        """Why it ended; an answer may be cut at the length asked for, or before, at the model's."""
        if self._called:
            return "tool_calls"
        asked = self._plan.max_tokens
        if self._reason == "length" and (asked is None or (used or asked) < asked):
            return "model_length"
        return self._reason

    def _problem(self) -> ApiError | None:
        if self._called:
            return None
        schema = self._plan.schema
        if self._plan.prompted.must_call:
            wanted = "call"
        elif schema is not None and not is_answer(self._plan.prefix + self._text, schema):
            wanted = "JSON"
        else:
            return None
        if self._reason == "length":
            limit = self._plan.max_tokens
            return ApiError(
                400,
                f"The answer was cut off after {limit or 'too many'} tokens, before its {wanted}"
                " was complete. Raise max_tokens, or ask for less.",
                param="max_tokens",
            )
        return ApiError(503, f"The model did not write the {wanted} that was asked for. Try again.")


async def interleave(
    sources: Sequence[AsyncGenerator[T]], deadline: float | None
) -> AsyncGenerator[list[tuple[int, T]]]:
    """The items of several generators as they come, each with the number of its generator.

    What came at the same time is in one list, up to a length. Items wait to be taken, up to a
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
        # Not gather: cancelled again while it waits, it would cancel them while they close.
        await asyncio.wait(tasks)
