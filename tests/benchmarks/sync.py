"""Folder sync: a large folder with nothing changed, and many small files to the local server.

The unchanged folder has 10,000 files that the ledger knows; the whole command is timed, against
a walk over the folder that asks the system for each file's size and time and does no more. The
uploads are 200 files of about a kilobyte, half of them in subfolders, which takes a second
request each for their names; the floor sends the same number by bare httpx, as many at a time,
and keeps no ledger. Both go to libraries of one server, in turn.
"""

import asyncio
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median

import httpx

from benchmarks.report import Figure
from carrel.client import Client
from carrel.config.profiles import folders
from carrel.sync.contents import Content
from carrel.sync.ledger import Ledger, LibraryMark, SyncSettings
from carrel.sync.plan import Known
from carrel.sync.rules import Rules
from carrel.sync.runner import AT_ONCE, Runner
from carrel.sync.scan import scan
from support.folders import write
from support.libraries import connect, new_library
from support.process import RunningServer, serve

_FILES = 10_000
_UPLOADS = 200
_ROUNDS = 5

_numbers = itertools.count()


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        os.environ |= {"HOME": name, "XDG_DATA_HOME": f"{name}/data", "XDG_STATE_HOME": name}
        with serve(home / "data") as server:
            yield from _unchanged(server, home / "large")
            yield from _uploads(server, home)


def _unchanged(server: RunningServer, folder: Path) -> Iterable[Figure]:
    for number in range(_FILES):
        write(folder / f"{number % 100}" / f"{number}.txt", f"{number}")
    library = _library(server)
    with Ledger(folders().sync) as ledger:
        entry = ledger.folder(server.url, library, folder)
        found = scan(folder, Rules()).files
        files = {path: Content(stat, path) for path, stat in found.items()}
        ledger.set_files(entry, {}, files)
        for path in found:
            ledger.put(entry, path, Known(path, path))
        ledger.set_mark(entry, LibraryMark(0, None))
    command = [sys.executable, "-m", "carrel", "sync", str(folder), "--library", library]
    environ = {**os.environ, "CARREL_URL": server.url, "CARREL_API_KEY": server.api_key}
    times, floors = [], []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        ended = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
        times.append(time.perf_counter() - began)
        assert ended.stderr == f"{_FILES:,} files in sync.\n", ended
        began = time.perf_counter()
        assert sum(1 for path in folder.rglob("*") if path.stat()) > _FILES
        floors.append(time.perf_counter() - began)
    yield Figure(f"{_FILES:,} unchanged files, s", median(times), 1, "lower")
    walks = median(ours / floor for ours, floor in zip(times, floors, strict=True))
    yield Figure("in bare walks over the folder", walks, 15, "lower")


def _uploads(server: RunningServer, home: Path) -> Iterable[Figure]:
    synced, bare = _library(server), _library(server)
    ours, floors = [], []
    for round in range(_ROUNDS):
        ours.append(asyncio.run(sync_files(server, synced, home / f"small {round}", _UPLOADS)))
        floors.append(asyncio.run(_bare(server, bare)))
    rates = [_UPLOADS / seconds for seconds in ours]
    detail = f"bare httpx: {median(_UPLOADS / seconds for seconds in floors):.0f}"
    yield Figure("small files a second", median(rates), 50, detail=detail)
    share = median(floor / our for floor, our in zip(floors, ours, strict=True))
    yield Figure("share of the bare uploads' speed", share, 0.4)


async def sync_files(server: RunningServer, library: str, folder: Path, files: int) -> float:
    """Seconds of a sync of small files, half of them in a subfolder."""
    for number in range(files):
        write(folder / ("a" if number % 2 else ".") / f"{number}.txt", _text())
    async with Client(server.url, server.api_key) as client:
        with Ledger(folder.with_suffix(".ledger")) as ledger:
            entry = ledger.folder(server.url, library, folder)
            began = time.perf_counter()
            summary = await Runner(client, ledger, entry, SyncSettings()).run()
            seconds = time.perf_counter() - began
    assert summary.uploaded == files, summary
    return seconds


async def _bare(server: RunningServer, library: str) -> float:
    address = f"{server.url}/v1/libraries/{library}/documents"
    texts = iter([_text() for _ in range(_UPLOADS)])
    headers = {"Authorization": f"Bearer {server.api_key}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:

        async def send() -> None:
            for text in texts:
                answer = await http.post(address, files={"file": ("a.txt", text.encode())})
                answer.raise_for_status()

        began = time.perf_counter()
        await asyncio.gather(*(send() for _ in range(AT_ONCE)))
        return time.perf_counter() - began


def _library(server: RunningServer) -> str:
    with connect(server) as http:
        return new_library(http).id


def _text() -> str:
    return f"Note {next(_numbers)}. " + "The tide turns at noon. " * 40
