"""Chat, responses and embeddings through langchain-openai."""

from functools import partial
from typing import Any

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from conformance.drivers.operation import KEY, MODEL, QUESTION, URL, WEATHER, operation

address: Any = {"base_url": f"{URL}/v1", "api_key": KEY, "max_retries": 0}


def chat(max_tokens: int = 8, *, responses: bool = False) -> Any:
    return ChatOpenAI(
        model=MODEL,
        max_tokens=max_tokens,
        temperature=0,
        use_responses_api=responses,
        **address,
    )


def whole(responses: bool) -> None:
    answer = chat(responses=responses).invoke("Say hello.")
    assert answer.text
    assert answer.usage_metadata["output_tokens"] <= 8


def streamed(responses: bool) -> None:
    chunks = chat(24, responses=responses).stream("Say hello.")
    assert "".join(chunk.text for chunk in chunks)


def with_a_tool(responses: bool) -> None:
    asked: list[Any] = [HumanMessage(QUESTION)]
    able = chat(64, responses=responses).bind_tools([WEATHER], tool_choice="required")
    answer = able.invoke(asked)
    (call,) = answer.tool_calls
    assert call["name"] == "weather"
    asked += [answer, ToolMessage("Sunny.", tool_call_id=call["id"])]
    assert chat(responses=responses).invoke(asked).text


for area, responses in (("chat", False), ("responses", True)):
    for name, work in (("whole", whole), ("streamed", streamed), ("with a tool", with_a_tool)):
        operation(f"{area}: {name}")(partial(work, responses))


@operation("embeddings: create")
def _() -> None:
    embeddings = OpenAIEmbeddings(
        model="mistral-embed", check_embedding_ctx_length=False, **address
    )
    lamp, chair = embeddings.embed_documents(["a lamp", "a chair"])
    assert lamp != chair
