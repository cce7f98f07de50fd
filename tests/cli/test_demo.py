"""`carrel demo` as a command: what it refuses, and a kill."""

import signal
import sys
from pathlib import Path

import pytest

from carrel.config.profiles import Profile, add_profile
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


async def libraries() -> list[str]:
    listed = await carrel("libraries", "list", "--json")
    return [one["name"] for one in listed.json]


@pytest.mark.timeout(240)
async def test_what_a_demo_made_is_removed_after_a_kill_too(file: Path, home: Path) -> None:
    command = [sys.executable, "-m", "carrel"]
    with terminal([*command, "demo", str(file)]) as app:
        app.wait_for("F8 next", 90)
        app.press("\x1b[19~")
        app.wait_for("1/1")
        app.process.terminate()
        assert app.wait_for_end(30) == 0
    assert await libraries() == []
    for _ in range(2):
        # The name would be refused if the one before were still there.
        with terminal([*command, "demo", str(file)]) as app:
            app.wait_for("F8 next", 90)
            killed(app)
        assert await libraries() == ["leases"]
    with terminal(command) as app:
        app.wait_for("Files", 90)
        killed(app)
    assert await libraries() == []
    assert not (home / "state" / "carrel" / "demo.json").exists()
