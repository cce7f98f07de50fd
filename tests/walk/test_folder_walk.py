"""From a dropped folder to an answer with its page open, in a real terminal."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.documents import digital_pdf
from support.folders import write
from support.terminal import terminal

CARREL = [sys.executable, "-m", "carrel"]

pytestmark = [pytest.mark.timeout(400), pytest.mark.xdist_group("walk")]


@pytest.fixture(autouse=True)
def end_of_the_server(home: Path) -> Iterator[None]:
    """Ends the server that the app started and left running for the next one."""
    yield
    running = home / "data" / "carrel" / "server" / "server.json"
    if running.exists():
        os.kill(json.loads(running.read_text())["pid"], signal.SIGTERM)


def test_a_dropped_folder_answers(home: Path) -> None:
    folder = home / "contracts"
    write(folder / "notes.txt", "Nothing of interest stands here.")
    text = "The notice period is three months to the end of a quarter."
    (folder / "2024").mkdir()
    digital_pdf(folder / "2024" / "lease.pdf", pages=1, text=text)
    with terminal(CARREL) as app:
        app.wait_for(r"local ● ready", timeout=60)
        app.paste(str(folder))
        app.wait_for("Sync ~/contracts")
        app.wait_for("into contracts")  # a new library: there is no other
        app.wait_for(r"2 to upload")
        app.press("f2")
        app.wait_for(r"~/contracts: 2 uploaded")
        app.wait_for(r"2024/lease\.pdf +● Ready", timeout=120)

        app.press("4")
        app.wait_for(r"\[4 Agents\]")
        app.press("n", "enter")
        app.wait_for(r"New agent[\s\S]*contracts")
        app.type("tenant")
        app.press("tab", "tab", "tab", "space", "f2")
        app.wait_for(r"● v0 +active")
        app.press("c")
        app.wait_for(r"\[5 Chat\]")
        app.type("How long is the notice period?")
        app.press("enter")
        app.wait_for(r"Sources.*2024/lease\.pdf", timeout=120)
        app.wait_for(r"tok/s", timeout=120)
        app.press("shift+tab", "]", "enter")
        app.wait_for(r"\[3 Document\]")
        app.wait_for(r"2024/lease\.pdf · page 1 of 1")
        # While a page is read, quitting asks.
        app.press("6")
        app.wait_for(r"OCR.*● Done")
        app.press("ctrl+q")
        assert app.wait_for_end() == 0
