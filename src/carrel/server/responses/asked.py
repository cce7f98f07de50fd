"""Converts a request of the Responses shape to one of a chat."""

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
    MCPServer,
    MessageItem,
    OtherItem,
    OtherTool,
    Part,
    RefusalPart,
    ResponseRequest,
    ResponseTool,
    ResultItem,
    TextPart,
    WebSearch,
)

_ITEMS: TypeAdapter[list[InputItem]] = TypeAdapter(list[InputItem])
_WITHOUT_EFFECT = frozenset(
    [
        *("include", "max_tool_calls", "prompt_cache_key", "prompt_cache_retention"),
        *("safety_identifier", "service_tier", "stream_options", "top_logprobs"),
        *("truncation", "user"),
    ]
)


def check(request: ResponseRequest) -> None:
    """Refuse parts of a request that this server does not support.

    Raises:
        ApiError: 400, naming the part.
    """
    if request.prompt:
        message = "This server keeps no prompts. Send instructions and input, or ask an agent."
        raise ApiError(400, message, param="prompt")
    if request.conversation and request.previous_response_id:
        message = "An answer follows a conversation or another answer. Send one of the two."
        raise ApiError(400, message, param="conversation")
    if request.background and not request.store:
        message = "An answer in the background is read later. Leave store out."
        raise ApiError(400, message, param="background")


def as_chat(request: ResponseRequest, said: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields of the same request for a chat, after the messages `said` before.

    Raises:
        ApiError: 400, naming the part that this server does not have.
    """
    choice = request.tool_choice
    told = [{"role": "system", "content": request.instructions}] if request.instructions else []
    return {
        "model": request.model,
        "messages": as_messages(request_items(request), [*told, *said]),
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


def request_items(request: ResponseRequest) -> list[InputItem]:
    """Return the items of a request; its text is a message of the user."""
    if isinstance(request.input, str):
        return [MessageItem(role="user", content=request.input)]
    return request.input


def input_items(request: ResponseRequest) -> list[dict[str, Any]]:
    """Return the input items of a request for their list, each with an id."""
    items = [item.model_dump(mode="json", exclude_none=True) for item in request_items(request)]
    return [{**item, **_to_item(item)} for item in items]


def read_items(items: Sequence[dict[str, Any]]) -> list[InputItem]:
    """Return items as they were stored."""
    return _ITEMS.validate_python(items)


def _to_item(item: dict[str, Any]) -> dict[str, Any]:
    content = item.get("content")
    if item["type"] != "message" or not isinstance(content, str):
        return {"id": f"item_{uuid.uuid4().hex}"}
    kind = "output_text" if item["role"] == "assistant" else "input_text"
    return {"id": f"msg_{uuid.uuid4().hex}", "content": [{"type": kind, "text": content}]}


def ignored_fields(request: ResponseRequest) -> list[str]:
    """Return the unknown fields of a request, which were left out."""
    return sorted((request.model_extra or {}).keys() - _WITHOUT_EFFECT)


def as_messages(
    items: Sequence[InputItem], before: Sequence[dict[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Return items as the messages of a chat, after those before.

    Raises:
        ApiError: 400, there is no message, or an item that this server does not have.
    """
    messages = [*before]
    for item in items:
        if isinstance(item, MessageItem):
            role = "system" if item.role == "developer" else item.role
            messages.append({"role": role, "content": content_of(item.content)})
        elif isinstance(item, CallItem):
            # Calls that were made together belong to one message.
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": ""})
            called = {"name": item.name, "arguments": item.arguments}
            calls = messages[-1].setdefault("tool_calls", [])
            calls.append({"id": item.call_id, "function": called, "index": len(calls)})
        elif isinstance(item, ResultItem):
            content = content_of(item.output)
            messages.append({"role": "tool", "content": content, "tool_call_id": item.call_id})
        elif isinstance(item, OtherItem):
            raise _refusal(f"input of the type {item.type[:80]}", "input")
    if not messages:
        raise ApiError(400, "The input has no message. Send one.", param="input")
    return messages


def content_of(content: str | Sequence[Part]) -> str | list[dict[str, Any]]:
    """Return the content of an item as that of a chat's message.

    Raises:
        ApiError: 400, it has a part that this server does not have.
    """
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
            yield {"type": "document_url", "document_url": url, "document_name": part.filename}
        else:
            raise _refusal(f"such a part of the type {part.type[:80]}", "input")


def _tool(tool: ResponseTool) -> dict[str, Any]:
    if isinstance(tool, FileSearch):
        return {"type": "document_library", "library_ids": tool.vector_store_ids}
    if isinstance(tool, MCPServer):
        return _connector(tool)
    if isinstance(tool, WebSearch):
        return {"type": "web_search"}
    if isinstance(tool, OtherTool):
        raise _refusal(f"the tool {tool.type[:80]}", "tools")
    named = tool.model_dump(include={"name", "parameters", "description", "strict"})
    return {"type": "function", "function": named}


def _connector(tool: MCPServer) -> dict[str, Any]:
    if tool.server_url:
        raise ApiError(
            400,
            "This server calls only the MCP servers that its settings name. Leave server_url out,"
            " and send the name as server_label.",
            param="tools",
        )
    if tool.require_approval != "never":
        raise ApiError(
            400,
            'An answer of this shape does not ask for approval here. Send require_approval "never",'
            " or ask in a conversation, with requires_confirmation.",
            param="tools",
        )
    key = tool.authorization
    return {
        "type": "connector",
        "connector_id": tool.server_label,
        "authorization": key and {"type": "oauth2-token", "value": key},
        "tool_configuration": {"include": tool.names},
    }


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


def _refusal(what: str, param: str) -> ApiError:
    return ApiError(400, f"This server does not support {what}. Leave it out.", param=param)
