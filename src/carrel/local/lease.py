"""Leases, which keep the local server running while in use."""

import asyncio
import contextlib
import uuid
from typing import Self

import httpx

from carrel.local.address import Address, loopback

# A third of the time after which the server takes a lease for lost: two renewals may fail.
_SECONDS = 10.0
"""Seconds between two renewals."""


class Lease:
    """Holds the server at an address from `start` to `stop`.

    A server lost meanwhile is no error here: its users will notice.
    """

    def __init__(self, address: Address, *, seconds: float = _SECONDS) -> None:
        self._url = f"{address.url}/leases/{uuid.uuid4()}"
        self._key = address.api_key
        self._seconds = seconds
        self._renewing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Take the lease and keep renewing it."""
        await self._tell("PUT")
        self._renewing = asyncio.create_task(self._renew(), name="lease")

    async def stop(self) -> None:
        """Release the lease; harmless without one."""
        if self._renewing is None:
            return
        # Renewing stops first: a renewal under way would take the lease again.
        self._renewing.cancel()
        await asyncio.wait([self._renewing])
        self._renewing = None
        await self._tell("DELETE")

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            await self._tell("PUT")

    async def _tell(self, method: str) -> None:
        headers = {"Authorization": f"Bearer {self._key}"}
        with contextlib.suppress(httpx.HTTPError):
            async with loopback() as http:
                await http.request(method, self._url, headers=headers)
