"""A server process: its data folder, its files, its start and its end."""

import asyncio
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from carrel.server.admin.keys import KeyChain
from carrel.server.datadir.folder import FORMAT
from carrel.server.serve import EXIT_FAILED, EXIT_IN_USE
from support import storage
from support.libraries import connect
from support.process import RunningServer, serve
from support.service import Request, Service, reply, service

posix = pytest.mark.skipif(os.name == "nt", reason="file modes are those of POSIX")


def try_to_serve(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Starts a server that is expected to refuse."""
    command = [sys.executable, "-m", "carrel", "serve", "--data", str(data), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_second_server_on_the_folder_is_refused_and_told_of_the_first(
    server: RunningServer,
) -> None:
    announced = json.loads((server.data / "server.json").read_text())
    second = try_to_serve(server.data)
    assert second.returncode == EXIT_IN_USE
    assert announced["url"] in second.stderr
    assert "Traceback" not in second.stderr
    # The first is not disturbed.
    assert httpx.get(f"{server.url}/healthz").status_code == 200
    assert json.loads((server.data / "server.json").read_text()) == announced


def test_a_killed_server_leaves_no_lock_behind(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as first:
        first.process.kill()
        first.process.wait()
    with serve(tmp_path / "data") as second, connect(second) as http:
        assert http.get("/v1/files").status_code == 200
        assert second.api_key == first.api_key


def test_a_signed_address_works_after_a_restart(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as first, connect(first) as http:
        id = http.post("/v1/files", files={"file": ("a.txt", b"still here")}).json()["id"]
        address = http.get(f"/v1/files/{id}/url").json()["url"]
    with serve(tmp_path / "data"):
        assert httpx.get(address).content == b"still here"


def test_a_port_that_is_taken_is_replaced(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as first:
        pass
    with socket.create_server(("127.0.0.1", first.port)), serve(tmp_path / "data") as second:
        assert second.port != first.port
    with serve(tmp_path / "data") as third:
        assert third.port == second.port


@posix
def test_what_is_secret_is_readable_by_its_owner_only(server: RunningServer) -> None:
    ready = server.data.parent / f"{server.data.name}.ready.json"
    assert mode(server.data) == 0o700
    for path in (ready, *(server.data / name for name in ("key", "secret", "server.json"))):
        assert mode(path) == 0o600, path
    if not storage.SHARED:
        assert mode(server.data / "carrel.db") == 0o600


def test_a_clean_stop_ends_with_0_and_takes_the_announcement_back(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as server:
        announced = json.loads((server.data / "server.json").read_text())
        assert announced == {
            "url": server.url,
            "api_key": server.api_key,
            "pid": server.process.pid,
        }
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == 0
    assert not (server.data / "server.json").exists()


def test_a_stop_does_not_wait_for_ever_for_an_upload_that_hangs(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as server:
        host, _, port = server.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as hanging:
            hanging.sendall(
                b"POST /v1/files HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n"
                b"content-type: multipart/form-data; boundary=b\r\n"
                + f"authorization: Bearer {server.api_key}\r\n\r\n--b\r\n".encode()
            )
            with connect(server) as http:
                assert http.get("/v1/files").status_code == 200
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(20) == 0


async def _slow_model(request: Request) -> None:
    """Begins an answer where it is asked to tell something, and never ends one."""
    if request.target == "/v1/chat/completions":
        if b"Tell" in request.body:
            event = b'data: {"choices": [{"index": 0, "delta": {"content": "Once"}}]}\n\n'
            await request.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", event
            )
        await request.closed()
    elif request.target == "/v1/models":
        await request.write(reply({"data": [{"id": "fake"}]}))
    else:
        await request.write(reply({"detail": "Not Found"}, 404))


def _asked(model: Service) -> list[Request]:
    return [each for each in model.requests if each.target == "/v1/chat/completions"]


async def test_a_stop_ends_what_is_being_answered_and_says_so(tmp_path: Path) -> None:
    async with service(_slow_model) as upstream:
        starting = serve(tmp_path / "data", "--model-url", f"{upstream.url}/v1")
        server = await asyncio.to_thread(starting.__enter__)
        headers = {"authorization": f"Bearer {server.api_key}"}
        async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=20) as http:

            def asked(question: str) -> dict[str, Any]:
                messages = [{"role": "user", "content": question}]
                return {"model": "fake", "messages": messages, "stream": question == "Tell"}

            whole = asyncio.create_task(http.post("/v1/chat/completions", json=asked("Say")))
            async with http.stream("POST", "/v1/chat/completions", json=asked("Tell")) as stream:
                assert stream.status_code == 200
                while len(_asked(upstream)) < 2:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                server.process.send_signal(signal.SIGTERM)
                with pytest.raises(httpx.RemoteProtocolError):
                    await stream.aread()
            refused = await whole
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert "The server stopped before it could answer" in refused.json()["message"]
            assert await asyncio.to_thread(server.process.wait, 20) == 0
        await asyncio.to_thread(starting.__exit__, None, None, None)
    log = "".join(file.read_text() for file in (tmp_path / "data" / "log").iterdir())
    assert "was cut off by a stop" in log
    assert "Traceback" not in log


def test_a_folder_of_a_newer_format_is_refused_by_name(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "format").write_text(f"{FORMAT + 6}\n")
    refused = try_to_serve(data)
    assert refused.returncode == EXIT_FAILED
    assert str(data) in refused.stderr
    assert f"format {FORMAT + 6}" in refused.stderr
    assert not (data / "carrel.db").exists()


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("model_ulr = 'x'", "model_ulr"),
        ("[limits]\nfile_bytes = 0", "limits.file_bytes"),
        ("=", ""),
    ],
)
def test_settings_that_cannot_be_used_are_refused_by_name(
    tmp_path: Path, content: str, named: str
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text(content)
    refused = try_to_serve(data)
    assert refused.returncode == EXIT_FAILED
    assert str(data / "settings.toml") in refused.stderr
    assert named in refused.stderr
    assert "Traceback" not in refused.stderr


def test_changed_settings_are_in_force_without_a_new_start(tmp_path: Path) -> None:
    def wait_for(model: str) -> None:
        deadline = time.monotonic() + 20
        while (found := http.get("/v1/models").json()["data"][0]["id"]) != model:
            assert time.monotonic() < deadline, found
            time.sleep(0.05)

    with serve(tmp_path / "data") as server, connect(server) as http:
        wait_for("smollm2")
        settings = server.data / "settings.toml"
        settings.write_text("model_path = '/models/other.gguf'\n[limits]\nfile_bytes = 3\n")
        wait_for("other")
        assert http.post("/v1/files", files={"file": ("a.txt", b"text")}).status_code == 413
        # What cannot be used changes nothing, and what is usable afterwards does again.
        settings.write_text("model_path = ")
        settings.unlink()
        wait_for("smollm2")


def test_a_port_that_is_taken_is_said_so(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        refused = try_to_serve(tmp_path / "data", "--port", port)
    assert refused.returncode == EXIT_FAILED
    assert port in refused.stderr
    assert "another --port" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_host_that_is_not_this_machine_is_said_so(tmp_path: Path) -> None:
    # An address for documents about networks, which no machine has.
    KeyChain(tmp_path / "data").add("anna", "local", "anna")
    refused = try_to_serve(tmp_path / "data", "--host", "192.0.2.1")
    assert refused.returncode == EXIT_FAILED
    assert "another --host" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_folder_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = try_to_serve(tmp_path / "file" / "data")
    assert refused.returncode == EXIT_FAILED
    assert "--data" in refused.stderr
    assert "Traceback" not in refused.stderr


@storage.only_alone
def test_an_interrupted_first_migration_is_done_again_at_the_next_start(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as server, connect(server) as http:
        kept = http.post("/v1/agents", json={"model": "m", "name": "kept"}).json()
    (tmp_path / "data" / "format").unlink()
    with serve(tmp_path / "data") as server, connect(server) as http:
        assert http.get(f"/v1/agents/{kept['id']}").json() == kept
    assert len(list((tmp_path / "data" / "backups").iterdir())) == 1


@storage.only_alone
def test_a_new_key_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as first:
        pass
    (tmp_path / "data" / "key").unlink()
    with serve(tmp_path / "data") as second:
        assert second.api_key != first.api_key
        for key, status in ((second.api_key, 200), (first.api_key, 401)):
            headers = {"authorization": f"Bearer {key}"}
            assert httpx.get(f"{second.url}/v1/files", headers=headers).status_code == status


def test_the_key_and_signed_addresses_never_reach_the_log(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as server, connect(server) as http:
        id = http.post("/v1/files", files={"file": ("a.txt", b"text")}).json()["id"]
        url = http.get(f"/v1/files/{id}/url").json()["url"]
        token = url.rpartition("/")[2]
        httpx.get(url)
        httpx.get(f"{server.url}/nowhere/{server.api_key}")
        http.get("/v1/files", params={"search": server.api_key})
        http.get(f"/v1/files/{server.api_key}{url}")
        http.get("/v1/files/%0A2026-01-01 forged%1B[31m")
        http.get("/v1/files", headers={"x-request-id": "a\tforged"})
    log = (tmp_path / "data" / "log" / "server.log").read_text()
    assert "/signed/…" in log
    assert not re.search(r"^2026-01-01 forged|[\x00-\x08\x0b-\x1f\x7f]|a\tforged", log, re.M)
    assert f"/v1/files/…{id[-4:]}/url" in log
    for secret in (server.api_key, token, (tmp_path / "data" / "secret").read_text()):
        assert secret not in log


def test_the_server_starts_without_the_parts_that_only_some_requests_need() -> None:
    heavy = (
        *("jsonschema", "alembic", "dbos", "openvino", "onnxruntime", "liteparse", "kreuzberg"),
        *("rapidocr", "xllamacpp", "wordllama", "numpy", "pypdfium2", "PIL"),
    )
    script = f"import sys, carrel.server.serve; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_other_machines_are_served_only_with_keys_made_for_them(tmp_path: Path) -> None:
    data = tmp_path / "data"
    refused = try_to_serve(data, "--host", "0.0.0.0")
    assert refused.returncode == EXIT_FAILED
    assert f"carrel keys add NAME --data {data}" in refused.stderr
    chain = KeyChain(data)
    chain.add("anna", "local", "anna")
    chain.revoke("anna")
    assert try_to_serve(data, "--host", "0.0.0.0").returncode == EXIT_FAILED


@pytest.mark.parametrize(("proxies", "scheme"), [([], "http"), (["127.0.0.1"], "https")])
def test_forwarded_headers_are_believed_from_named_proxies_alone(
    proxies: list[str], scheme: str, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text(f"proxies = {proxies}\n")
    with serve(data) as server, connect(server) as http:
        id = http.post("/v1/files", files={"file": ("a.txt", b"a")}).json()["id"]
        forwarded = {"x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.7"}
        address = http.get(f"/v1/files/{id}/url", headers=forwarded).json()["url"]
        assert address.partition(":")[0] == scheme
