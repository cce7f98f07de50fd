"""Health: what /readyz says of the worker that processes documents."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from fastapi import FastAPI

from carrel.server.datadir.folder import DataFolder
from carrel.server.routes.service import health
from support import storage
from support.processing import Lab, ScriptedReader
from support.sockets import serving


async def _ready(lab: Lab, folder: DataFolder) -> httpx.Response:
    app = FastAPI()
    app.include_router(health.router)
    app.state.server = SimpleNamespace(
        database=lab.database, blobs=lab.blobs, library=lab.service, jobs=lab.jobs, folder=folder
    )
    async with serving(app) as port, httpx.AsyncClient() as http:
        return await http.get(f"http://127.0.0.1:{port}/readyz")


async def test_readyz_tells_of_the_worker_and_when_it_is_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = asyncio.Event()

    async def read_slowly() -> str:
        await go_on.wait()
        return "a heron at dawn"

    reader = ScriptedReader()
    reader.script = read_slowly
    with DataFolder(tmp_path / "data") as folder:
        storage.prepare(folder)
        lab = Lab(folder, reader)
        await lab.open()
        try:
            library = await lab.new_library()
            added = [
                await lab.add(library, bytes([number]), "application/pdf") for number in range(6)
            ]
            await lab.until(added[0], "in_progress")
            worker = (await _ready(lab, folder)).json()["worker"]
            assert worker["silent_seconds"] <= health.SILENT_SECONDS
            assert worker["running"] >= 1
            assert worker["running"] + worker["queued"] == 6

            go_on.set()
            for document in added:
                await lab.until(document, "done")
            await lab.idle()
            worker = (await _ready(lab, folder)).json()["worker"]
            assert (worker["running"], worker["queued"]) == (0, 0)

            with monkeypatch.context() as patch:
                patch.setattr(health, "RESERVE_BYTES", 2**62)
                answer = await _ready(lab, folder)
            assert answer.status_code == 503
            assert answer.json() == {"status": "failing", "failing": ["disk"]}

            monkeypatch.setattr(health, "SILENT_SECONDS", -1)
            answer = await _ready(lab, folder)
            assert answer.status_code == 503
            assert answer.json() == {"status": "failing", "failing": ["worker"]}
        finally:
            go_on.set()
            await lab.close()
