"""Content chunks: the parts a message may be made of."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from carrel.wire.base import JSONObject, Request, Text


class ImageURL(Request):
    """An image by https address or data URL."""

    url: Text
    detail: Literal["low", "auto", "high"] | None = None


class TextChunk(Request):
    type: Literal["text"] = "text"
    text: Text


class ImageURLChunk(Request):
    type: Literal["image_url"] = "image_url"
    image_url: Text | ImageURL

    @property
    def url(self) -> str:
        """The address, from either form."""
        return self.image_url.url if isinstance(self.image_url, ImageURL) else self.image_url


class DocumentURLChunk(Request):
    type: Literal["document_url"] = "document_url"
    document_url: Text
    document_name: Text | None = None


class FileChunk(Request):
    type: Literal["file"] = "file"
    file_id: Text


class ReferenceChunk(Request):
    type: Literal["reference"] = "reference"
    reference_ids: list[int | Text]


class ToolReferenceChunk(Request):
    """A finding of the service's tool that a conversation's answer cites.

    `reference_ids` (an extension) are numbers among the sources in the tool's execution.
    """

    type: Literal["tool_reference"] = "tool_reference"
    tool: Text | JSONObject
    title: Text
    url: Text | None = None
    favicon: Text | None = None
    description: Text | None = None
    reference_ids: list[int | Text] | None = None


class ThinkingChunk(Request):
    type: Literal["thinking"] = "thinking"
    thinking: list[JSONObject] | Text
    signature: Text | None = None
    closed: bool | None = None


class InputAudioChunk(Request):
    type: Literal["input_audio"] = "input_audio"
    input_audio: Text | JSONObject


class ResourceChunk(Request):
    """A finding of a tool at an address."""

    type: Literal["resource"] = "resource"
    uri: Text
    content: Annotated[TextChunk | ImageURLChunk, Field(discriminator="type")]


class ResourceLinkChunk(Request):
    """An address that a tool found; the model is told of it, and nothing is fetched."""

    type: Literal["resource_link"] = "resource_link"
    uri: Text
    metadata: JSONObject | None = None


def _as_ours(chunk: Any) -> Any:
    """Return a `file` part of the chat dialect, whose fields are nested, as a chunk."""
    file = chunk.get("file") if isinstance(chunk, dict) and chunk.get("type") == "file" else None
    if not isinstance(file, dict):
        return chunk
    if file.get("file_data"):
        named = {"document_name": file.get("filename")}
        return {"type": "document_url", "document_url": file["file_data"], **named}
    return {"type": "file", "file_id": file.get("file_id")}


ContentChunk = Annotated[
    TextChunk
    | ImageURLChunk
    | DocumentURLChunk
    | FileChunk
    | ReferenceChunk
    | ToolReferenceChunk
    | ThinkingChunk
    | InputAudioChunk
    | ResourceChunk
    | ResourceLinkChunk,
    Field(discriminator="type"),
    BeforeValidator(_as_ours),
]
"""A part of a message. A `file` part of the chat dialect, `{"file": {"file_id": …}}` or
`{"file": {"file_data": …, "filename": …}}`, is taken as well."""

MAX_CHUNKS = 10_000
"""The most parts of a message."""

Content = Text | Annotated[list[ContentChunk], Field(max_length=MAX_CHUNKS)]
"""A message's content: plain text or a list of chunks."""


def text_chunk(text: str) -> dict[str, Any]:
    """Return a text as a chunk of an answer."""
    return {"type": "text", "text": text}


def as_chunks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return an answer's content as chunks; an empty text has none."""
    if isinstance(content, list):
        return content
    return [text_chunk(content)] if content else []


def text_of(content: object) -> str:
    """Return the text of an answer's content, with its citations as `[1]`."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    return "".join(_text_of(_fields(chunk)) for chunk in content)


def thinking_of(content: object) -> str:
    """Return what an answer's content has of the model's thinking."""
    chunks = map(_fields, content if isinstance(content, list) else ())
    return "".join(
        thinking if isinstance(thinking := chunk.get("thinking"), str) else text_of(thinking)
        for chunk in chunks
        if chunk.get("type") == "thinking"
    )


def _text_of(chunk: dict[str, Any]) -> str:
    numbers = chunk.get("reference_ids")
    if numbers and chunk.get("type") in ("reference", "tool_reference"):
        return f" [{', '.join(map(str, numbers))}]"
    return str(chunk.get("text") or "") if chunk.get("type") == "text" else ""


def _fields(chunk: object) -> dict[str, Any]:
    """Return the fields of a chunk, which is a model or as it came."""
    if isinstance(chunk, dict):
        return chunk
    return chunk.model_dump() if isinstance(chunk, Request) else {}
