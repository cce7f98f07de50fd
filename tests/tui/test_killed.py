"""The app, a command, the server or the network cut off at random: everything is there once.

`pytest -k "[7]"` does round 7 again, as it was drawn.
"""

import contextlib
import random
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.config.profiles import Profile, add_profile
from support.cut_off import OCR, Add, Answer, Batch, Download, Export, Paste, Sync, Work
from support.cuts import line
from support.libraries import connect
from support.model import serve_model
from support.process import serve
from support.rounds import rounds
from support.terminal import Terminal, terminal

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

CARREL = [sys.executable, "-m", "carrel"]
WORKS: dict[type[Work], tuple[int, int]] = {
    Paste: (120, 400),
    Sync: (120, 2000),
    Download: (40, 200),
    OCR: (30, 120),
    Answer: (150, 150),
    Add: (80, 400),
    Export: (12, 120),
    Batch: (4, 12),
}
"""How many parts each has, in every run of the tests and in `.ci/soak`."""
WAYS = ("kill", "quit", "server", "network")
PATIENCE = 60
"""Seconds until a further part is there, at most, however slow the machine is."""


class Place:
    """A server, and the line that leads to it; both can be cut off."""

    def __init__(self, data: Path, model: str) -> None:
        self._data = data
        self._model = model
        self._stack = contextlib.ExitStack()
        self._server = self._stack.enter_context(serve(data, "--model-url", model))
        self.line = self._stack.enter_context(line(self._server.port))
        self.profile = Profile("here", self.line.url, self._server.api_key)
        self.http = self._stack.enter_context(connect(self._server))

    def restart(self, pause: float) -> None:
        """Kills the server, and starts it again after some seconds."""
        port = self._server.port
        self._server.process.kill()
        self._server.process.wait()
        time.sleep(pause)
        started = serve(self._data, "--model-url", self._model, port=port)
        self._server = self._stack.enter_context(started)

    def lose(self, pause: float) -> None:
        """Cuts the line for some seconds."""
        self.line.cut()
        time.sleep(pause)
        self.line.mend()

    def close(self) -> None:
        self._stack.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        given = (listener, WORKS[Answer][1], 0, ("scripted",), 0.02)
        threading.Thread(target=serve_model, args=given, daemon=True).start()
        place = Place(tmp_path / "data", f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
        yield place
        place.close()


def shell(*arguments: str) -> list[str]:
    """A command of the shell, for the profile of the round."""
    return [*CARREL, *arguments, "--profile", "here"]


@pytest.mark.parametrize("seed", range(rounds(len(WORKS), 30)))
def test_work_that_is_cut_off_is_there_once(place: Place, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    kind = [*WORKS][seed % len(WORKS)]
    place.profile = replace(place.profile, url=kind.address(place.line.url))
    add_profile(place.profile)
    work = kind(place.http, place.profile, tmp_path / "work", rounds(*WORKS[kind]))
    story = [f"round {seed}: {kind.__name__} of {work.number}"]
    try:
        # Work of every kind is first cut off in every way.
        begin(place, work, chance, story, WAYS[(seed % len(WORKS) + seed // len(WORKS)) % 4])
        for turn in range(8):
            if resume(place, work, chance, story, whole=turn > 3):
                return
        raise AssertionError("it never came to its end")
    finally:
        print(f"\n{' · '.join(story)}", flush=True)


def begin(place: Place, work: Work, chance: random.Random, story: list[str], how: str) -> None:
    """Begins the work in the app, or in a shell where it can be, and cuts it off."""
    in_shell = bool(work.command()) and chance.random() < 0.4
    with terminal(shell(*work.command()) if in_shell else shell()) as face:
        if not in_shell:
            face.wait_for(work.READY)
            work.begin(face)
        else:
            face.wait_for("Looking|Uploading|Uploaded|Added|files")
        story.append("in a shell" if in_shell else "in the app")
        cut_off(place, face, work, chance, story, how)
        finish(face, work)


def resume(
    place: Place, work: Work, chance: random.Random, story: list[str], *, whole: bool
) -> bool:
    """Starts again, and resumes what that says is left; whether nothing was.

    What is resumed may be cut off again, unless it is to be `whole`.
    """
    missing = settled(work)
    in_shell = missing > 0 and bool(work.command()) and chance.random() < 0.3
    with terminal(shell("resume") if in_shell else shell()) as face:
        wait(face, lambda: bool(re.search(rf"{work.READY}|left|nterr", face.text)))
        until = time.monotonic() + 0.5
        wait(face, lambda: time.monotonic() > until)
        said = re.search(work.LEFT, face.text) if work.LEFT else None
        number = work.count_left(said) if said else 0
        story.append(f"{missing} missing, {number} said in {'a shell' if in_shell else 'the app'}")
        assert missing <= number <= missing + work.AT_ONCE, face.text
        if said is None:
            assert not re.search(r"\bleft\b|nterrupted", face.text), face.text
            work.check()
            work.check_in(face)
            return True
        if not in_shell:
            face.press("r")
        if not whole and chance.random() < 0.5:
            cut_off(place, face, work, chance, story)
        finish(face, work)
    return False


def cut_off(
    place: Place,
    face: Terminal,
    work: Work,
    chance: random.Random,
    story: list[str],
    first: str = "",
) -> None:
    """Cuts the work off at a random moment, in one of four ways."""
    moment, pause = chance.uniform(0, 0.8 * work.number / work.RATE), chance.uniform(0.3, 3)
    how = first or chance.choice(WAYS)
    story.append(f"{how} after {moment:.2f} s")
    until = time.monotonic() + moment
    wait(face, lambda: time.monotonic() > until)
    if how == "kill":
        face.process.send_signal(signal.SIGKILL)
        face.process.wait()
    elif how == "quit":
        leave(face, "q")
    else:
        story[-1] += f" for {pause:.1f} s"
        away = threading.Thread(
            target=place.restart if how == "server" else place.lose, args=[pause]
        )
        away.start()
        wait(face, lambda: not away.is_alive())
        away.join()


def leave(face: Terminal, answer: str) -> None:
    """Quits the app, with this answer where it asks, or interrupts a command."""
    if face.process.poll() is not None:
        return
    if face.process.args != shell():
        face.process.send_signal(signal.SIGINT)  # it has no terminal that would do so
        face.wait_for_end()
        return
    face.press("ctrl+q")
    wait(face, lambda: "Quit and resume later" in face.text)
    if face.process.poll() is None:
        face.press(answer)
        face.wait_for_end(60)


def finish(face: Terminal, work: Work) -> None:
    """Waits until all is there or the face has ended, and quits it."""
    deadline, done = time.monotonic() + PATIENCE, work.done()
    while face.process.poll() is None and work.is_under_way(face):
        if done != (done := work.done()):
            deadline = time.monotonic() + PATIENCE
        assert time.monotonic() < deadline, face.text
        until = time.monotonic() + 0.3
        wait(face, lambda until=until: time.monotonic() > until)  # type: ignore[misc]
    if face.process.args == shell():
        leave(face, "w")
    else:
        face.wait_for_end(PATIENCE)


def wait(face: Terminal, condition: Callable[[], bool], seconds: float = 60) -> None:
    """Reads the screen until something is so, or its program has ended."""
    deadline = time.monotonic() + seconds
    while not condition() and face.process.poll() is None:
        # What nobody reads of the screen stops the app.
        assert face.text is not None and time.monotonic() < deadline, face.text
        time.sleep(0.02)


def settled(work: Work) -> int:
    """How many parts are missing once no more arrive: the service may still be at one."""
    missing = work.missing()
    while True:
        time.sleep(0.3)
        before, missing = missing, work.missing()
        if missing == before:
            return missing
