"""The client: one service, its areas as attributes."""

from collections.abc import Callable
from http import HTTPStatus
from types import TracebackType
from typing import Self

import httpx

from carrel.client.agents import Agents
from carrel.client.calls import Call
from carrel.client.completions import Completions
from carrel.client.documents import Documents
from carrel.client.errors import ServiceError, Unauthorized, UnexpectedAnswer, Unreachable
from carrel.client.files import Files
from carrel.client.libraries import Libraries
from carrel.client.models import Models
from carrel.client.ocr import OCR
from carrel.client.transport import TIMEOUT, Transport


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
        """Opens no connection yet.

        `timeout` is for ordinary calls; uploads, OCR and completions may take as long as they
        need. `transport` replaces the network. `on_call` hears of every request that was made.
        """
        self._transport = Transport(
            url, api_key, timeout=timeout, transport=transport, on_call=on_call
        )
        self._has_healthz = True
        self.files = Files(self._transport)
        self.agents = Agents(self._transport)
        self.ocr = OCR(self._transport)
        self.completions = Completions(self._transport)
        self.libraries = Libraries(self._transport)
        self.documents = Documents(self._transport)
        self.models = Models(self._transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes every connection."""
        await self._transport.aclose()

    async def health(self) -> bool:
        """Whether the service answers: asked at `/healthz`, or for its models if it has none.

        Raises:
            Unauthorized: it answers, but does not accept the key.
        """
        try:
            if self._has_healthz:
                try:
                    await self._transport.send("GET", "/healthz", keyless=True)
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
