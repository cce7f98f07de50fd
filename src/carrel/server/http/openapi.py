"""Additions to FastAPI's OpenAPI description."""

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel

from carrel.wire.errors import DetailBody, ErrorBody, ValidationErrorBody
from carrel.wire.generation.completions import CompletionChunk
from carrel.wire.generation.conversations import ConversationEvent
from carrel.wire.generation.responses import ResponseEvent

Described = dict[int | str, dict[str, Any]]

EXTENSION = {"x-carrel-extension": True}
"""Marks an operation that only this server has."""

ERRORS: Described = {
    "4XX": {"model": ErrorBody | DetailBody, "description": "What is wrong, and what to do"},
    "5XX": {"model": ErrorBody, "description": "The server or its model failed"},
}
"""The errors of every operation."""

_COMPONENT = "#/components/schemas/{model}"

KEYED_ERRORS: Described = {
    401: {"model": DetailBody, "description": "No key, or not a good one"},
    422: {"model": ValidationErrorBody, "description": "Which fields are wrong"},
    **ERRORS,
}
"""The errors of every operation that asks for a key."""


def binary(*media_types: str) -> Described:
    """Describe an answer that carries bytes."""
    content = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in media_types}
    whole = {"description": "The bytes", "content": content}
    return {200: whole, 206: {**whole, "description": "The part asked for with `Range`"}}


_ENDED_BY_DONE = (
    ", but for the last, which is `[DONE]`. With the header `Prefer: progress` (an extension)"
    " events named `progress` tell the steps before the first word, and one named `error` ends an"
    " answer that fails"
)


def with_stream(event: type[BaseModel], besides: str = _ENDED_BY_DONE) -> Described:
    """Describe an answer that may come as server-sent events instead."""
    schema = {
        "type": "string",
        "description": f"Server-sent events: the data of each is a {event.__name__}{besides}.",
        "contentMediaType": "application/json",
        "contentSchema": {"$ref": _COMPONENT.format(model=event.__name__)},
    }
    return {200: {"content": {"text/event-stream": {"schema": schema}}}}


def multipart(fields: type[BaseModel] | None = None) -> dict[str, Any]:
    """Describe the body of an upload: one file, and text parts."""
    properties = fields.model_json_schema()["properties"] if fields else {}
    schema = {
        "type": "object",
        "properties": {"file": {"type": "string", "format": "binary"}, **properties},
        "required": ["file"],
    }
    content = {"multipart/form-data": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


def describe(
    version: str,
    keyed: Sequence[APIRouter],
    others: Sequence[APIRouter],
    is_open: Callable[[str], bool],
) -> dict[str, Any]:
    """Return the OpenAPI description of some routers, query models and keys included."""
    described = APIRouter()
    for router in keyed:
        described.include_router(router, responses=KEYED_ERRORS)
    for router in others:
        described.include_router(router, responses=ERRORS)
    schema = get_openapi(
        title="Carrel",
        version=version,
        description="Files, agents, OCR, completions and libraries. What is marked as an"
        " extension, only this server has.",
        routes=described.routes,
    )
    # Events of a stream, which FastAPI does not find in any body.
    for event in (CompletionChunk, ConversationEvent, ResponseEvent):
        schema["components"]["schemas"] |= _components(event)
    schemes = schema["components"].setdefault("securitySchemes", {})
    schemes["key"] = {"type": "http", "scheme": "bearer"}
    for route in (route for router in (*keyed, *others) for route in router.routes):
        if not isinstance(route, APIRoute) or not route.include_in_schema:
            continue
        for method in route.methods or ():
            operation = schema["paths"][route.path_format][method.lower()]
            if not is_open(route.path):
                operation["security"] = [{"key": []}]
            for dependency in route.dependant.dependencies:
                if model := getattr(dependency.call, "query_model", None):
                    operation.setdefault("parameters", []).extend(_parameters(model))
    return schema


def _components(model: type[BaseModel]) -> dict[str, Any]:
    described = model.model_json_schema(mode="serialization", ref_template=_COMPONENT)
    return {**described.pop("$defs", {}), model.__name__: described}


def _parameters(model: type[BaseModel]) -> list[dict[str, Any]]:
    described = model.model_json_schema()
    return [
        {
            "name": name,
            "in": "query",
            "required": name in described.get("required", ()),
            **_content(_without_null(schema)),
        }
        for name, schema in described["properties"].items()
    ]


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("type") == "object":
        return {"content": {"application/json": {"schema": schema}}}
    return {"schema": schema}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an optional query value, which cannot be null."""
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) != 1:
        return schema
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**rest, **choices[0]}
