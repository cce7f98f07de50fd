"""OCR, chat and embeddings through Haystack's integration."""

from typing import Any

from haystack.dataclasses import ChatMessage, StreamingChunk
from haystack.utils import Secret
from haystack_integrations.components.converters.mistral import MistralOCRDocumentConverter
from haystack_integrations.components.embedders.mistral import MistralTextEmbedder
from haystack_integrations.components.generators.mistral import MistralChatGenerator
from mistralai.client import Mistral
from mistralai.client.models import DocumentURLChunk, ImageURLChunk

from conformance.drivers.operation import (
    KEY,
    MODEL,
    PDF,
    PNG,
    QUESTION,
    URL,
    WEATHER,
    data_url,
    operation,
    signed_address,
)

key: Any = Secret.from_token(KEY)
short: Any = {"max_tokens": 8, "temperature": 0}


def ocr(source: Any, pages: list[int] | None = None) -> Any:
    """The document that the converter makes; it has no setting for the address."""
    converter = MistralOCRDocumentConverter(key, "mistral-ocr-latest", pages=pages)
    converter.warm_up()
    converter.client = Mistral(api_key=KEY, server_url=URL)
    (document,) = converter.run(sources=[source])["documents"]
    return document


def generate(messages: list[Any], options: dict[str, Any], **more: Any) -> Any:
    generator = MistralChatGenerator(key, MODEL, api_base_url=f"{URL}/v1", **more)
    return generator.run(messages, generation_kwargs=options)["replies"][0]


@operation("OCR: file id")
def _() -> None:
    assert ocr(PDF).meta["source_page_count"] == 2


@operation("OCR: signed address")
def _() -> None:
    assert "carrel" in ocr(DocumentURLChunk(document_url=signed_address(PDF))).content


@operation("OCR: data URL")
def _() -> None:
    assert "carrel" in ocr(ImageURLChunk(image_url=data_url(PNG))).content


@operation("OCR: pages")
def _() -> None:
    assert ocr(PDF, pages=[1]).meta["source_page_count"] == 1


@operation("chat: whole")
def _() -> None:
    assert generate([ChatMessage.from_user("Say hello.")], short).text


@operation("chat: streamed")
def _() -> None:
    chunks: list[StreamingChunk] = []
    generate([ChatMessage.from_user("Say hello.")], short, streaming_callback=chunks.append)
    assert "".join(chunk.content for chunk in chunks)


@operation("chat: with a tool")
def _() -> None:
    asked = [ChatMessage.from_user(QUESTION)]
    options = {"tools": [WEATHER], "tool_choice": "any", "max_tokens": 64, "temperature": 0}
    message = generate(asked, options)
    (call,) = message.tool_calls
    assert call.tool_name == "weather"
    asked += [message, ChatMessage.from_tool("Sunny.", call)]
    assert generate(asked, short).text


@operation("embeddings: create")
def _() -> None:
    embedder = MistralTextEmbedder(key, "mistral-embed", api_base_url=f"{URL}/v1")
    assert embedder.run("a lamp")["embedding"] != embedder.run("a chair")["embedding"]
