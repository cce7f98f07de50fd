"""The parts of an answer as the chunks of its content."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from carrel.server.completions.citations import Reference
from carrel.wire.generation.content import as_chunks, text_chunk

Chunk = dict[str, Any]


def reference_chunk(reference: Reference) -> Chunk:
    """Return a citation as a chunk."""
    return {"type": "reference", "reference_ids": reference.numbers}


def thinking_chunk(text: str) -> Chunk:
    """Return thinking as a chunk."""
    return {"type": "thinking", "thinking": [text_chunk(text)]}


def content_of(parts: Iterable[str | Reference]) -> str | list[Chunk]:
    """Return the content of a message: plain text unless there is a citation in it."""
    chunks: list[Chunk] = []
    for is_text, group in groupby(parts, lambda part: isinstance(part, str)):
        if is_text:
            chunks += as_chunks("".join(map(str, group)))
        else:
            chunks += [reference_chunk(part) for part in group if isinstance(part, Reference)]
    if all(chunk["type"] == "text" for chunk in chunks):
        return "".join(chunk["text"] for chunk in chunks)
    return chunks
