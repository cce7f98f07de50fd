"""Fast connections to services on this machine, which need no certificates."""

import httpx


class LoopbackTransport(httpx.AsyncBaseTransport):
    """Bypasses proxies. Loads certificates, which is slow, only with the first https request."""

    def __init__(self, limits: httpx.Limits) -> None:
        self._limits = limits
        self._plain = httpx.AsyncHTTPTransport(verify=False, limits=limits, trust_env=False)
        self._secure: httpx.AsyncHTTPTransport | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; return the answer once its headers arrived."""
        if request.url.scheme == "http":
            return await self._plain.handle_async_request(request)
        if self._secure is None:
            self._secure = httpx.AsyncHTTPTransport(limits=self._limits, trust_env=False)
        return await self._secure.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._plain.aclose()
        if self._secure is not None:
            await self._secure.aclose()
