"""Processes that end with a killed server, whatever they are doing then."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from support.documents import picture
from support.libraries import connect, new_library
from support.process import children, command, runs, serve

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent"),
    pytest.mark.xdist_group("model"),
]


def _processes_below(pid: int) -> dict[int, str]:
    """The commands of the processes that a process started, and of those that they started."""
    below = dict[int, str]()
    for child in children(pid):
        below |= {child: command(child)} | _processes_below(child)
    return below


def test_processes_that_hang_end_with_a_killed_server(tmp_path: Path) -> None:
    scan = picture(tmp_path / "scan.png", "Whisper near the stairs").read_bytes()
    with serve(tmp_path / "data") as server, connect(server) as http:
        # The model's tokenizer, a parser with a document open, and the OCR process.
        library = new_library(http)
        library.processed("a.txt", b"a heron at dawn")
        file = http.post("/v1/files", files={"file": ("scan.png", scan)}).json()
        asked = {
            "model": "carrel-ocr",
            "document": {"type": "file", "file_id": file["id"]},
            "pages": [0],
        }
        assert http.post("/v1/ocr", json=asked).status_code == 200

        below = _processes_below(server.process.pid)
        modules = {
            command.split("\0")[3].removeprefix("carrel.server.") for command in below.values()
        }
        assert modules == {"models.embedded", "reading.ocr.process", "reading.parser"}
        # A stopped process notices neither a closed pipe nor anything else.
        for pid in below:
            os.kill(pid, signal.SIGSTOP)
        try:
            server.process.kill()
            server.process.wait()
            deadline = time.monotonic() + 20
            while any(map(runs, below)):
                assert time.monotonic() < deadline, [below[pid] for pid in below if runs(pid)]
                time.sleep(0.02)
        finally:
            for pid in filter(runs, below):
                os.kill(pid, signal.SIGKILL)
