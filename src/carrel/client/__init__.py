"""The asynchronous API client, over httpx, one module per area."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from carrel.client.http.errors import (
    ClientError,
    Invalid,
    NotFound,
    ServiceError,
    TooLarge,
    Unauthorized,
    UnexpectedAnswer,
    Unreachable,
    UnreadableFile,
)
from carrel.client.http.uploads import Progress, UploadSource

if TYPE_CHECKING:
    from carrel.client.client import Client
    from carrel.client.http.calls import Call

__all__ = [
    "Call",
    "Client",
    "ClientError",
    "Invalid",
    "NotFound",
    "Progress",
    "ServiceError",
    "TooLarge",
    "Unauthorized",
    "UnexpectedAnswer",
    "Unreachable",
    "UnreadableFile",
    "UploadSource",
]

_MODULES = {"Call": "carrel.client.http.calls", "Client": "carrel.client.client"}


def __getattr__(name: str) -> Any:
    """Import the client at its first use: httpx is slow, and many need the errors alone."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
