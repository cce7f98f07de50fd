"""A growing answer: gathers chunks and shows them a few times a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from carrel.store.chat.conversation import Turn
from carrel.store.tools.state import AgentCall

if TYPE_CHECKING:
    from carrel.wire.generation.completions import CompletionChunk

UPDATES = 30
"""Most updates of the shown answer a second."""


class GrowingAnswer:
    """Collects chunks into an answer; calls `show` with the turn so far.

    The answering version is taken from the chunks, except for a `trial`, whose agent is temporary.
    """

    def __init__(self, show: Callable[[Turn], None], turn: Turn) -> None:
        self.turn = turn
        self.trial = False
        self._show = show
        self._parts: list[str] = []
        self._thoughts: list[str] = []
        self._thought_until = 0.0
        self._tokens = 0
        self._began = time.monotonic()
        self._first: float | None = None
        self._last = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0

    def take(self, chunk: CompletionChunk) -> None:
        """Add one chunk."""
        from carrel.wire.generation.content import text_of, thinking_of

        for choice in chunk.choices[:1]:
            text = text_of(choice.delta.content)
            thought = choice.delta.reasoning_content or thinking_of(choice.delta.content)
            if text or thought:
                self._last = time.monotonic()
                self._first = self._first or self._last
                self._tokens += 1
            if thought:
                self._thoughts.append(thought)
                self._thought_until = self._last
            if text:
                self._parts.append(text)
            if choice.finish_reason in ("length", "model_length"):
                self.turn = replace(self.turn, cut=True)
            if choice.delta.sources is not None:
                self.turn = replace(self.turn, searched=True, sources=tuple(choice.delta.sources))
            if choice.delta.tool_calls:
                calls = (
                    AgentCall(call.id, call.function.name, call.function.arguments)
                    for call in choice.delta.tool_calls
                )
                self.turn = replace(self.turn, calls=(*self.turn.calls, *calls))
        if chunk.usage is not None:
            self.turn = replace(
                self.turn,
                prompt_tokens=chunk.usage.prompt_tokens,
                completion_tokens=chunk.usage.completion_tokens,
            )
        if not self.trial and chunk.agent_version is not None:
            self.turn = replace(self.turn, version=chunk.agent_version)
        self._show_soon()

    def end(self, status: Literal["done", "stopped", "failed", "lost"]) -> None:
        """Set the final status and show the answer for the last time."""
        if self._timer is not None:
            self._timer.cancel()
        self.turn = replace(self.turn, status=status)
        self._show_now()

    def _show_soon(self) -> None:
        if self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        if loop.time() >= self._next:
            self._show_now()
        else:
            self._timer = loop.call_at(self._next, self._show_now)

    def _show_now(self) -> None:
        self._timer = None
        self._next = asyncio.get_running_loop().time() + 1 / UPDATES
        # The service's count of tokens; until it arrives, a chunk counts as one token.
        tokens = self.turn.completion_tokens or self._tokens
        writing = self._last - self._first if self._first is not None else 0.0
        self.turn = replace(
            self.turn,
            text="".join(self._parts),
            thinking="".join(self._thoughts),
            thought=self._thought_until - self._first if self._thoughts and self._first else None,
            first_token=None if self._first is None else self._first - self._began,
            rate=(tokens - 1) / writing if writing > 0 and tokens > 1 else None,
        )
        self._show(self.turn)
