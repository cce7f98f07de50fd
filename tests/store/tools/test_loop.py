from collections.abc import Sequence

from carrel.store.tools.loop import answer_with_tools, complete_with_tools
from carrel.store.tools.state import AgentCall
from carrel.wire.generation.completions import AssistantMessage, CompletionRequest, UserMessage
from carrel.wire.generation.tools import FunctionCall, FunctionTool, ToolCall

NOON = AgentCall("a23456789", "noon", "{}")


class Clock:
    """Answers `noon` alone."""

    async def offer(self, known: frozenset[str]) -> list[FunctionTool]:
        return [FunctionTool.model_validate({"function": {"name": "noon"}})]

    async def result(self, call: AgentCall) -> str | None:
        return "12:00" if call.name == "noon" else None


async def test_it_asks_until_an_answer_has_no_call() -> None:
    steps: list[int] = []
    results: list[str] = []

    async def ask(step: int) -> Sequence[AgentCall]:
        steps.append(step)
        return [NOON, NOON] if step < 3 else []

    end = await answer_with_tools(ask, Clock(), lambda call, result: results.append(result))
    assert (end, steps, results) == ("answered", [1, 2, 3], ["12:00"] * 4)


async def test_a_call_that_nothing_answers_is_left_open() -> None:
    results: list[str] = []

    async def ask(step: int) -> Sequence[AgentCall]:
        return [AgentCall("b23456789", "weather", "{}"), NOON]

    end = await answer_with_tools(ask, Clock(), lambda call, result: results.append(call.name))
    assert (end, results) == ("open", ["noon"])


async def test_it_ends_at_its_limit() -> None:
    steps: list[int] = []

    async def ask(step: int) -> Sequence[AgentCall]:
        steps.append(step)
        return [NOON]

    end = await answer_with_tools(ask, Clock(), lambda call, result: None, limit=3)
    assert (end, steps) == ("limit", [1, 2, 3])


async def test_a_request_is_completed_with_its_calls_and_results() -> None:
    sent: list[CompletionRequest] = []

    async def complete(request: CompletionRequest) -> AssistantMessage:
        sent.append(request)
        if len(sent) > 1:
            return AssistantMessage(content="At noon.")
        call = ToolCall(id=NOON.id, function=FunctionCall(name="noon", arguments="{}"))
        return AssistantMessage(content="", tool_calls=[call])

    request = CompletionRequest(agent_id="a", messages=[UserMessage(content="When?")])
    whole, end = await complete_with_tools(request, complete, Clock())
    assert end == "answered"
    roles = [message.role for message in whole.messages]
    assert roles == ["user", "assistant", "tool", "assistant"]
    assert [tool.body()["function"]["name"] for tool in sent[0].tools or ()] == ["noon"]
    assert request.tools is None and len(request.messages) == 1, "the caller's stays as it was"
