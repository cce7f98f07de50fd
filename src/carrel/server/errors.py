"""Errors as the interface words them."""

from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from carrel.wire.errors import ErrorBody, ValidationDetail, ValidationErrorBody

_KINDS = {
    400: "invalid_request_error",
    404: "not_found_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}


class ApiError(Exception):
    """An answer other than success: what happened and what to do, fit to be shown."""

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
        """The JSON body of the answer."""
        return ErrorBody(
            message=self.message,
            type=self.type,
            param=self.param,
            code=self.code,
            request_id=request_id,
        ).model_dump(mode="json")


class Unauthorized(Exception):
    """The request carries no key, or not a good one."""


class InvalidRequest(Exception):
    """A part of the request is wrong: a 422 that names it, like a validation error."""

    def __init__(self, loc: tuple[str | int, ...], message: str, type: str = "value_error") -> None:
        super().__init__(message)
        self.details = [ValidationDetail(type=type, loc=list(loc), msg=message)]

    def body(self) -> dict[str, Any]:
        """The JSON body of the answer."""
        return ValidationErrorBody(detail=self.details).model_dump(mode="json")


def not_found(kind: str, id: str | int) -> ApiError:
    """The 404 of a thing that is missing, or that the caller may not see."""
    return ApiError(404, f"There is no {kind} {str(id)[:80]!r}.")


def install_error_handlers(app: FastAPI) -> None:
    """Answers every error in the interface's shapes."""
    app.add_exception_handler(ApiError, _answer_error)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(InvalidRequest, _answer_invalid)
    app.add_exception_handler(RequestValidationError, _answer_validation)


async def _answer_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    body = error.body(request.state.request_id)
    return JSONResponse(body, error.status, headers=error.headers)


async def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code in (404, 405):
        return JSONResponse({"detail": error.detail}, error.status_code, headers=error.headers)
    return await _answer_error(request, ApiError(error.status_code, error.detail))


def unauthorized() -> Response:
    """The answer to a request without a good key."""
    return JSONResponse({"detail": "Unauthorized"}, 401, headers={"www-authenticate": "Bearer"})


async def _answer_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, InvalidRequest)
    return JSONResponse(error.body(), 422)


async def _answer_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    details = [
        ValidationDetail(
            type=item["type"],
            loc=list(item["loc"]),
            msg=item["msg"],
            input=_small(item.get("input")),
        )
        for item in error.errors()
    ]
    return JSONResponse(ValidationErrorBody(detail=details).model_dump(mode="json"), 422)


def _small(value: Any) -> Any:
    """A wrong input when it is a short plain value, else None: bodies are not sent back."""
    if isinstance(value, str):
        return value if len(value) <= 200 else None
    return value if isinstance(value, (bool, int)) else None
