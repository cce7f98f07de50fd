"""Chat through autogen's model client and an assistant."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import CreateResult, UserMessage
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient

from conformance.drivers.operation import KEY, MODEL, QUESTION, URL, operation


def client() -> OpenAIChatCompletionClient:
    return OpenAIChatCompletionClient(
        model=MODEL,
        base_url=f"{URL}/v1",
        api_key=KEY,
        temperature=0,
        max_tokens=32,
        max_retries=0,
        model_info={
            "vision": False,
            "function_calling": True,
            "json_output": True,
            "structured_output": True,
            "family": "unknown",
        },
    )


async def whole() -> None:
    result = await AssistantAgent("clerk", client()).run(task="Say hello.")
    assert result.messages[-1].content


async def streamed() -> None:
    asked = [UserMessage(content="Say hello.", source="user")]
    parts = [part async for part in client().create_stream(asked)]
    assert isinstance(parts[-1], CreateResult) and len(parts) > 1


async def with_a_tool() -> None:
    def weather(city: str) -> str:
        return "Sunny."

    tool = FunctionTool(weather, description="The weather of a city")
    asked = [UserMessage(content=QUESTION, source="user")]
    result = await client().create(asked, tools=[tool], tool_choice=tool)
    assert isinstance(result.content, list) and result.content[0].name == "weather"


def run(work: Callable[[], Coroutine[None, None, None]]) -> None:
    asyncio.run(work())


for name, work in (("whole", whole), ("streamed", streamed), ("with a tool", with_a_tool)):
    operation(f"chat: {name}")(partial(run, work))
