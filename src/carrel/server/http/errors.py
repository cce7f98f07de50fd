"""Errors of the records in the interface's shapes."""

from fastapi import FastAPI
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from carrel.server.errors import ApiError, InvalidRequest, answer_error, install_error_handlers
from carrel.server.records.errors import (
    Conflict,
    Impossible,
    InvalidField,
    NotAllowed,
    NotFound,
    OverQuota,
    RecordError,
)

_LEFT = 499
"""The status, in the log only, of a request whose caller disconnected before the answer."""

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
    """Answer every error in the interface's shapes, those of the records too."""
    install_error_handlers(app)
    app.add_exception_handler(RecordError, _answer_record_error)
    app.add_exception_handler(ClientDisconnect, _answer_nobody)


async def _answer_record_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RecordError)
    return await answer_error(request, api_error(error))


async def _answer_nobody(request: Request, error: Exception) -> Response:
    return Response(status_code=_LEFT)
