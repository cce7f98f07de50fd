"""Health: what `/healthz` answers, an extension of the bundled server."""

from pydantic import Field

from carrel.wire.base import ResponseModel


class UploadLimits(ResponseModel):
    """The largest upload of each kind, in bytes."""

    file_bytes: int | None = None
    document_bytes: int | None = None


class Health(ResponseModel):
    """`trash_days`: days in which deleted items can be restored; None without a trash.

    `version`: that of the server; None where it does not say.
    """

    status: str = "ok"
    limits: UploadLimits = Field(default_factory=UploadLimits)
    trash_days: int | None = None
    version: str | None = None
