"""Content chunks: the parts a message may be made of."""

from typing import Annotated, Literal

from pydantic import Field

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


class ThinkingChunk(Request):
    type: Literal["thinking"] = "thinking"
    thinking: list[JSONObject] | Text
    signature: Text | None = None
    closed: bool | None = None


class InputAudioChunk(Request):
    type: Literal["input_audio"] = "input_audio"
    input_audio: Text | JSONObject


class ResourceChunk(Request):
    """What a tool found at an address."""

    type: Literal["resource"] = "resource"
    uri: Text
    content: Annotated[TextChunk | ImageURLChunk, Field(discriminator="type")]


class ResourceLinkChunk(Request):
    """An address that a tool found; the model is told of it, and nothing is fetched."""

    type: Literal["resource_link"] = "resource_link"
    uri: Text
    metadata: JSONObject | None = None


ContentChunk = Annotated[
    TextChunk
    | ImageURLChunk
    | DocumentURLChunk
    | FileChunk
    | ReferenceChunk
    | ThinkingChunk
    | InputAudioChunk
    | ResourceChunk
    | ResourceLinkChunk,
    Field(discriminator="type"),
]

Content = Text | list[ContentChunk]
"""A message's content: plain text or a list of chunks."""
