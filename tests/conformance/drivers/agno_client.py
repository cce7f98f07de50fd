"""Chat through an agent of agno."""

import os

os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.models.openai.like import OpenAILike
from agno.tools import tool

from conformance.drivers.operation import KEY, MODEL, QUESTION, URL, operation


def model() -> OpenAILike:
    return OpenAILike(
        id=MODEL, base_url=f"{URL}/v1", api_key=KEY, temperature=0, max_tokens=32, max_retries=0
    )


@tool(stop_after_tool_call=True)  # type: ignore[untyped-decorator]
def weather(city: str) -> str:
    """The weather of a city."""
    return "Sunny."


@operation("chat: whole")
def _() -> None:
    assert Agent(model=model(), telemetry=False).run("Say hello.").content


@operation("chat: streamed")
def _() -> None:
    parts = Agent(model=model(), telemetry=False).run("Say hello.", stream=True)
    assert "".join(str(part.content) for part in parts if getattr(part, "content", None))


@operation("chat: with a tool")
def _() -> None:
    agent = Agent(model=model(), tools=[weather], tool_choice="required", telemetry=False)
    answer = agent.run(QUESTION)
    assert [tool.tool_name for tool in answer.tools or ()][:1] == ["weather"]
