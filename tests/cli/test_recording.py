"""Sessions of the real app, recorded: in a real terminal, with a real key."""

import re
import signal
import sys
from pathlib import Path

import pyte
import pytest

from carrel.config.profiles import Profile, add_profile
from carrel.recording.asciicast import Recording, read_recording
from support.command import carrel
from support.process import RunningServer
from support.terminal import terminal

APP = [sys.executable, "-m", "carrel"]
pytestmark = pytest.mark.timeout(240)


@pytest.fixture
async def work(server: RunningServer, tmp_path: Path) -> str:
    """The key of a profile that is the default, at a server that has a file."""
    add_profile(Profile("work", server.url, server.api_key))
    (tmp_path / "lease.txt").write_text("Three months.")
    assert (await carrel("--profile", "work", "files", "upload", tmp_path / "lease.txt")).code == 0
    return server.api_key


def screen(recording: Recording) -> str:
    """What a terminal shows at the end of a recording."""
    shown = pyte.Screen(recording.width, recording.height)
    stream = pyte.Stream(shown)
    for event in recording.events:
        if event.kind == "o":
            stream.feed(event.data)
    return "\n".join(line.rstrip() for line in shown.display)


async def test_a_killed_session_is_recorded_to_its_last_frame_without_keys(
    work: str, tmp_path: Path
) -> None:
    out = tmp_path / "session.cast"
    with terminal([*APP, "--profile", "work", "--record", str(out)]) as app:
        app.wait_for("lease.txt", 90)
        app.press("y")
        app.wait_for("Copy link")
        app.press("enter")
        app.wait_for("Copied")
        assert b"\x1b]52;" in app.raw
        app.press("4", "/")
        app.type(work)
        last = app.wait_for("•" * len(work))
        app.process.send_signal(signal.SIGKILL)
        app.process.wait()
    data = out.read_text()
    assert "lease.txt" in data
    secret = work.removeprefix("carrel_")
    parts = [secret[at : at + 8] for at in range(len(secret) - 7)]
    assert not [part for part in parts if part in data]
    assert not re.search(r"\]52;|/signed|https?:", data)
    recording = read_recording(out)
    assert screen(recording).split() == last.split()

    # It is replayed without the server, and says that it is a replay.
    with terminal([*APP, "replay", str(out)], columns=120, rows=38) as app:
        app.wait_for("REPLAY ▶ 0:0")
        app.press("right", "right", "right")
        app.wait_for("REPLAY ■ end")
        assert app.text.split("REPLAY")[0].split() == last.split()
        app.press("q")
        assert app.wait_for_end() == 0
    with terminal([*APP, "replay", str(out)], columns=80) as app:
        app.wait_for("120 × 36")
        assert app.wait_for_end() == 2


async def test_a_full_disk_ends_the_recording_and_nothing_else(work: str, tmp_path: Path) -> None:
    out = tmp_path / "session.cast"
    limited = ["bash", "-c", 'ulimit -f 24; exec "$@"', "bash"]
    with terminal([*limited, *APP, "--profile", "work", "--record", str(out)]) as app:
        app.wait_for("The disk is full: the recording has ended", 90)
        app.press("esc")
        app.wait_for("disk is full", gone=True)
        app.press("4")
        app.wait_for("No agents")
        app.press("ctrl+q")
        assert app.wait_for_end() == 0
        assert "The disk is full: the recording has ended" in app.text
    assert out.stat().st_size <= 24 * 1024
    assert read_recording(out).events


async def test_a_recording_never_replaces_a_file(
    work: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "session.cast"
    out.write_text("kept")
    monkeypatch.chdir(tmp_path)  # a long path would break the line
    with terminal([*APP, "--record", out.name]) as app:
        app.wait_for("exists already: name a new file")
        assert app.wait_for_end() == 2
    assert out.read_text() == "kept"
    ended = await carrel("--record", out, "files", "list")
    assert (ended.code, "Only the app is recorded" in ended.err) == (2, True)


async def test_what_is_no_recording_is_refused_with_its_line(tmp_path: Path) -> None:
    out = tmp_path / "session.cast"
    out.write_text('{"version": 2, "width": 80, "height": 24}\n[1, "o"]\n')
    ended = await carrel("replay", out)
    assert (ended.code, f"{out}, line 2: An event is like" in ended.err) == (2, True)
    out.write_text('{"version": 2, "width": 80, "height": 24}\n[1, "o", "x"]\n')
    ended = await carrel("replay", out)
    assert (ended.code, "needs a terminal" in ended.err) == (2, True)
