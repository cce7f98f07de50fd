"""The asynchronous API client, over httpx, one module per area."""

from carrel.client.client import Client
from carrel.client.http.calls import Call
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
