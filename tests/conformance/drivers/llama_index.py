"""Chat through llama-index-llms-mistralai."""

from typing import Any

from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.tools import FunctionTool
from llama_index.llms.mistralai import MistralAI

from conformance.drivers.operation import (
    KEY,
    MODEL,
    QUESTION,
    THINKING_KEY,
    THINKING_URL,
    URL,
    operation,
)

hello = [ChatMessage(role=MessageRole.USER, content="Say hello.")]


def chat(max_tokens: int = 8) -> Any:
    return MistralAI(model=MODEL, endpoint=URL, api_key=KEY, max_tokens=max_tokens, temperature=0)


def weather(city: str) -> str:
    """The weather of a city."""
    return f"Sunny in {city}."


def thinking() -> Any:
    return MistralAI(
        model="magistral-medium-latest",
        endpoint=THINKING_URL,
        api_key=THINKING_KEY,
        additional_kwargs={"prompt_mode": "reasoning"},
    )


@operation("reasoning: whole")
def _() -> None:
    thought, said = thinking().chat(hello).message.blocks
    assert (thought.content, said.text) == ("Let me see.", "Four.")


@operation("reasoning: streamed")
def _() -> None:
    # It takes only what stands between tags for thinking, and streams chunks of it as text.
    text = "".join(answer.delta for answer in thinking().stream_chat(hello))
    assert text.splitlines() == ["Let me see.", "Four."]


@operation("chat: whole")
def _() -> None:
    assert chat().chat(hello).message.content


@operation("chat: streamed")
def _() -> None:
    assert "".join(answer.delta for answer in chat().stream_chat(hello))


@operation("chat: with a tool")
def _() -> None:
    model, tool = chat(64), FunctionTool.from_defaults(weather)
    asked = [ChatMessage(role=MessageRole.USER, content=QUESTION)]
    answer = model.chat_with_tools([tool], chat_history=asked, tool_required=True)
    (call,) = model.get_tool_calls_from_response(answer)
    assert call.tool_name == "weather"
    result = ChatMessage(
        role=MessageRole.TOOL,
        content="Sunny.",
        additional_kwargs={"tool_call_id": call.tool_id, "name": "weather"},
    )
    assert chat().chat([*asked, answer.message, result]).message.content
