"""The caller of a request, whose rows are read and written."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Caller:
    """A user of an organisation."""

    organisation_id: str
    user_id: str
