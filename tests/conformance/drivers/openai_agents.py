"""Agents of openai-agents: over responses, over chat, and with Carrel's tools."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import openai
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from agents.mcp import MCPServerStreamableHttp, create_static_tool_filter

from conformance.drivers.operation import KEY, MODEL, QUESTION, URL, operation

set_tracing_disabled(True)  # it would be sent to its vendor

Kind = type[OpenAIChatCompletionsModel] | type[OpenAIResponsesModel]


def weather(city: str) -> str:
    """The weather of a city."""
    return "Sunny."


def agent(kind: Kind, **more: Any) -> Any:
    client = openai.AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
    choice = "required" if more else None
    # An answer that is cut short is an error to it.
    settings = ModelSettings(max_tokens=200, temperature=0, tool_choice=choice)
    model = kind(model=MODEL, openai_client=client)
    return Agent(name="reader", model=model, model_settings=settings, **more)


def run(work: Callable[[Kind], Coroutine[Any, Any, None]], kind: Kind) -> None:
    asyncio.run(work(kind))


async def whole(kind: Kind) -> None:
    assert (await Runner.run(agent(kind), "Say hello.")).final_output


async def streamed(kind: Kind) -> None:
    result = Runner.run_streamed(agent(kind), "Say hello.")
    events = [event async for event in result.stream_events()]
    assert events
    assert result.final_output


async def with_a_tool(kind: Kind) -> None:
    asked = agent(kind, tools=[function_tool(weather)], tool_use_behavior="stop_on_first_tool")
    assert (await Runner.run(asked, QUESTION)).final_output == "Sunny."


def door(*only: str) -> Any:
    return MCPServerStreamableHttp(
        params={"url": f"{URL}/mcp", "headers": {"Authorization": f"Bearer {KEY}"}},
        tool_filter=create_static_tool_filter(allowed_tool_names=list(only)) if only else None,
    )


async def tools() -> None:
    async with door() as server:
        assert "search_library" in [tool.name for tool in await server.list_tools()]


async def by_an_agent() -> None:
    async with door("list_libraries") as server:
        asked = agent(
            OpenAIChatCompletionsModel,
            mcp_servers=[server],
            tool_use_behavior="stop_on_first_tool",
        )
        result = await Runner.run(asked, "List the libraries, page 0.")
        assert "libraries" in str(result.final_output)


for area, kind in (("chat", OpenAIChatCompletionsModel), ("responses", OpenAIResponsesModel)):
    for name, work in (("whole", whole), ("streamed", streamed), ("with a tool", with_a_tool)):
        operation(f"{area}: {name}")(partial(run, work, kind))
operation("MCP: tools")(lambda: asyncio.run(tools()))
operation("MCP: by an agent")(lambda: asyncio.run(by_an_agent()))
