"""Chat and embeddings through langchain-mistralai."""

import os
from typing import Any

# Otherwise it looks for a tokenizer on the network, with many retries.
os.environ["HF_HUB_OFFLINE"] = "1"

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_mistralai import ChatMistralAI, MistralAIEmbeddings

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

address: Any = {"base_url": f"{URL}/v1", "api_key": KEY}


def chat(max_tokens: int = 8) -> Any:
    return ChatMistralAI(model=MODEL, max_tokens=max_tokens, temperature=0, **address)


def thinking() -> Any:
    return ChatMistralAI(
        model=MODEL,
        base_url=f"{THINKING_URL}/v1",
        api_key=THINKING_KEY,
        model_kwargs={"prompt_mode": "reasoning"},
    )


@operation("reasoning: whole")
def _() -> None:
    thought, said = thinking().invoke("2+2?").content_blocks
    assert (thought["reasoning"], said["text"]) == ("Let me see.", "Four.")


@operation("reasoning: streamed")
def _() -> None:
    blocks = [block for chunk in thinking().stream("2+2?") for block in chunk.content_blocks]
    assert "".join(block.get("reasoning", "") for block in blocks) == "Let me see."


@operation("chat: whole")
def _() -> None:
    answer = chat().invoke("Say hello.")
    assert answer.content
    assert answer.usage_metadata["output_tokens"] <= 8


@operation("chat: streamed")
def _() -> None:
    assert "".join(chunk.content for chunk in chat().stream("Say hello."))


@operation("chat: with a tool")
def _() -> None:
    asked: list[Any] = [HumanMessage(QUESTION)]
    answer = chat(64).bind_tools([WEATHER], tool_choice="any").invoke(asked)
    (call,) = answer.tool_calls
    assert call["name"] == "weather"
    asked += [answer, ToolMessage("Sunny.", tool_call_id=call["id"])]
    assert chat().invoke(asked).content


@operation("embeddings: create")
def _() -> None:
    embeddings = MistralAIEmbeddings(model="mistral-embed", endpoint=f"{URL}/v1/", api_key=KEY)
    lamp, chair = embeddings.embed_documents(["a lamp", "a chair"])
    assert lamp != chair
