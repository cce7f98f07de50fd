"""Fetches documents from callers' addresses, protected against request forgery (SSRF).

A name is resolved once, every address it resolves to must be public, and the checked address is
the one that is dialled. Redirects are followed and checked one by one.
"""

import asyncio
import base64
import binascii
import ipaddress
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import unquote_to_bytes

import httpcore
import httpx

from carrel.server.errors import ApiError, InvalidRequest

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""The addresses of a host name, as text."""

_PORTS = frozenset({80, 443, 8080, 8443})
"""Ports of web servers; other services of a host are not reached."""
_REDIRECTS = 3
_SECONDS = 60
_CONNECT_SECONDS = 10
_NOT_PUBLIC = [
    ipaddress.ip_network(network)
    for network in (
        # IANA's special-purpose registry, and multicast.
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        # A cloud's own services, at an address that looks like any other.
        "168.63.129.16/32",
        # Protocols, documentation, and those that embed an IPv4 address, which would escape.
        *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
    )
]
_IPV6 = ipaddress.ip_network("2000::/3")
"""All that is public of IPv6 is in here."""


def is_public(address: str) -> bool:
    """Return whether an address is on the public internet."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if ip.version == 6 and ip not in _IPV6:
        return False
    return not any(ip in network for network in _NOT_PUBLIC)


async def resolve(host: str, port: int) -> list[str]:
    """Resolve with the system's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class _PublicNetwork(httpcore.AsyncNetworkBackend):
    """Connects only to checked addresses."""

    def __init__(self, resolve: Resolve, allowed: Callable[[str], bool]) -> None:
        self._resolve = resolve
        self._allowed = allowed
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError):
            addresses = []
        if not addresses:
            raise _refusal("The host of this address was not found. Check the address.")
        if not all(self._allowed(address) for address in addresses):
            raise _refusal(
                "This address leads to a private network, from which nothing is fetched."
                " Upload the document instead."
            )
        return await self._network.connect_tcp(
            addresses[0], port, timeout, local_address, socket_options
        )

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise _refusal("Documents are not fetched from local sockets.")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Fetcher:
    """Fetches documents by `https:`, `http:` and `data:` addresses."""

    def __init__(
        self,
        limit: int,
        *,
        resolve: Resolve = resolve,
        allowed: Callable[[str], bool] = is_public,
        ports: frozenset[int] = _PORTS,
    ) -> None:
        """`limit` is the most bytes a document may have."""
        self._limit = limit
        self._network = _PublicNetwork(resolve, allowed)
        self._ports = ports

    @asynccontextmanager
    async def document(self, url: str) -> AsyncIterator[Path]:
        """Yield the document at an address, as a file that is removed afterwards.

        Raises:
            ApiError: 400 or 413, saying why it was not fetched. It never names the address,
                which may be a secret.
            InvalidRequest: it is not such an address.
        """
        with tempfile.TemporaryDirectory(prefix="carrel-") as folder:
            path = Path(folder) / "document"
            await self.save(url, path)
            yield path

    async def save(self, url: str, path: Path) -> None:
        """Save the document at an address in a file. Raises the errors of `document`."""
        if url[:5].lower() == "data:":
            await asyncio.to_thread(path.write_bytes, self._inline(url))
            return
        try:
            async with asyncio.timeout(_SECONDS):
                await self._download(url, path)
        except TimeoutError as error:
            raise _refusal("The address took too long to send the document.") from error

    def _inline(self, url: str) -> bytes:
        """Return the bytes of a data URL."""
        head, comma, body = url.partition(",")
        if not comma:
            raise _invalid("This data URL has no comma, so no content.")
        # Percent encoding and base64 never make the text shorter than its content.
        if len(body) > self._limit * 3:
            raise self._size_error()
        try:
            data = unquote_to_bytes(body)
            if head.lower().endswith(";base64"):
                data = base64.b64decode(b"".join(data.split()), validate=True)
        except (binascii.Error, ValueError):
            raise _invalid("The content of this data URL is not valid base64.") from None
        if len(data) > self._limit:
            raise self._size_error()
        return data

    async def _download(self, url: str, path: Path) -> None:
        try:
            address = httpx.URL(url)
        except httpx.InvalidURL:
            raise _invalid("This is not a valid address.") from None
        async with httpcore.AsyncConnectionPool(network_backend=self._network) as pool:
            for _ in range(_REDIRECTS + 1):
                self._check(address)
                redirect = await self._get(pool, address, path)
                if redirect is None:
                    return
                try:
                    address = address.join(redirect)
                except httpx.InvalidURL:
                    raise _refusal("The address redirects to one that is not valid.") from None
        raise _refusal("The address redirects too many times.")

    def _check(self, address: httpx.URL) -> None:
        if address.scheme not in ("http", "https") or not address.host:
            raise _invalid("A document's address must begin with https:, http: or data:.")
        port = address.port or {"http": 80, "https": 443}[address.scheme]
        if port not in self._ports:
            raise _refusal(f"Documents are not fetched from port {port}.")

    async def _get(
        self, pool: httpcore.AsyncConnectionPool, address: httpx.URL, path: Path
    ) -> str | None:
        """Save the response and return its redirect target, if any."""
        target = httpcore.URL(
            scheme=address.raw_scheme,
            host=address.raw_host,
            port=address.port,
            target=address.raw_path,
        )
        headers: dict[bytes | str, bytes | str] = {
            "host": address.netloc.decode("ascii"),
            "user-agent": "carrel",
            "accept": "*/*",
            # A small response must not decompress into a large one.
            "accept-encoding": "identity",
        }
        timeout = {"connect": _CONNECT_SECONDS, "read": _SECONDS, "write": _CONNECT_SECONDS}
        try:
            async with pool.stream(
                "GET", target, headers=headers, extensions={"timeout": timeout}
            ) as response:
                fields = {name.lower(): value for name, value in response.headers}
                if response.status in (301, 302, 303, 307, 308) and b"location" in fields:
                    return fields[b"location"].decode("latin-1")
                if response.status != 200:
                    raise _refusal(f"The address answered with the status {response.status}.")
                if fields.get(b"content-encoding", b"identity").lower() != b"identity":
                    raise _refusal("The address sends the document compressed.")
                if int(fields.get(b"content-length", b"0") or 0) > self._limit:
                    raise self._size_error()
                await self._save(response, path)
        except (
            httpcore.TimeoutException,
            httpcore.NetworkError,
            httpcore.ProtocolError,
            OSError,
        ) as error:
            raise _refusal("The address could not be reached, or broke off.") from error
        return None

    async def _save(self, response: httpcore.Response, path: Path) -> None:
        size = 0
        with await asyncio.to_thread(path.open, "wb") as file:
            async for chunk in response.aiter_stream():
                size += len(chunk)
                if size > self._limit:
                    raise self._size_error()
                await asyncio.to_thread(file.write, chunk)

    def _size_error(self) -> ApiError:
        return _refusal(
            f"The document is larger than the {self._limit // 2**20} MiB that are allowed.", 413
        )


def _refusal(message: str, status: int = 400) -> ApiError:
    return ApiError(status, message)


def _invalid(message: str) -> InvalidRequest:
    return InvalidRequest(("body", "document"), message)
