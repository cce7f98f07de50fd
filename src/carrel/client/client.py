"""The client: one service, its areas as attributes."""

from collections.abc import Callable
from functools import cached_property
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Self

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
    """A service that speaks the interface.

    Every answer is cleaned of control characters; every error is a ClientError.
    Use it in one event loop, as a context manager or with `aclose()`.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None,
        *,
        timeout: httpx.Timeout = TIMEOUT,
        transport: httpx.AsyncBaseTransport | None = None,
        on_call: Callable[[Call], None] | None = None,
    ) -> None:
        """Open no connection yet.

        `timeout` is for ordinary calls; uploads, OCR and completions may take as long as they
        need. `transport` replaces the network. `on_call` hears of every request that was made.
        """
        self._transport = Transport(
            url, api_key, timeout=timeout, transport=transport, on_call=on_call
        )
        self._has_healthz = True
        self.trash_days: int | None = None
        """Days in which a delete can be undone, as the last `health` said; None without a trash."""

    # An area's models are costly to import: a command that lists files needs no others.

    @cached_property
    def files(self) -> "Files":
        """Files: listed, uploaded, downloaded."""
        from carrel.client.files import Files

        return Files(self._transport)

    @cached_property
    def agents(self) -> "Agents":
        """Agents and their versions."""
        from carrel.client.agents import Agents

        return Agents(self._transport)

    @cached_property
    def ocr(self) -> "OCR":
        """Reading of documents."""
        from carrel.client.ocr import OCR

        return OCR(self._transport)

    @cached_property
    def batches(self) -> "Batches":
        """Batch jobs."""
        from carrel.client.batches import Batches

        return Batches(self._transport)

    @cached_property
    def completions(self) -> "Completions":
        """Answers of agents."""
        from carrel.client.completions import Completions

        return Completions(self._transport)

    @cached_property
    def conversations(self) -> "Conversations":
        """Conversations that the service keeps."""
        from carrel.client.conversations import Conversations

        return Conversations(self._transport)

    @cached_property
    def libraries(self) -> "Libraries":
        """Libraries and searches in them."""
        from carrel.client.libraries import Libraries

        return Libraries(self._transport)

    @cached_property
    def documents(self) -> "Documents":
        """The documents of libraries."""
        from carrel.client.documents import Documents

        return Documents(self._transport)

    @cached_property
    def embeddings(self) -> "Embeddings":
        """Texts as vectors."""
        from carrel.client.embeddings import Embeddings

        return Embeddings(self._transport)

    @cached_property
    def models(self) -> "Models":
        """The models there are."""
        from carrel.client.models import Models

        return Models(self._transport)

    @cached_property
    def responses(self) -> "Responses":
        """Answers of a model in the Responses shape."""
        from carrel.client.responses import Responses

        return Responses(self._transport)

    @cached_property
    def users(self) -> "Users":
        """The caller: user, organisations, workspaces."""
        from carrel.client.users import Users

        return Users(self._transport)

    @cached_property
    def trash(self) -> "Trash":
        """Deleted items that can be restored."""
        from carrel.client.trash import Trash

        return Trash(self._transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def move(self, url: str, api_key: str | None) -> None:
        """Ask at another address from here on, where the same service has come back.

        Raises:
            ClientError: the address or the key cannot be one.
        """
        self._transport.move(url, api_key)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()

    async def health(self) -> bool:
        """Return whether the service answers at `/healthz`, or lists its models if it has none.

        Raises:
            Unauthorized: it answers, but does not accept the key.
        """
        try:
            if self._has_healthz:
                try:
                    self.trash_days = await self._kept_days()
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

    async def version(self) -> str | None:
        """Return the version of a Carrel server; None of any other service."""
        from carrel.wire.health import Health

        try:
            return (await self._transport.call(Health, "GET", "/healthz", keyless=True)).version
        except ClientError:
            return None

    async def _kept_days(self) -> int | None:
        from carrel.wire.health import Health

        try:
            return (await self._transport.call(Health, "GET", "/healthz", keyless=True)).trash_days
        except UnexpectedAnswer:
            return None  # another service's own words
