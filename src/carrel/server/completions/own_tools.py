"""The functions of an answer that the server runs itself, as the model calls them."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from carrel.server.completions.connector_calls import ConnectorCalls
from carrel.server.completions.library_search import LibrarySearch
from carrel.server.completions.messages import ChatMessage
from carrel.server.completions.sources import FULL, GivenPassages, Room
from carrel.server.models.embedded_client import EmbeddedClient
from carrel.server.models.pool import PoolClient
from carrel.wire.generation.completions import Progress
from carrel.wire.generation.tools import FunctionTool, ToolCall

TO_CONFIRM = "to_confirm"
"""The type of a call that the server runs once the caller has allowed it."""
_MOST_CALLS = 4
"""Calls of one round."""


OwnTool = LibrarySearch | ConnectorCalls
"""Functions that belong together."""


@dataclass(frozen=True)
class OwnTools:
    """The functions that the server runs in each answer, and the token budget of their results."""

    tools: Sequence[OwnTool]
    client: EmbeddedClient | PoolClient
    tokens: int = 0

    @property
    def functions(self) -> list[FunctionTool]:
        """The functions as the model is offered them."""
        return [function for tool in self.tools for function in tool.functions]

    @property
    def instructions(self) -> list[str]:
        """Their instructions for the model."""
        return [tool.instructions for tool in self.tools]

    @property
    def searches(self) -> bool:
        """Return whether the search of libraries is among them."""
        return any(isinstance(tool, LibrarySearch) for tool in self.tools)

    def begin(self) -> "OwnCalls":
        """Return an empty record of the calls of one answer."""
        return OwnCalls(self.tools, Room(self.tokens, self.client))


class OwnCalls:
    """The calls of one answer that the server runs."""

    def __init__(self, tools: Sequence[OwnTool], room: Room) -> None:
        self.given = GivenPassages()
        self._tools = {one.function.name: tool for tool in tools for one in tool.functions}
        self._room = room
        self._rounds = 0
        self._most = max((tool.rounds for tool in tools), default=0)

    def __contains__(self, call: ToolCall) -> bool:
        return call.function.name in self._tools and not self.asks_about(call)

    def asks_about(self, call: ToolCall) -> bool:
        """Return whether the caller has to allow a call first."""
        name = call.function.name
        return name in self._tools and name in self._tools[name].asked_first

    def next_choice(self, offered: Sequence[ChatMessage]) -> ChatMessage:
        """Return the choice of tools in the next request; none of these after the last round.

        `offered` are the tools of the request before.
        """
        if not self.is_over:
            return {"tool_choice": "auto"}
        others = [tool for tool in offered if tool["function"]["name"] not in self._tools]
        return {"tools": others, "tool_choice": "auto"} if others else {"tool_choice": "none"}

    @property
    def is_over(self) -> bool:
        """Return whether the model has called as often as it may."""
        return self._rounds >= self._most

    async def run(
        self, calls: Sequence[ToolCall], add: Callable[[ChatMessage], object]
    ) -> AsyncGenerator[Progress]:
        """Answer calls that the model made together; yields their steps."""
        self._rounds += 1
        made = [call.model_dump(mode="json", exclude={"index"}) for call in calls]
        add({"role": "assistant", "content": "", "tool_calls": made})
        for number, call in enumerate(calls):
            told = FULL
            if number < _MOST_CALLS:
                tool = self._tools[call.function.name]
                async with aclosing(tool.run(call.function, self.given, self._room)) as steps:
                    async for step in steps:
                        if isinstance(step, Progress):
                            yield step
                        else:
                            told = step
            named = {"tool_call_id": call.id, "name": call.function.name}
            add({"role": "tool", **named, "content": told})
