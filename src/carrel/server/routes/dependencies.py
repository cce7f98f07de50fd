"""What routes ask for: the server, the caller, query parameters as a model."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar, get_origin

from fastapi import Depends
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import Request

from carrel.server.access import Caller
from carrel.server.parts import Server

M = TypeVar("M", bound=BaseModel)


def _server(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


CurrentServer = Annotated[Server, Depends(_server)]


async def _caller(request: Request, server: CurrentServer) -> Caller:
    return await server.access.caller(request.headers.get("authorization"))


CurrentCaller = Annotated[Caller, Depends(_caller)]
"""The authenticated caller; a request without a good key is answered 401."""


def base_url(request: Request, server: Server) -> str:
    """The address that signed addresses begin with."""
    return server.settings.public_url or str(request.base_url)


def query(model: type[M]) -> Callable[[Request], M]:
    """A dependency that reads a model from the query.

    A list is a repeated key. Unknown and empty parameters are ignored: newer clients send
    some that this server does not know.
    """

    def read(request: Request) -> M:
        return _validated(model, _values(model, request.query_params), "query")

    return read


def fields(model: type[M], given: dict[str, str]) -> M:
    """A model of the text parts of an upload. Unknown and empty parts are ignored."""
    known = {name: value for name, value in given.items() if value and name in model.model_fields}
    return _validated(model, known, "body")


def _validated(model: type[M], values: dict[str, Any], where: str) -> M:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise RequestValidationError(
            [{**item, "loc": (where, *item["loc"])} for item in error.errors()]
        ) from None


def _values(model: type[BaseModel], parameters: QueryParams) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        given = [value for value in parameters.getlist(name) if value]
        if given:
            values[name] = given if _is_list(info.annotation) else given[-1]
    return values


def _is_list(annotation: Any) -> bool:
    members = getattr(annotation, "__args__", ())
    return get_origin(annotation) is list or any(get_origin(item) is list for item in members)
