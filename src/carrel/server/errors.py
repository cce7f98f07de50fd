"""Errors in the interface's shapes."""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from carrel.wire.errors import ErrorBody, ValidationDetail, ValidationErrorBody

_SHOWN = 200
"""Letters of a wrong input that are sent back."""
_KINDS = {
    400: "invalid_request_error",
    404: "not_found_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}


class ApiError(Exception):
    """An error response; its message says what happened and what to do, and may be shown."""

    def __init__(
        self,
        status: int,
        message: str,
        type: str | None = None,
        code: str | None = None,
        *,
        param: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.type = type or _KINDS.get(status, "server_error" if status >= 500 else _KINDS[400])
        self.code = code
        self.param = param
        self.headers = headers

    def body(self, request_id: str | None = None) -> dict[str, Any]:
        """Return the JSON body of the answer."""
        return ErrorBody(
            message=self.message,
            type=self.type,
            param=self.param,
            code=self.code,
            request_id=request_id,
        ).model_dump(mode="json")

    def answer(self, scope: Scope) -> Response:
        """Return the answer to the request of a scope."""
        body = self.body(scope["state"].get("request_id"))
        return JSONResponse(body, self.status, headers=self.headers)


class InvalidKey(Exception):
    """The request has no valid key."""


class InvalidRequest(ApiError):
    """A 422 that names the wrong part of the request, like a validation error."""

    def __init__(self, loc: tuple[str | int, ...], message: str, type: str = "value_error") -> None:
        super().__init__(422, message, type)
        self.details = [ValidationDetail(type=type, loc=list(loc), msg=message)]

    def body(self, request_id: str | None = None) -> dict[str, Any]:
        """Return the JSON body of the answer."""
        return ValidationErrorBody(detail=self.details).model_dump(mode="json")


def install_error_handlers(app: FastAPI) -> None:
    """Answer every error in the interface's shapes."""
    app.add_exception_handler(ApiError, answer_error)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(RequestValidationError, _answer_validation)


async def answer_error(request: Request, error: Exception) -> Response:
    """Answer a request with an ApiError."""
    assert isinstance(error, ApiError)
    return error.answer(request.scope)


async def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code in (404, 405):
        return JSONResponse({"detail": error.detail}, error.status_code, headers=error.headers)
    return await answer_error(request, ApiError(error.status_code, error.detail))


def unauthorized() -> Response:
    """Return the response to a request without a valid key."""
    return JSONResponse({"detail": "Unauthorized"}, 401, headers={"www-authenticate": "Bearer"})


async def _answer_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    details = [_detail(item, error.body) for item in error.errors()]
    return JSONResponse(ValidationErrorBody(detail=details).model_dump(mode="json"), 422)


def _detail(error: dict[str, Any], body: Any) -> ValidationDetail:
    kind, (where, *parts), sent = error["type"], error["loc"], error.get("input")
    missing = parts.pop() if kind == "missing" and parts else None
    if where == "body" and isinstance(body, dict | list):
        parts = as_sent(parts, body)
    if missing is not None:
        parts, sent = [*parts, missing], None
    elif kind == "union_tag_invalid":
        # The field that says which variant it is.
        parts, sent = [*parts, error["ctx"]["discriminator"].strip("'")], error["ctx"]["tag"]
    return ValidationDetail(type=kind, loc=[where, *parts], msg=error["msg"], input=_shorten(sent))


def as_sent(loc: Sequence[str | int], body: Any) -> list[str | int]:
    """Return the path of a field in the body as sent.

    The names of union members that were tried are left out, though a field may be called like one.
    """
    if not loc:
        return []
    part, *rest = loc
    ways = [as_sent(rest, body)]
    with suppress(KeyError, IndexError, TypeError):
        ways.append([part, *as_sent(rest, body[part])])
    return max(ways, key=lambda way: (way[-1:] == [loc[-1]], len(way)))


def _shorten(value: Any) -> Any:
    """Return the sent value, cut to its beginning if it is long."""
    if isinstance(value, str):
        # Half a surrogate pair can neither be sent nor logged.
        shown = value[:_SHOWN].encode(errors="replace").decode()
        return shown if len(value) <= _SHOWN else f"{shown}…"
    if isinstance(value, (bool, float, int)):
        return value
    if isinstance(value, list | dict) and len(value) > _SHOWN:
        return None
    try:
        written = json.dumps(value, allow_nan=False, ensure_ascii=False)
        return value if len(written.encode()) <= _SHOWN else None
    except (TypeError, ValueError, RecursionError):
        return None
