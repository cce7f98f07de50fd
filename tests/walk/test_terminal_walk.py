"""The main walk in a real terminal: the real app, the server it starts, OCR, the model."""

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.documents import digital_pdf, scanned_pdf
from support.terminal import Terminal, terminal

CARREL = [sys.executable, "-m", "carrel"]
NOTICE = "The notice period is three months to the end of a quarter."

pytestmark = [pytest.mark.timeout(400), pytest.mark.xdist_group("walk")]


@pytest.fixture(autouse=True)
def end_of_the_server(home: Path) -> Iterator[None]:
    """Ends the server that the app started and left running for the next one."""
    yield
    running = _server_file(home)
    if running.exists():
        os.kill(json.loads(running.read_text())["pid"], signal.SIGTERM)


def _server_file(home: Path) -> Path:
    return home / "data" / "carrel" / "server" / "server.json"


def _ready(app: Terminal) -> None:
    app.wait_for(r"local ● ready")


def _upload(app: Terminal, path: Path) -> None:
    app.press("1")
    app.wait_for(r"\[1 Files\]")
    app.paste(str(path))
    app.wait_for(f"Uploaded {re.escape(path.name)}")
    app.wait_for(f"▸ {re.escape(path.name)}")


def _read(app: Terminal, pages: int, expected: str) -> None:
    app.press("o")
    app.wait_for(rf"page 1 of {pages}")
    app.wait_for(r"▀{10}")  # the page's picture
    app.wait_for(expected, timeout=120)


def _ask(app: Terminal, question: str) -> None:
    app.type(question)
    app.press("enter")


def test_the_walk(tmp_path: Path, home: Path) -> None:
    digital = digital_pdf(tmp_path / "rules.pdf", pages=3)
    scanned = scanned_pdf(tmp_path / "lease scan.pdf", pages=1, text=NOTICE)

    with terminal(CARREL) as app:
        app.wait_for(r"\[1 Files\].*starting", timeout=15)
        _ready(app)
        app.wait_for("No files yet")

        # A digital document: pages in order, the first at once.
        _upload(app, digital)
        _read(app, 3, "Rules of the Reading Room 1")
        app.press("l")
        app.wait_for(r"page 2 of 3")
        app.wait_for("Rules of the Reading Room 2")
        app.press("h")
        app.wait_for(r"page 1 of 3")

        # A scanned one, whose path has a space.
        _upload(app, scanned)
        _read(app, 1, "three months")

        # A library, and the scan in it; its status moves by itself.
        app.press("2")
        app.wait_for(r"\[2 Libraries\]")
        app.press("n")
        app.wait_for("New library")
        app.type("contracts")
        app.press("enter")
        app.wait_for(r"contracts +0")
        app.press("1")
        app.wait_for(r"▸ lease scan\.pdf")
        app.press("a")
        app.wait_for("Add to library")
        app.press("enter")
        app.press("2")
        app.wait_for(r"● Ready", timeout=120)

        # What ran is listed until it is dismissed.
        app.press("6")
        app.wait_for(r"Processing +lease scan\.pdf +● Done")
        app.wait_for(r"OCR +rules\.pdf +● Done")
        app.press("d")
        app.wait_for(r"Processing", gone=True)
        app.press("2")
        app.wait_for(r"\[2 Libraries\]")

        # What a search finds opens at its place, and a block of the page fills the window.
        app.press("/")
        app.type("notice")
        app.press("enter")
        app.wait_for(r"lease scan\.pdf +1 .*«[Nn]otice»")
        app.press("enter")
        app.wait_for(r"\[3 Document\]")
        app.wait_for("three months", timeout=120)
        app.press("j", "z")
        app.wait_for(r"filled[\s\S]*▀{50}")
        app.press("6")
        app.wait_for(r"\[6 Activity\][\s\S]*OCR +lease scan\.pdf")

        # An agent with that library, then its version 1 beside version 0.
        app.press("4")
        app.wait_for(r"\[4 Agents\]")
        app.press("n", "enter")
        app.wait_for(r"New agent[\s\S]*contracts")
        app.type("support")
        app.press("tab", "tab")
        app.type("Answer from the passages.")
        app.press("tab", "space")
        app.press("f2")
        app.wait_for(r"● v0 +active")
        app.press("e")
        app.wait_for("Edit support")
        app.press("tab", "tab")
        app.type("Be brief. ")
        app.press("f2")
        app.wait_for("Save this as support v1")
        app.press("enter")
        app.wait_for(r"● v1 +active")
        app.wait_for(r"v0")

        # A chat: the answer streams, and shows what it drew from the library.
        app.press("c")
        app.wait_for(r"\[5 Chat\]")
        _ask(app, "How long is the notice period?")
        app.wait_for(r"Sources.*lease scan\.pdf", timeout=120)

        # An answer that is stopped before it ends, however short the model would have been.
        _ask(app, "Tell a very long story about a library.")
        app.wait_for("■ Stop", timeout=60)
        app.press("esc", "esc")
        app.wait_for("[Ss]topped")

        # A second workbench beside the first shows the same.
        with terminal(CARREL) as second:
            _ready(second)
            second.press("1")  # it begins where the first was left
            second.wait_for(r"lease scan\.pdf")
            second.press("4")
            second.wait_for(r"support +v1")
            second.press("ctrl+q")
            assert second.wait_for_end() == 0
        app.press("ctrl+q")
        assert app.wait_for_end() == 0

    # After a new start everything is still there.
    with terminal(CARREL) as app:
        _ready(app)
        app.press("1")
        app.wait_for(r"rules\.pdf")
        app.press("2")
        app.wait_for(r"● Ready")
        app.press("5")
        app.wait_for("How long is the notice")


def test_a_killed_server_is_missed_and_comes_back(home: Path) -> None:
    with terminal(CARREL) as app:
        _ready(app)
        os.kill(json.loads(_server_file(home).read_text())["pid"], signal.SIGKILL)
        app.wait_for("Offline: showing a copy from ")
        _ready(app)
        app.press("ctrl+q")
        assert app.wait_for_end() == 0
