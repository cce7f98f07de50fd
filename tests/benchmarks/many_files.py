"""Many small files: the processor time of the app for each that is pasted, and of the server in a
sync.

The app draws into a real terminal, which is read all the while. Files are stored when the sync
ends; by then the server has begun to process them, which counts. The time until they are processed
is that of all its processes.
"""

import asyncio
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.report import Figure
from benchmarks.sync import sync_files
from carrel.config.profiles import Profile, add_profile
from support.folders import write
from support.libraries import connect, new_library
from support.process import RunningServer, family_seconds, processor_seconds, serve
from support.terminal import terminal

_PASTED = 400
_SYNCED = 400
_APP = [sys.executable, "-m", "carrel", "--profile", "here"]


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        os.environ |= {"HOME": name, "XDG_DATA_HOME": f"{name}/data", "XDG_STATE_HOME": name}
        os.environ |= {"XDG_CONFIG_HOME": f"{name}/config"}
        with serve(home / "data") as server:
            pasted = _paste(server, home / "paste")
            yield Figure("app, ms a pasted file", pasted / _PASTED * 1000, 10, "lower")
            stored, processed = _sync(server, home / "sync")
            yield Figure("server, ms a stored file", stored / _SYNCED * 1000, 10, "lower")
            yield Figure("server, ms a processed file", processed / _SYNCED * 1000, 20, "lower")


def _paste(server: RunningServer, folder: Path) -> float:
    add_profile(Profile("here", server.url, server.api_key))
    paths = [write(folder / f"note-{n:03}.md", f"# Note {n}\n") for n in range(_PASTED)]
    with terminal(_APP) as app, connect(server) as http:
        app.wait_for("No files yet")
        app.paste(" ".join(shlex.quote(str(path)) for path in paths))
        app.wait_for(f"Upload {_PASTED} files")
        began = processor_seconds(app.process.pid)
        app.press("enter")
        while http.get("/v1/files", params={"page_size": 1}).json()["total"] < _PASTED:
            assert app.text
            time.sleep(0.3)
        app.wait_for(f"Uploaded {_PASTED} files")
        return processor_seconds(app.process.pid) - began


def _sync(server: RunningServer, folder: Path) -> tuple[float, float]:
    """The server's own time until all are stored, and that of all its processes in the end."""
    with connect(server) as http:
        library = new_library(http)
        began, alone = family_seconds(server.process.pid), processor_seconds(server.process.pid)
        asyncio.run(sync_files(server, library.id, folder, _SYNCED))
        stored = processor_seconds(server.process.pid) - alone
        for page in range(_SYNCED // 100):
            for document in library.documents(page=page, page_size=100)["data"]:
                library.finished(document["id"])
        return stored, family_seconds(server.process.pid) - began
