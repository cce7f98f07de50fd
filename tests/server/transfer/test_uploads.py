"""Uploads over a real socket: whole, or nothing of them is left."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.server.transfer.uploads import safe_filename
from support import storage
from support.libraries import connect
from support.process import RunningServer, serve

MIB = 1024 * 1024


def multipart(*parts: bytes, end: bytes = b"--b--\r\n") -> bytes:
    """A body with the boundary `b`."""
    return b"".join(b"--b\r\n" + part + b"\r\n" for part in parts) + end


def file_part(data: bytes, filename: bytes = b"a.txt", name: bytes = b"file") -> bytes:
    head = b'content-disposition: form-data; name="%s"; filename="%s"\r\n' % (name, filename)
    return head + b"content-type: text/plain\r\n\r\n" + data


def field_part(name: bytes, value: bytes) -> bytes:
    return b'content-disposition: form-data; name="%s"\r\n\r\n%s' % (name, value)


def post(http: httpx.Client, body: bytes | Iterator[bytes]) -> httpx.Response:
    headers = {"content-type": "multipart/form-data; boundary=b"}
    return http.post("/v1/files", content=body, headers=headers)


def kept(server: RunningServer) -> set[str]:
    """The names of all bytes that are kept, parts of uploads included."""
    folders = [one.data / "blobs" for one in server.each]
    local = {str(path) for folder in folders for path in folder.rglob("*") if path.is_file()}
    return local | storage.blobs(server.data)


@pytest.fixture
def before(server: RunningServer, http: httpx.Client) -> Iterator[None]:
    """Checks that a test leaves neither a file in the list nor bytes."""
    total, stored = http.get("/v1/files").json()["total"], kept(server)
    yield
    deadline = time.monotonic() + 30
    while kept(server) != stored and time.monotonic() < deadline:
        time.sleep(0.02)
    assert kept(server) == stored
    assert http.get("/v1/files").json()["total"] == total


@pytest.mark.parametrize("size", [1, 7, 64, 4096])
def test_the_size_of_the_pieces_does_not_matter(http: httpx.Client, size: int) -> None:
    content = bytes(range(256)) * 20 + b"\r\n--\r\n-b\r--b--\r\n"
    body = multipart(field_part(b"purpose", b"batch"), file_part(content))
    answer = post(http, (body[at : at + size] for at in range(0, len(body), size)))
    assert answer.status_code == 200, answer.text
    assert answer.json()["purpose"] == "batch"
    assert http.get(f"/v1/files/{answer.json()['id']}/content").content == content


def test_the_order_of_the_parts_does_not_matter(http: httpx.Client) -> None:
    answer = post(http, multipart(file_part(b"x"), field_part(b"visibility", b"user")))
    assert answer.json()["visibility"] == "user"


@pytest.mark.parametrize(
    ("filename", "kept"),
    [
        (b"/some/dir/y.pdf", "y.pdf"),
        (b"..\\w.txt", "w.txt"),
        ("größe 履歴.txt".encode(), "größe 履歴.txt"),
        (b"a %22b%22.txt", 'a "b".txt'),
        (b"noextension", "noextension"),
        (b"\xff\xfe.txt", "\ufffd\ufffd.txt"),
    ],
)
def test_a_file_name_is_text_and_never_a_path(
    http: httpx.Client, filename: bytes, kept: str
) -> None:
    file = post(http, multipart(file_part(b"x", filename))).json()
    assert file["filename"] == kept
    content = http.get(f"/v1/files/{file['id']}/content")
    assert content.status_code == 200
    assert content.headers["content-disposition"].startswith("attachment")


@pytest.mark.usefixtures("before")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"--b\r\n",
        multipart(file_part(b"x" * MIB), end=b""),
        multipart(file_part(b"x"), end=b"--b"),
        multipart(file_part(b"x"), file_part(b"y")),
        b"no multipart at all",
        multipart(b"content-disposition: form-data\r\n\r\nnameless"),
        multipart(*[field_part(b"f%d" % number, b"x") for number in range(40)]),
    ],
    ids=["empty", "begun", "cut", "unclosed", "two files", "garbage", "nameless", "parts"],
)
def test_a_broken_body_is_refused(http: httpx.Client, body: bytes) -> None:
    answer = post(http, body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["object"] == "error"


@pytest.mark.usefixtures("before")
@pytest.mark.parametrize(
    "part", [file_part(b"x", name=b"document"), field_part(b"file", b"a text part")]
)
def test_a_body_without_a_file_is_a_validation_error(http: httpx.Client, part: bytes) -> None:
    answer = post(http, multipart(part))
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "file"]


@pytest.mark.usefixtures("before")
def test_another_content_type_is_refused(http: httpx.Client) -> None:
    assert http.post("/v1/files", json={"file": "x"}).status_code == 400


@contextmanager
def ended(server: RunningServer) -> Iterator[None]:
    """Waits until the server has ended the upload that is begun meanwhile."""

    def answered() -> int:
        return server.log.count("POST /v1/files ")

    before, deadline = answered(), time.monotonic() + 30
    yield
    while answered() == before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert answered() == before + 1


@pytest.mark.usefixtures("before")
def test_an_upload_whose_sender_goes_away_leaves_nothing(server: RunningServer) -> None:
    host, _, port = server.url.removeprefix("http://").partition(":")
    with ended(server), socket.create_connection((host, int(port))) as sender:
        sender.sendall(
            b"POST /v1/files HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9000000\r\n"
            b"content-type: multipart/form-data; boundary=b\r\n"
            + f"authorization: Bearer {server.api_key}\r\n\r\n".encode()
            + multipart(file_part(b"x" * 3 * MIB), end=b"")
        )


def test_an_upload_that_is_stopped_at_its_very_end_adds_no_file(
    server: RunningServer, http: httpx.Client
) -> None:
    total = http.get("/v1/files").json()["total"]
    body = multipart(file_part(bytes(4 * MIB)))
    with ended(server), socket.create_connection(("127.0.0.1", server.port)) as sender:
        sender.sendall(
            b"POST /v1/files HTTP/1.1\r\nhost: localhost\r\n"
            b"content-type: multipart/form-data; boundary=b\r\n"
            + f"content-length: {len(body)}\r\n".encode()
            + f"authorization: Bearer {server.api_key}\r\n\r\n".encode()
            + body
        )
    assert http.get("/v1/files").json()["total"] == total


@pytest.mark.usefixtures("before")
def test_a_wrong_key_is_answered_though_the_sender_is_still_sending(server: RunningServer) -> None:
    answer = httpx.post(
        f"{server.url}/v1/files",
        files={"file": ("a", b"x" * 20 * MIB)},
        headers={"authorization": "Bearer wrong"},
    )
    assert answer.status_code == 401


def test_a_file_beyond_the_limit_is_refused_however_it_is_sent(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text(f"[limits]\nfile_bytes = {2 * MIB}\n")

    def pieces(count: int) -> Iterator[bytes]:
        whole = multipart(file_part(b"x" * count))
        yield from (whole[at : at + 65536] for at in range(0, len(whole), 65536))

    with serve(data) as server, connect(server) as http:
        assert post(http, multipart(file_part(b"x" * 2 * MIB))).status_code == 200
        stored = kept(server)
        for size in (2 * MIB + 1, 20 * MIB):
            for body in (multipart(file_part(b"x" * size)), pieces(size)):
                answer = post(http, body)
                assert answer.status_code == 413
                assert "2 MiB" in answer.json()["message"]
        assert http.get("/v1/files").json()["total"] == 1
        # The copy of a check of the store may have gone meanwhile.
        assert kept(server) <= stored


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("/some/dir/y.pdf", "y.pdf"),
        ("..\\w.txt", "w.txt"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\scan.png", "scan.png"),
        ("folder/", "folder"),
        ("..", "file"),
        ("", "file"),
        ("\x1b\x07", "file"),
        ("a\x00b\r\nc.pdf", "abc.pdf"),
        ("invoice [final] \x1b]0;x\x07.pdf", "invoice [final] ]0;x.pdf"),
        ("履歴書.pdf", "履歴書.pdf"),
        ("e\u0301.txt", "é.txt"),
    ],
)
def test_a_name_is_its_last_part_without_control_characters(given: str, kept: str) -> None:
    assert safe_filename(given) == kept


@given(st.text(max_size=400))
def test_no_name_is_a_path_empty_or_too_long(name: str) -> None:
    kept = safe_filename(name)
    assert kept
    assert kept not in (".", "..")
    assert not set(kept) & set("/\\\x00\x1b\n\r")
    assert len(kept.encode()) <= 255


def test_a_long_name_keeps_its_extension() -> None:
    kept = safe_filename("ü" * 300 + ".pdf")
    assert kept.endswith("ü.pdf")
    assert 250 <= len(kept.encode()) <= 255
