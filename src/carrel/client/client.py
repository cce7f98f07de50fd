"""The client of one service, with its areas as attributes."""

from collections.abc import Callable
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import httpx

from carrel.client.http.calls import Call
from carrel.client.http.errors import (
    ClientError,
    ServiceError,
    Unauthorized,
    UnexpectedAnswer,
    Unreachable,
)
from carrel.client.http.transport import TIMEOUT, Transport

if TYPE_CHECKING:
    from carrel.client.agents import Agents
    from carrel.client.batches import Batches
    from carrel.client.completions import Completions
    from carrel.client.conversations import Conversations
    from carrel.client.documents import Documents
    from carrel.client.embeddings import Embeddings
    from carrel.client.files import Files
    from carrel.client.libraries import Libraries
    from carrel.client.models import Models
    from carrel.client.ocr import OCR
    from carrel.client.responses import Responses
    from carrel.client.trash import Trash
    from carrel.client.users import Users


class Client:
    """A client of a service with this interface.

    Every answer is cleaned of control characters; every error is a ClientError.
    Use it in one event loop, as a context manager or with `aclose()`.
    """

    files: "Files"
    """Files: listed, uploaded, downloaded."""
    agents: "Agents"
    """Agents and their versions."""
    ocr: "OCR"
    """OCR of documents."""
    batches: "Batches"
    """Batch jobs."""
    completions: "Completions"
    """Answers of agents."""
    conversations: "Conversations"
    """Conversations that the service keeps."""
    libraries: "Libraries"
    """Libraries, and search in them."""
    documents: "Documents"
    """The documents of libraries."""
    embeddings: "Embeddings"
    """Embeddings of texts."""
    models: "Models"
    """The available models."""
    responses: "Responses"
    """Answers of a model in the Responses shape."""
    users: "Users"
    """The caller: user, organisations, workspaces."""
    trash: "Trash"
    """Deleted items that can be restored."""
    trash_days: int | None = None
    """Days in which a deletion can be undone, as of the last `health`; None without a trash."""

    def __init__(
        self,
        url: str,
        api_key: str | None,
        *,
        timeout: httpx.Timeout = TIMEOUT,
        transport: httpx.AsyncBaseTransport | None = None,
        on_call: Callable[[Call], None] | None = None,
    ) -> None:
        """Make a client; connections open with the first call.

        `timeout` in seconds applies to ordinary calls; uploads, OCR and completions have none.
        `transport` replaces the network. `on_call` is called with every request made.
        """
        self._transport = Transport(
            url, api_key, timeout=timeout, transport=transport, on_call=on_call
        )
        self._has_healthz = True

    if not TYPE_CHECKING:  # only the names above are areas

        def __getattr__(self, name: str) -> Any:
            """Import an area at its first use: its models are costly to import."""
            kind = Client.__annotations__.get(name)
            if kind is None:
                raise AttributeError(f"The client has no {name!r}.")
            area = getattr(import_module(f"carrel.client.{name}"), kind)(self._transport)
            setattr(self, name, area)
            return area

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def move(self, url: str, api_key: str | None) -> None:
        """Send later requests to another address, at which the same service has returned.

        Raises:
            ClientError: the address or the key is invalid.
        """
        self._transport.move(url, api_key)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()

    async def health(self) -> bool:
        """Return whether the service answers at `/healthz`, or lists its models if it has none.

        Raises:
            Unauthorized: the service answers, but rejects the key.
        """
        try:
            if self._has_healthz:
                try:
                    self.trash_days = await self._ask_trash_days()
                    return True
                except ServiceError as error:
                    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                        return False
                    self._has_healthz = False
            await self.models.list()
        except Unauthorized:
            raise
        except (Unreachable, UnexpectedAnswer, ServiceError):
            return False
        return True

    async def discard(self, file_id: str) -> None:
        """Delete a file that was uploaded for one request, from the trash of the service too."""
        try:
            trash_days = await self._ask_trash_days()
        except ServiceError:
            trash_days = None
        await self.files.delete(file_id)
        if trash_days is not None:
            await self.trash.delete(file_id)

    async def version(self) -> str | None:
        """Return the version of a Carrel server, or None for any other service."""
        from carrel.wire.health import Health

        try:
            return (await self._transport.call(Health, "GET", "/healthz", keyless=True)).version
        except ClientError:
            return None

    async def _ask_trash_days(self) -> int | None:
        from carrel.wire.health import Health

        try:
            return (await self._transport.call(Health, "GET", "/healthz", keyless=True)).trash_days
        except UnexpectedAnswer:
            return None  # another service's answer
