"""The base of the client's areas."""

from typing import TypeVar, Unpack

from carrel.client.http.transport import Options, Transport, path_of

T = TypeVar("T")


class Area:
    """An area of the interface: its methods are requests through the client's transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def _call(
        self, answer: type[T], method: str, path: str, *ids: str | int, **options: Unpack[Options]
    ) -> T:
        """Send a request with ids filled into its path; return the answer."""
        return await self._transport.call(answer, method, path_of(path, *ids), **options)

    async def _send(
        self, method: str, path: str, *ids: str | int, **options: Unpack[Options]
    ) -> None:
        """Send a request and discard the answer."""
        await self._transport.send(method, path_of(path, *ids), **options)
