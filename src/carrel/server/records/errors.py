"""Errors of records. Their messages may be shown to callers."""


class RecordError(Exception):
    """A request that the records cannot fulfil."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class NotFound(RecordError):
    """It does not exist, or is hidden from the caller."""

    @classmethod
    def of(cls, kind: str, id: str | int) -> "NotFound":
        """Return the error of a record by its id."""
        return cls(f"There is no {kind} {str(id)[:80]!r}.")


class NotAllowed(RecordError):
    """The caller's role does not suffice."""


class OverQuota(RecordError):
    """The caller's organisation has reached its quota."""


class Conflict(RecordError):
    """The record is not in a state for this, or was changed meanwhile."""


class Impossible(RecordError):
    """No state of the records allows this."""


class InvalidField(RecordError):
    """The records cannot take a field of the request, named by its path."""

    def __init__(self, loc: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.loc = loc
