"""Files, OCR, chat and embeddings through litellm."""

import os
from types import SimpleNamespace
from typing import Any

from conformance.drivers.operation import (
    KEY,
    MODEL,
    PDF,
    PNG,
    QUESTION,
    THINKING_KEY,
    THINKING_URL,
    URL,
    WEATHER,
    data_url,
    operation,
    signed_address,
)

# Otherwise it fetches a list of prices when it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm

address: Any = {"api_base": URL, "api_key": KEY}
files: Any = {**address, "custom_llm_provider": "mistral"}
chat: Any = {**address, "model": f"mistral/{MODEL}", "temperature": 0}
hello: Any = [{"role": "user", "content": "Say hello."}]
made = SimpleNamespace()


@operation("files: upload")
def _() -> None:
    made.file = litellm.create_file(file=(PDF.name, PDF.read_bytes()), purpose="ocr", **files)
    assert made.file.bytes == PDF.stat().st_size


@operation("files: list")
def _() -> None:
    assert made.file.id in [file.id for file in litellm.file_list(**files)]


@operation("files: retrieve")
def _() -> None:
    assert litellm.file_retrieve(made.file.id, **files).filename == PDF.name


@operation("files: download")
def _() -> None:
    assert litellm.file_content(made.file.id, **files).content == PDF.read_bytes()


@operation("files: delete")
def _() -> None:
    assert litellm.file_delete(made.file.id, **files).deleted


def ocr(document: dict[str, Any], **options: Any) -> Any:
    return litellm.ocr(model="mistral/mistral-ocr-latest", document=document, **options, **address)


@operation("OCR: signed address")
def _() -> None:
    answer = ocr({"type": "document_url", "document_url": signed_address(PDF)})
    assert "carrel" in answer.pages[0].markdown


@operation("OCR: data URL")
def _() -> None:
    picture = {"type": "image_url", "image_url": data_url(PNG)}
    assert "carrel" in ocr(picture).pages[0].markdown


@operation("OCR: pages")
def _() -> None:
    pages = ocr({"type": "file", "file": PDF}, pages=[1]).pages
    assert [page.index for page in pages] == [1]


@operation("chat: whole")
def _() -> None:
    answer = litellm.completion(messages=hello, max_tokens=8, **chat)
    assert answer.choices[0].message.content
    assert answer.usage.completion_tokens <= 8


@operation("chat: streamed")
def _() -> None:
    chunks = list(litellm.completion(messages=hello, max_tokens=8, stream=True, **chat))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


@operation("chat: with a tool")
def _() -> None:
    asked: list[Any] = [{"role": "user", "content": QUESTION}]
    answer = litellm.completion(
        messages=asked, tools=[WEATHER], tool_choice="required", max_tokens=64, **chat
    )
    message = answer.choices[0].message
    (call,) = message.tool_calls
    assert call.function.name == "weather"
    asked += [message, {"role": "tool", "tool_call_id": call.id, "content": "Sunny."}]
    answer = litellm.completion(messages=asked, tools=[WEATHER], max_tokens=8, **chat)
    assert answer.choices[0].message


reason: Any = {**chat, "api_base": THINKING_URL, "api_key": THINKING_KEY, "messages": hello}


@operation("reasoning: whole")
def _() -> None:
    message = litellm.completion(**reason).choices[0].message
    assert (message.reasoning_content, message.content) == ("Let me see.", "Four.")


@operation("reasoning: streamed")
def _() -> None:
    deltas = [chunk.choices[0].delta for chunk in litellm.completion(stream=True, **reason)]
    thought = [getattr(delta, "reasoning_content", None) or "" for delta in deltas]
    assert "".join(thought) == "Let me see."


@operation("embeddings: create")
def _() -> None:
    answer = litellm.embedding(
        model="mistral/mistral-embed", input=["a lamp", "a chair"], **address
    )
    assert answer.data[0]["embedding"] != answer.data[1]["embedding"]
