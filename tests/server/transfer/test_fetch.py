"""Fetching by address: what is refused before any socket opens, and what comes back."""

import base64
import csv
import ipaddress
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from carrel.server.errors import ApiError, InvalidRequest
from carrel.server.transfer.fetch import Fetcher, is_public

PRIVATE = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.8.8.8", "169.254.169.254", "172.16.0.1",
    "192.168.1.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:1::1",
    "fc00::1", "fe80::1%eth0", "ff02::1", "2001:db8::1", "168.63.129.16", "192.0.0.192", "fec0::1",
    "feff::1", "::7f00:1", "4000::1", "64:ff9b:1::1", "100.100.100.200", "fd00:ec2::254",
]  # fmt: skip
REGISTRY = Path(__file__).with_name("special_addresses.csv")
"""IANA's special-purpose address registries."""


def registered(reachable: bool) -> list[str]:
    with REGISTRY.open(newline="") as lines:
        return [
            line["block"]
            for line in csv.DictReader(lines)
            if (line["globally_reachable"] == "True") is reachable
        ]


@pytest.mark.parametrize("block", registered(reachable=False))
def test_what_no_registry_calls_reachable_is_not_public(block: str) -> None:
    network = ipaddress.ip_network(block)
    for address in (network[0], network[network.num_addresses // 2], network[-1]):
        assert not is_public(str(address)), address


@pytest.mark.parametrize(
    "address",
    [
        *(str(ipaddress.ip_network(block)[1]) for block in registered(reachable=True)),
        *("1.1.1.1", "8.8.8.8", "168.63.129.15", "2606:4700::1111"),
    ],
)
def test_the_rest_is(address: str) -> None:
    assert is_public(address)


@dataclass
class Site:
    """A web site on loopback, and the connections it saw."""

    port: int
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    seen: list[tuple[str, str]] = field(default_factory=list)

    def url(self, path: str, host: str = "site.example") -> str:
        return f"http://{host}:{self.port}{path}"


@contextmanager
def _serving() -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            running.seen.append((self.path, self.headers["host"]))
            status, headers, body = running.answers.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        running = Site(server.server_port)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield running
        server.shutdown()
        thread.join()


@pytest.fixture
def site() -> Iterator[Site]:
    with _serving() as running:
        yield running


def _fetcher(site: Site, limit: int = 1000, names: dict[str, list[str]] | None = None) -> Fetcher:
    """Names lead to the site; its address counts as public, every other is judged as always."""
    known = {"site.example": ["127.0.0.1"], "inside.example": ["10.0.0.1"], **(names or {})}

    async def resolve(host: str, port: int) -> list[str]:
        return known.get(host, [host] if host.replace(".", "").isdigit() or ":" in host else [])

    return Fetcher(
        limit,
        resolve=resolve,
        allowed=lambda address: address == "127.0.0.1" or is_public(address),
        ports=frozenset({80, site.port}),
    )


async def _fetch(fetcher: Fetcher, url: str) -> bytes:
    async with fetcher.document(url) as path:
        return path.read_bytes()


@pytest.mark.parametrize("address", PRIVATE)
def test_what_is_not_the_public_internet(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_the_public_internet(address: str) -> None:
    assert is_public(address)


async def test_a_document_arrives_whole_and_the_host_is_named(site: Site) -> None:
    site.answers["/a.pdf?x=1"] = (200, {}, b"%PDF-1.4 and so on")
    assert await _fetch(_fetcher(site), site.url("/a.pdf?x=1")) == b"%PDF-1.4 and so on"
    assert site.seen == [("/a.pdf?x=1", f"site.example:{site.port}")]


async def test_redirects_are_followed_a_few_times(site: Site) -> None:
    site.answers["/a"] = (302, {"location": "/b"}, b"")
    site.answers["/b"] = (301, {"location": site.url("/c")}, b"")
    site.answers["/c"] = (200, {}, b"here")
    site.answers["/loop"] = (302, {"location": "/loop"}, b"")
    assert await _fetch(_fetcher(site), site.url("/a")) == b"here"
    with pytest.raises(ApiError, match="too many times"):
        await _fetch(_fetcher(site), site.url("/loop"))
    assert [path for path, _ in site.seen].count("/loop") == 4


@pytest.mark.parametrize(
    "target", ["http://inside.example/", "http://10.0.0.1/", "http://[::1]/", "http://localhost/"]
)
async def test_a_redirect_to_the_inside_is_refused(site: Site, target: str) -> None:
    site.answers["/a"] = (302, {"location": target}, b"")
    with pytest.raises(ApiError, match=r"private network|was not found"):
        await _fetch(_fetcher(site), site.url("/a"))


async def test_a_redirect_to_another_scheme_is_refused(site: Site) -> None:
    site.answers["/a"] = (302, {"location": "file:///etc/passwd"}, b"")
    with pytest.raises(InvalidRequest, match="must begin with https:"):
        await _fetch(_fetcher(site), site.url("/a"))


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "[::1]",
     "[::ffff:127.0.0.1]"],
)  # fmt: skip
async def test_no_socket_opens_towards_the_inside(site: Site, host: str) -> None:
    fetcher = Fetcher(1000, ports=frozenset({site.port}))
    # Some spellings are no valid address to begin with.
    with pytest.raises((ApiError, InvalidRequest)):
        await _fetch(fetcher, site.url("/a", host))
    assert site.seen == []


async def test_a_name_with_one_private_address_is_refused(site: Site) -> None:
    fetcher = _fetcher(site, names={"both.example": ["127.0.0.1", "10.0.0.1"]})
    with pytest.raises(ApiError, match="private network"):
        await _fetch(fetcher, site.url("/a", "both.example"))
    assert site.seen == []


async def test_a_name_is_resolved_once_so_it_cannot_change_in_between(site: Site) -> None:
    site.answers["/a"] = (200, {}, b"here")
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    fetcher = Fetcher(
        1000,
        resolve=resolve,
        allowed=lambda address: address == "127.0.0.1",
        ports=frozenset({site.port}),
    )
    assert await _fetch(fetcher, site.url("/a")) == b"here"
    assert asked == ["site.example"]


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://site.example/", "notes.pdf", "http:"])
async def test_other_schemes_are_invalid(site: Site, url: str) -> None:
    with pytest.raises(InvalidRequest, match="must begin with https:"):
        await _fetch(_fetcher(site), url)


async def test_other_ports_are_refused(site: Site) -> None:
    with pytest.raises(ApiError, match="not fetched from port 22"):
        await _fetch(Fetcher(1000), "http://site.example:22/")


async def test_too_large_with_and_without_a_length(site: Site) -> None:
    site.answers["/told"] = (200, {"content-length": "2000"}, bytes(2000))
    site.answers["/untold"] = (200, {}, bytes(2000))
    for path in ("/told", "/untold"):
        with pytest.raises(ApiError, match="larger than") as refusal:
            await _fetch(_fetcher(site), site.url(path))
        assert refusal.value.status == 413


async def test_a_failed_answer_is_named_but_not_the_address(site: Site) -> None:
    with pytest.raises(ApiError, match="answered with the status 404") as refusal:
        await _fetch(_fetcher(site), site.url("/signed/secret-token"))
    assert "secret-token" not in refusal.value.message


async def test_a_compressed_answer_is_not_unpacked(site: Site) -> None:
    site.answers["/a"] = (200, {"content-encoding": "gzip"}, b"\x1f\x8b")
    with pytest.raises(ApiError, match="compressed"):
        await _fetch(_fetcher(site), site.url("/a"))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("data:application/pdf;base64," + base64.b64encode(b"%PDF-1.4").decode(), b"%PDF-1.4"),
        ("DATA:text/plain;charset=utf-8;base64,aGkgIQ%3D%3D", b"hi !"),
        ("data:text/plain,two%20words", b"two words"),
        ("data:,", b""),
    ],
)
async def test_data_addresses(url: str, expected: bytes) -> None:
    assert await _fetch(Fetcher(1000), url) == expected


@pytest.mark.parametrize("url", ["data:text/plain;base64", "data:;base64,a", "data:;base64,§§§§"])
async def test_broken_data_addresses_are_invalid(url: str) -> None:
    with pytest.raises(InvalidRequest, match="data URL"):
        await _fetch(Fetcher(1000), url)


async def test_large_data_addresses_are_refused() -> None:
    for size in (1001, 10_000):
        with pytest.raises(ApiError, match="larger than") as refusal:
            await _fetch(Fetcher(1000), "data:," + "a" * size)
        assert refusal.value.status == 413
