"""Chat through pydantic-ai."""

from typing import Any

from pydantic_ai import Agent, ModelRequest, ModelSettings, ToolReturnPart, UserPromptPart
from pydantic_ai.direct import model_request_sync
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.mistral import MistralModel
from pydantic_ai.providers.mistral import MistralProvider
from pydantic_ai.tools import ToolDefinition

from conformance.drivers.operation import (
    KEY,
    MODEL,
    QUESTION,
    THINKING_KEY,
    THINKING_URL,
    URL,
    WEATHER,
    operation,
)

model = MistralModel(MODEL, provider=MistralProvider(api_key=KEY, base_url=URL))
short = ModelSettings(max_tokens=8, temperature=0)
thinking = Agent(
    MistralModel(
        "magistral-medium-latest",
        provider=MistralProvider(api_key=THINKING_KEY, base_url=THINKING_URL),
        profile={"supports_thinking": True},
    ),
    model_settings=ModelSettings(thinking="high"),
)
agent = Agent(model, model_settings=short)


@operation("reasoning: whole")
def _() -> None:
    answer = thinking.run_sync("2+2?").response
    assert (answer.thinking, answer.text) == ("Let me see.", "Four.")


@operation("reasoning: streamed")
def _() -> None:
    result = thinking.run_stream_sync("2+2?")
    assert "".join(result.stream_text(delta=True)) == "Four."
    assert result.response.thinking == "Let me see."


@operation("chat: whole")
def _() -> None:
    result = agent.run_sync("Say hello.")
    assert result.output
    assert result.usage.output_tokens <= 8


@operation("chat: streamed")
def _() -> None:
    assert "".join(agent.run_stream_sync("Say hello.").stream_text(delta=True))


@operation("chat: with a tool")
def _() -> None:
    function = WEATHER["function"]
    tool = ToolDefinition(
        name=function["name"],
        description=function["description"],
        parameters_json_schema=function["parameters"],
    )
    given = ModelRequestParameters(function_tools=[tool])
    asked: list[Any] = [ModelRequest([UserPromptPart(QUESTION)])]
    answer = model_request_sync(
        model,
        asked,
        model_settings=ModelSettings(tool_choice="required", max_tokens=64, temperature=0),
        model_request_parameters=given,
    )
    (call,) = answer.tool_calls
    assert call.tool_name == "weather"
    result = ToolReturnPart(call.tool_name, "Sunny.", call.tool_call_id)
    asked += [answer, ModelRequest([result])]
    answer = model_request_sync(model, asked, model_settings=short)
    assert answer.text
