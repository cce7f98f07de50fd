"""The loop model → tool → model, the same in chats, commands and evals."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from carrel.store.tools.state import AgentCall

if TYPE_CHECKING:
    from carrel.wire.generation.completions import AssistantMessage, CompletionRequest
    from carrel.wire.generation.tools import FunctionTool

STEPS = 8
"""Answers that may call tools, one after the other, before a person has to go on."""

End = Literal["answered", "open", "limit"]
"""An answer without a call, a call that nothing here answers, or STEPS answers with calls."""


class Tools(Protocol):
    """The tools of one question."""

    async def offered(self, known: frozenset[str]) -> list[FunctionTool]:
        """Return the tools that a request offers to an agent, which knows some already.

        Raises:
            ProblemError: one of them cannot be had, or was not allowed.
        """

    async def result(self, call: AgentCall) -> str | None:
        """Return what a tool answers, or its error in words; None when there is none, or it may
        not run.

        Raises:
            ProblemError: it cannot be had.
        """


async def answer_with_tools(
    ask: Callable[[int], Awaitable[Sequence[AgentCall]]],
    tools: Tools,
    answered: Callable[[AgentCall, str], None],
    *,
    limit: int = STEPS,
) -> End:
    """Ask, have the calls of the answer answered, and ask again until an answer has none.

    Args:
        ask: has the model answer; gets the number of the step from 1, gives the open calls.
        tools: answer the calls.
        answered: takes in each result, in the order of the calls.
        limit: the most answers.

    To stop it, cancel the task: a tool that runs is ended with it.
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
                answered(call, result)
        if left_open:
            return "open"
    return "limit"


async def complete_with_tools(
    request: CompletionRequest,
    complete: Callable[[CompletionRequest], Awaitable[AssistantMessage]],
    tools: Tools,
    *,
    known: frozenset[str] = frozenset(),
    stepped: Callable[[int], None] = lambda step: None,
    called: Callable[[AgentCall, str], None] = lambda call, result: None,
    limit: int = STEPS,
) -> tuple[CompletionRequest, End]:
    """Complete a request with tools, outside of a chat.

    Args:
        request: the messages so far, and the agent.
        complete: sends a request and gives its answer.
        tools: answer the calls.
        known: the functions that the agent has already.
        stepped: hears of each step, from 1.
        called: hears of each call with its result.
        limit: the most answers.

    Returns:
        The request with all messages, the last answer too, and how it ended.
    """
    from carrel.wire.generation.completions import ToolMessage

    offered = await tools.offered(known)
    if offered:
        request = request.model_copy(update={"tools": [*(request.tools or []), *offered]})

    def add(message: AssistantMessage | ToolMessage) -> None:
        nonlocal request
        request = request.model_copy(update={"messages": [*request.messages, message]})

    async def ask(step: int) -> Sequence[AgentCall]:
        stepped(step)
        answer = await complete(request)
        add(answer)
        return [
            AgentCall(call.id, call.function.name, call.function.arguments)
            for call in answer.tool_calls or ()
        ]

    def answered(call: AgentCall, result: str) -> None:
        called(call, result)
        add(ToolMessage(content=result, tool_call_id=call.id, name=call.name))

    end = await answer_with_tools(ask, tools, answered, limit=limit)
    return request, end
