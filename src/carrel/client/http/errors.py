"""Errors of a service, with messages fit to be shown."""

_FAILED = 500
"""Least status of a failure of the service."""


class ClientError(Exception):
    """An error of the client; `str()` of any subclass is plain English without secrets."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Unreachable(ClientError):
    """No server answers, or the connection was lost."""


class UnexpectedAnswer(ClientError):
    """The service's answer does not follow the interface."""


class UnreadableFile(ClientError):
    """A file to upload is missing, unreadable, or changed meanwhile."""


class TooLarge(ClientError):
    """A file exceeds the service's size limit; nothing was sent."""


class ServiceError(ClientError):
    """The service refused a request or failed.

    `retry_after`: seconds to wait before the next try. `request_id`: the request's id in the
    service's log, or empty.
    """

    retry_after: float | None = None

    def __init__(
        self, message: str, status: int, code: str | None = None, request_id: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id

    @property
    def reference(self) -> str:
        """A sentence with the request's id, if the service's log has more to say."""
        failed = self.status >= _FAILED and self.request_id
        return f"Request ID: {self.request_id}" if failed else ""


class Unauthorized(ServiceError):
    """The API key is missing or was rejected."""


class NotFound(ServiceError):
    """The item or the endpoint does not exist."""


class Invalid(ServiceError):
    """The service found invalid fields; `fields` has pairs of a field and its error."""

    def __init__(
        self,
        message: str,
        status: int,
        code: str | None = None,
        request_id: str | None = None,
        fields: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(message, status, code, request_id)
        self.fields = fields
