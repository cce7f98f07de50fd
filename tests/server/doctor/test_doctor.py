"""`carrel doctor`, with each part well and really broken."""

import os
import stat
from pathlib import Path
from uuid import uuid4

import pytest

from carrel.server.folder import FORMAT
from support import storage
from support.command import Ended, carrel
from support.libraries import connect
from support.postgres import postgres_server
from support.process import RunningServer, serve
from support.s3 import free_ports
from support.service import reply, service

pytestmark = [pytest.mark.timeout(400), storage.only_alone]


@pytest.fixture(scope="module")
def buckets() -> dict[str, str]:
    """The variables of the S3 server."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage, "SHARED", True)
        return storage.environment()


def _states(ended: Ended) -> dict[str, str]:
    """The worst state of each part."""
    order = ("ok", "warning", "failed")
    states: dict[str, str] = {}
    for finding in ended.json:
        part, state = finding["part"], finding["state"]
        states[part] = max(states.get(part, "ok"), state, key=order.index)
        # Each that is not well says what to do.
        assert bool(finding["advice"]) == (state != "ok"), finding
    return states


def _advice(ended: Ended, part: str) -> str:
    wrong = [finding for finding in ended.json if finding["part"] == part]
    return " ".join(f"{finding['said']} {finding['advice']}" for finding in wrong)


async def test_every_part_of_a_team_is_well(tmp_path: Path, buckets: dict[str, str]) -> None:
    database = postgres_server().migrated(uuid4().hex)
    options = ["--database", database, "--blobs", f"s3://tests/{uuid4().hex}"]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in buckets.items():
            patch.setenv(name, value)
        with serve(tmp_path / "data", *options):
            ended = await carrel("doctor", "--json", "--data", tmp_path / "data", *options)
    states = _states(ended)
    assert (ended.code, ended.err) == (0, "")
    assert set(states.values()) == {"ok"}, ended.out
    assert {"database", "connections", "clock", "workers", "blobs", "keys", "server"} <= set(states)
    assert {"settings", "data folder", "disk", "model", "parsers", "OCR", "limits"} <= set(states)
    assert "write, signed read and delete work" in _advice(ended, "blobs")


async def test_what_is_broken_in_a_folder_is_named(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serve(data) as server, connect(server) as http:
        sent = {"file": ("heron.txt", b"heron")}
        http.post("/v1/files", data={"purpose": "ocr"}, files=sent).raise_for_status()
    [blob] = data.glob("blobs/??/*")
    blob.unlink()
    data.chmod(0o755)
    (data / "key").chmod(0o644)
    (data / "secret").unlink()
    (data / "settings.toml").write_text("[limits]\nfile_bites = 3\n")
    [port] = free_ports(1)
    url = f"http://127.0.0.1:{port}/v1"
    ended = await carrel("doctor", "--json", "--data", data, "--model-url", url)
    states = _states(ended)
    assert ended.code == 4
    assert [part for part, state in states.items() if state == "failed"] == [
        "settings",
        "blobs",
        "keys",
        "model",
    ]
    assert states["data folder"] == "warning"
    assert "file_bites" in _advice(ended, "settings")
    assert f"1 of 1 are missing, such as {blob.name}" in _advice(ended, "blobs")
    assert f"chmod 700 {data}" in _advice(ended, "data folder")
    assert f"chmod 600 {data / 'key'}" in _advice(ended, "data folder")
    assert "secret is missing" in _advice(ended, "keys")
    assert f"{url} does not answer" in _advice(ended, "model")
    # Looking changes nothing.
    assert stat.S_IMODE(data.stat().st_mode) == 0o755
    assert not (data / "secret").exists()


async def test_damaged_records_and_a_newer_format_are_named(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serve(data):
        pass
    with (data / "carrel.db").open("r+b") as file:
        for page in range(2, 40):
            file.seek(page * 4096)
            file.write(os.urandom(4096))
    (data / "format").write_text(f"{FORMAT + 1}\n")
    (data / "model.gguf").write_bytes(b"not a model")
    (data / "settings.toml").write_text(f'model_path = "{data / "model.gguf"}"\n')
    ended = await carrel("doctor", "--data", data)
    assert ended.code == 4
    assert "Traceback" not in ended.err
    lines = [line for line in ended.out.splitlines() if line.startswith("✕")]
    assert any("carrel.db is damaged" in line for line in lines), ended.out
    assert any(f"has format {FORMAT + 1}" in line for line in lines)
    assert any("model.gguf is no GGUF model" in line for line in lines)
    assert "→ Stop the server and restore a backup: carrel restore." in ended.out


async def test_what_is_broken_in_a_team_is_named(
    tmp_path: Path, buckets: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = postgres_server().create(uuid4().hex)
    for name, value in {**buckets, "AWS_SECRET_ACCESS_KEY": "wrong"}.items():
        monkeypatch.setenv(name, value)
    model = reply({"error": "no"}, 401)
    async with service(model) as refusing:
        options = [
            "--database",
            bare,
            "--blobs",
            "s3://tests/x",
            "--model-url",
            f"{refusing.url}/v1",
        ]
        ended = await carrel("doctor", "--json", "--data", tmp_path, *options)
    states = _states(ended)
    assert ended.code == 4
    assert {part for part, state in states.items() if state == "failed"} == {
        "database",
        "blobs",
        "model",
    }, ended.out
    assert "carrel migrate" in _advice(ended, "database")
    assert "SignatureDoesNotMatch" in _advice(ended, "blobs")
    assert "CARREL_MODEL_KEY" in _advice(ended, "model")
    assert "wrong" not in ended.out


@pytest.mark.parametrize("key", ["right", "wrong", ""])
async def test_the_connection_of_a_profile(
    key: str, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_URL", server.url)
    if key:
        value = {"right": server.api_key, "wrong": "carrel_x"}[key]
        monkeypatch.setenv("CARREL_API_KEY", value)
    ended = await carrel("doctor", "--json")
    states = _states(ended)
    assert states["address"] == "ok"
    assert ended.code == (0 if key == "right" else 4)
    if key == "right":
        assert set(states) == {"profile", "address", "key", "models", "version"}
        assert set(states.values()) == {"ok"}
    else:
        assert states["key"] == "failed"
    assert server.api_key not in ended.out
