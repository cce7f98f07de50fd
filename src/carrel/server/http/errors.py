"""Answers to errors, those of the records too, in the interface's shapes."""

import json
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from carrel.server.errors import ApiError, InvalidRequest, as_sent
from carrel.server.records.errors import (
    Conflict,
    Impossible,
    InvalidField,
    NotAllowed,
    NotFound,
    OverQuota,
    RecordError,
)
from carrel.wire.errors import ValidationDetail, ValidationErrorBody

_LEFT = 499
"""The status, in the log only, of a request whose caller disconnected before the answer."""

_SHOWN = 200
"""Letters of a wrong input that are sent back."""

_STATUSES: dict[type[RecordError], int] = {
    Impossible: 400,
    NotAllowed: 403,
    OverQuota: 403,
    NotFound: 404,
    Conflict: 409,
}


def api_error(error: RecordError | ApiError) -> ApiError:
    """Return the error response for an error of the records."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, InvalidField):
        return InvalidRequest(error.loc, error.message)
    return ApiError(_STATUSES[type(error)], error.message)


def install_handlers(app: FastAPI) -> None:
    """Answer every error in the interface's shapes."""
    for kind in (ApiError, RecordError):
        app.add_exception_handler(kind, _answer_own)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(RequestValidationError, _answer_validation)
    app.add_exception_handler(ClientDisconnect, _answer_nobody)


async def _answer_own(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError | RecordError)
    return api_error(error).answer(request.scope)


async def _answer_nobody(request: Request, error: Exception) -> Response:
    return Response(status_code=_LEFT)


async def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code in (404, 405):
        return JSONResponse({"detail": error.detail}, error.status_code, headers=error.headers)
    return ApiError(error.status_code, error.detail).answer(request.scope)


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
