"""A request of the Responses shape as one for a chat."""

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import TypeAdapter

from carrel.server.errors import ApiError
from carrel.wire.generation.responses import (
    CallItem,
    FilePart,
    FileSearch,
    ImagePart,
    InputItem,
    MessageItem,
    OtherItem,
    OtherTool,
    Part,
    RefusalPart,
    ResponseFunction,
    ResponseRequest,
    ResultItem,
    TextPart,
)

_ABSENT = ("conversation", "prompt")
"""Fields that need what this server does not keep."""
_ITEMS: TypeAdapter[list[InputItem]] = TypeAdapter(list[InputItem])
_WITHOUT_EFFECT = frozenset(
    [
        *("include", "max_tool_calls", "prompt_cache_key", "prompt_cache_retention"),
        *("safety_identifier", "service_tier", "stream_options", "top_logprobs"),
        *("truncation", "user"),
    ]
)


def as_chat(request: ResponseRequest) -> dict[str, Any]:
    """Return the fields of the same request for a chat.

    Raises:
        ApiError: 400, naming the part that this server does not have.
    """
    for name in _ABSENT:
        if getattr(request, name):
            raise ApiError(
                400,
                f"This server does not support {name}. Send previous_response_id, or the whole"
                " conversation as input.",
                param=name,
            )
    if request.background and (request.stream or not request.store):
        message = "An answer in the background is kept and not streamed: read it when it is done."
        raise ApiError(400, message, param="background")
    choice = request.tool_choice
    return {
        "model": request.model,
        "messages": _messages(request),
        "max_tokens": request.max_output_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stream": request.stream,
        "tools": [_tool(tool) for tool in request.tools] or None,
        "parallel_tool_calls": request.parallel_tool_calls,
        "reasoning_effort": request.reasoning.effort if request.reasoning else None,
        "tool_choice": choice
        if isinstance(choice, str)
        else {"type": "function", "function": {"name": choice.name}},
        "response_format": _format(request),
    }


def input_items(request: ResponseRequest) -> list[dict[str, Any]]:
    """Return the items of a request as they are listed, each with an id."""
    given: Sequence[Any] = (
        [MessageItem(role="user", content=request.input)]
        if isinstance(request.input, str)
        else request.input
    )
    items = [item.model_dump(mode="json", exclude_none=True) for item in given]
    return [{**item, **_listed(item)} for item in items]


def after(request: ResponseRequest, before: Sequence[dict[str, Any]]) -> ResponseRequest:
    """Return the request with the items before it as part of its input."""
    if not before:
        return request
    items = _ITEMS.validate_python([*before, *input_items(request)])
    return request.model_copy(update={"input": items})


def _listed(item: dict[str, Any]) -> dict[str, Any]:
    content = item.get("content")
    if item["type"] != "message" or not isinstance(content, str):
        return {"id": f"item_{uuid.uuid4().hex}"}
    kind = "output_text" if item["role"] == "assistant" else "input_text"
    return {"id": f"msg_{uuid.uuid4().hex}", "content": [{"type": kind, "text": content}]}


def ignored(request: ResponseRequest) -> list[str]:
    """Return the unknown fields of a request, which were left out."""
    return sorted((request.model_extra or {}).keys() - _WITHOUT_EFFECT)


def _messages(request: ResponseRequest) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    if request.instructions:
        messages.append({"role": "system", "content": request.instructions})
    if isinstance(request.input, str):
        return [*messages, {"role": "user", "content": request.input}]
    for item in request.input:
        if isinstance(item, MessageItem):
            role = "system" if item.role == "developer" else item.role
            messages.append({"role": role, "content": _content(item.content)})
        elif isinstance(item, CallItem):
            # Calls that were made together belong to one message.
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": ""})
            called = {"name": item.name, "arguments": item.arguments}
            calls = messages[-1].setdefault("tool_calls", [])
            calls.append({"id": item.call_id, "function": called, "index": len(calls)})
        elif isinstance(item, ResultItem):
            content = _content(item.output)
            messages.append({"role": "tool", "content": content, "tool_call_id": item.call_id})
        elif isinstance(item, OtherItem):
            raise _unsupported(f"input of the type {item.type[:80]}", "input")
    if not messages:
        raise ApiError(400, "The input has no message. Send one.", param="input")
    return messages


def _content(content: str | Sequence[Part]) -> str | list[dict[str, Any]]:
    return content if isinstance(content, str) else list(_chunks(content))


def _chunks(parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    for part in parts:
        if isinstance(part, TextPart):
            yield {"type": "text", "text": part.text}
        elif isinstance(part, RefusalPart):
            yield {"type": "text", "text": part.refusal}
        elif isinstance(part, ImagePart) and part.image_url:
            yield {"type": "image_url", "image_url": part.image_url}
        elif isinstance(part, FilePart) and part.file_id:
            yield {"type": "file", "file_id": part.file_id}
        elif isinstance(part, FilePart) and (url := part.file_url or part.file_data):
            yield {
                "type": "document_url",
                "document_url": url,
                "document_name": part.filename,
            }
        else:
            raise _unsupported(f"such a part of the type {part.type[:80]}", "input")


def _tool(tool: ResponseFunction | FileSearch | OtherTool) -> dict[str, Any]:
    if isinstance(tool, FileSearch):
        return {"type": "document_library", "library_ids": tool.vector_store_ids}
    if isinstance(tool, OtherTool):
        raise _unsupported(f"the tool {tool.type[:80]}", "tools")
    named = tool.model_dump(include={"name", "parameters", "description", "strict"})
    return {"type": "function", "function": named}


def _format(request: ResponseRequest) -> dict[str, Any] | None:
    asked = request.text.format
    if asked.type != "json_schema":
        return {"type": asked.type}
    if asked.schema_definition is None:
        raise ApiError(400, "A json_schema format needs its schema.", param="text.format.schema")
    return {
        "type": "json_schema",
        "json_schema": {"name": asked.name, "schema": asked.schema_definition},
    }


def _unsupported(what: str, param: str) -> ApiError:
    return ApiError(400, f"This server does not support {what}. Leave it out.", param=param)
