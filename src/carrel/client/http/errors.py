"""What goes wrong with a service, in words fit to be shown."""

_FAILED = 500


class ClientError(Exception):
    """Something went wrong; `str()` of any of these is plain English without secrets."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Unreachable(ClientError):
    """No server answers, or the connection was lost."""


class UnexpectedAnswer(ClientError):
    """The service answered something this interface does not have."""


class UnreadableFile(ClientError):
    """A file to upload is missing, unreadable, or changed meanwhile."""


class TooLarge(ClientError):
    """A file is larger than the service takes; nothing of it was sent."""


class ServiceError(ClientError):
    """The service refused a request or failed at it.

    `retry_after`: how many seconds it asked to wait before the next try. `request_id`: the name
    of the request in the service's log, if it gave one.
    """

    retry_after: float | None = None

    def __init__(
        self,
        message: str,
        status: int,
        code: str | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id

    @property
    def reference(self) -> str:
        """A sentence that names the request for the service's log, where that has more to say."""
        failed = self.status >= _FAILED and self.request_id
        return f"Request ID: {self.request_id}" if failed else ""


class Unauthorized(ServiceError):
    """The API key was not accepted, or there is none."""


class NotFound(ServiceError):
    """There is no such thing, or no such endpoint."""


class Invalid(ServiceError):
    """The service found fields wrong; `fields` has (field, what is wrong) for each."""

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
