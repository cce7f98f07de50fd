"""The error bodies (contract: one shape for validation, one for everything else)."""

from typing import Any, Literal

from pydantic import Field

from carrel.wire.base import ResponseModel, omitted_when_none


class ErrorBody(ResponseModel):
    """Every error but 401 (`{"detail": "Unauthorized"}`), 404 of an unknown path, and 422."""

    object: Literal["error"] = "error"
    message: str
    type: str
    param: str | None = None
    code: str | None = None
    raw_status_code: int | None = omitted_when_none()
    request_id: str | None = omitted_when_none()


class DetailBody(ResponseModel):
    """A missing or bad key (401), an unknown path (404) or method (405)."""

    detail: str


class ValidationDetail(ResponseModel):
    """One wrong field of a request."""

    type: str
    loc: list[str | int]
    msg: str
    input: Any = None
    ctx: dict[str, Any] | None = omitted_when_none()


class ValidationErrorBody(ResponseModel):
    """The body of a 422."""

    detail: list[ValidationDetail] = Field(default_factory=list)
