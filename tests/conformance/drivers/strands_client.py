"""Chat through an agent of strands."""

import asyncio

from strands import Agent, tool
from strands.models.openai import OpenAIModel

from conformance.drivers.operation import KEY, MODEL, QUESTION, URL, operation


# An answer that is cut short is an error to it.
def model() -> OpenAIModel:
    return OpenAIModel(
        client_args={"base_url": f"{URL}/v1", "api_key": KEY, "max_retries": 0},
        model_id=MODEL,
        params={"temperature": 0, "max_tokens": 200},
    )


@tool  # type: ignore[untyped-decorator]
def weather(city: str) -> str:
    """The weather of a city."""
    return "Sunny."


@operation("chat: whole")
def _() -> None:
    assert str(Agent(model=model(), callback_handler=None)("Say hello.")).strip()


@operation("chat: streamed")
def _() -> None:
    async def run() -> str:
        agent = Agent(model=model(), callback_handler=None)
        return "".join([part.get("data", "") async for part in agent.stream_async("Say hello.")])

    assert asyncio.run(run())


@operation("chat: with a tool")
def _() -> None:
    async def run() -> list[str]:
        asked = [{"role": "user", "content": [{"text": QUESTION}]}]
        parts = model().stream(asked, [weather.tool_spec], tool_choice={"any": {}})
        return [str(part) async for part in parts]

    # An agent of it cannot be told to call a tool, and a small model does not by itself.
    assert any("toolUse" in part and "weather" in part for part in asyncio.run(run()))
