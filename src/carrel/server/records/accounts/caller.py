"""The caller of a request, whose rows are read and written."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Caller:
    """A user of an organisation."""

    organisation_id: str
    user_id: str
    key_id: str = field(default="", compare=False)
    """The API key of the request; empty where none was sent."""
    reads_only: bool = field(default=False, compare=False)
    """Whether the key may change nothing."""
