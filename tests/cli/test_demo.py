"""`carrel demo` as a command: what it refuses, and a kill."""

import signal
import sys
from pathlib import Path

import pytest

from carrel.config.profiles import Profile, add_profile, folders
from carrel.recording.asciicast import read_recording
from carrel.store.chat.conversation import EMPTY, Turn
from carrel.store.chat.sessions.saved import ChatSession, SavedSessions
from support.command import carrel
from support.terminal import Terminal, terminal

FILE = """\
title: Leases for everybody
needs:
  libraries:
  - {name: leases, documents: [lease.txt]}
steps:
- say: A library.
  press: ["2"]
  wait: {text: lease.txt}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "lease.txt").write_text("The notice period is three months.")
    path = tmp_path / "demo.yaml"
    path.write_text(FILE)
    return path


@pytest.fixture
def malformed(file: Path) -> Path:
    file.write_text(FILE.replace("press", "pres"))
    return file


async def test_a_malformed_file_is_refused_with_its_line(malformed: Path) -> None:
    ended = await carrel("demo", malformed)
    assert (ended.code, ended.out) == (2, "")
    assert f"{malformed}, line 7: steps.0.pres: did you mean press?" in ended.err


async def test_it_needs_a_terminal_and_the_local_server(file: Path) -> None:
    ended = await carrel("demo", file)
    assert (ended.code, "needs a terminal" in ended.err) == (2, True)
    add_profile(Profile("work", "http://127.0.0.1:9"))
    ended = await carrel("--profile", "work", "demo", file)
    assert (ended.code, "this machine only" in ended.err) == (2, True)


def killed(app: Terminal) -> None:
    app.process.send_signal(signal.SIGKILL)
    app.process.wait()


@pytest.mark.timeout(240)
async def test_nothing_of_a_demo_is_left_after_a_kill_too(file: Path, home: Path) -> None:
    command = [sys.executable, "-m", "carrel"]
    place = home / "state" / "carrel" / "demo"
    with terminal([*command, "demo", str(file)]) as app:
        app.wait_for("F8 next", 90)
        app.press("\x1b[19~")
        app.wait_for("1/1")
        app.process.terminate()
        assert app.wait_for_end(30) == 0
    assert not place.exists()
    for _ in range(2):
        with terminal([*command, "demo", str(file)]) as app:
            app.wait_for("F8 next", 90)
            killed(app)
        assert place.exists()
    with terminal(command) as app:
        app.wait_for("Files", 90)
        killed(app)
    assert not place.exists()


def _recorded(path: Path) -> str:
    recording = read_recording(path)
    return "".join(event.data for event in recording.events if event.kind == "o")


@pytest.mark.timeout(240)
async def test_nothing_of_the_presenters_own_is_in_a_recording(
    file: Path, home: Path, tmp_path: Path
) -> None:
    for kind, name in (("files", "payroll-secret.txt"), ("libraries", "lawsuit")):
        own = tmp_path / name
        own.write_text("Wages of everybody.")
        given = ("upload", own) if kind == "files" else ("create", name)
        assert (await carrel(kind, *given)).code == 0
    chat = EMPTY.add(Turn("user", "fire whom?"))
    session = ChatSession("one", "agent", "barrister", 1.0, chat)
    SavedSessions(folders().state, "local").save(session)
    command = [sys.executable, "-m", "carrel", "demo", str(file), "--record"]
    cast = tmp_path / "out.cast"
    with terminal([*command, str(cast)], columns=160, rows=45) as app:
        app.wait_for("F8 next", 90)
        app.press("\x1b[19~")
        app.wait_for("1/1")
        # A presenter who looks into every place by hand.
        for place, shown in (("1", "No files"), ("4", "Agents"), ("5", "Chat"), ("2", "leases")):
            app.press(place)
            app.wait_for(shown)
        app.press("ctrl+q")
        assert app.wait_for_end(60) == 0
    shown = _recorded(cast)
    assert "F8 next" in shown and "lease.txt" in shown
    for word in ("payroll", "lawsuit", "barrister", "fire whom"):
        assert word not in shown
    assert "lawsuit" in (await carrel("libraries", "list")).out
