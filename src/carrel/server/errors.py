"""Errors in the interface's shapes."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from carrel.wire.errors import ErrorBody, ValidationDetail, ValidationErrorBody

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


def unauthorized() -> Response:
    """Return the response to a request without a valid key."""
    return JSONResponse({"detail": "Unauthorized"}, 401, headers={"www-authenticate": "Bearer"})


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
