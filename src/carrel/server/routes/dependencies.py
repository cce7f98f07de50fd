"""Dependencies of routes: the server, the caller, query parameters as a model."""

import json
from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from fastapi import Depends
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import Request

from carrel.server.assembly import Server
from carrel.server.records.caller import Caller

M = TypeVar("M", bound=BaseModel)


def _server(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


CurrentServer = Annotated[Server, Depends(_server)]


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


CurrentCaller = Annotated[Caller, Depends(_caller)]
"""The caller; the middleware has refused requests without a valid key."""


def base_url(request: Request, server: Server) -> str:
    """The base of signed addresses."""
    return server.settings.public_url or str(request.base_url)


def query_of(model: type[M]) -> Callable[[Request], M]:
    """A dependency that reads a model from the query.

    A list is a repeated key, an object is JSON in one value. Unknown and empty parameters
    are ignored: newer clients send some that this server does not know.
    """

    def read(request: Request) -> M:
        return validated(model, _values(model, request.query_params), "query")

    # Read by the OpenAPI description.
    read.query_model = model  # type: ignore[attr-defined]
    return read


def fields_of(model: type[M], given: dict[str, str]) -> M:
    """A model of the text parts of an upload. Unknown and empty parts are ignored."""
    known = {name: value for name, value in given.items() if value and name in model.model_fields}
    return validated(model, known, "body")


def validated(model: type[M], values: Any, where: str) -> M:
    """Validates values that FastAPI did not read itself; errors are answered with 422."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise RequestValidationError(
            [{**item, "loc": (where, *item["loc"])} for item in error.errors()], body=values
        ) from None


def _values(model: type[BaseModel], parameters: QueryParams) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        given = [value for value in parameters.getlist(name) if value]
        if given:
            values[name] = _value(info.annotation, given)
    return values


def _value(annotation: Any, given: list[str]) -> Any:
    kinds = _kinds(annotation)
    if list in kinds:
        return given
    return _json_object(given[-1]) if dict in kinds else given[-1]


def _kinds(annotation: Any) -> set[Any]:
    """The plain types of an annotation, without parameters and constraints."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kinds(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return {kind for member in get_args(annotation) for kind in _kinds(member)}
    return {origin or annotation}


def _json_object(text: str) -> dict[str, Any] | None:
    # One official client sends a JSON string where it means "not given".
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
