"""The loop model → tool → model, the same in chats, commands and evals."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from carrel.store.tools.state import AgentCall

if TYPE_CHECKING:
    from carrel.wire.generation.completions import AssistantMessage, CompletionRequest
    from carrel.wire.generation.tools import FunctionTool

STEPS = 8
"""Most consecutive answers with calls before the user has to continue."""

End = Literal["answered", "open", "limit"]
"""End of the loop: an answer without a call, with a call that no tool here answers, or STEPS
answers with calls."""


class Tools(Protocol):
    """The tools of one question."""

    async def offer(self, known: frozenset[str]) -> list[FunctionTool]:
        """Return the tools that a request offers to an agent, except tools that it has already.

        Raises:
            ProblemError: a tool is unavailable, or was not allowed.
        """

    async def result(self, call: AgentCall) -> str | None:
        """Return a tool's result or its error as text, or None if it is unknown or not allowed.

        Raises:
            ProblemError: the tool is unavailable.
        """


async def answer_with_tools(
    ask: Callable[[int], Awaitable[Sequence[AgentCall]]],
    tools: Tools,
    on_answer: Callable[[AgentCall, str], None],
    *,
    limit: int = STEPS,
) -> End:
    """Get an answer, run its calls, and repeat until an answer has no calls.

    Args:
        ask: lets the model answer; takes the number of the step from 1, returns the open calls.
        tools: answer the calls.
        on_answer: called with each result, in the order of the calls.
        limit: the most answers.

    To stop it, cancel the task: a running tool ends with it.
    """
    for step in range(1, limit + 1):
        calls = await ask(step)
        if not calls:
            return "answered"
        left_open = False
        for call in calls:
            result = await tools.result(call)
            if result is None:
                left_open = True
            else:
                on_answer(call, result)
        if left_open:
            return "open"
    return "limit"


async def complete_with_tools(
    request: CompletionRequest,
    complete: Callable[[CompletionRequest], Awaitable[AssistantMessage]],
    tools: Tools,
    *,
    known: frozenset[str] = frozenset(),
    called: Callable[[AgentCall, str], None] = lambda call, result: None,
) -> tuple[CompletionRequest, End]:
    """Complete a request with tools, outside of a chat.

    Args:
        request: the messages so far, and the agent.
        complete: sends a request and returns its answer.
        tools: answer the calls.
        known: the functions that the agent has already.
        called: called with each call and its result.

    Returns:
        The request with all messages, the last answer included, and the loop's end.
    """
    from carrel.wire.generation.completions import ToolMessage

    offered = await tools.offer(known)
    if offered:
        request = request.model_copy(update={"tools": [*(request.tools or []), *offered]})

    def add(message: AssistantMessage | ToolMessage) -> None:
        nonlocal request
        request = request.model_copy(update={"messages": [*request.messages, message]})

    async def ask(_: int) -> Sequence[AgentCall]:
        answer = await complete(request)
        add(answer)
        return [
            AgentCall(call.id, call.function.name, call.function.arguments)
            for call in answer.tool_calls or ()
        ]

    def on_answer(call: AgentCall, result: str) -> None:
        called(call, result)
        add(ToolMessage(content=result, tool_call_id=call.id, name=call.name))

    end = await answer_with_tools(ask, tools, on_answer)
    return request, end
