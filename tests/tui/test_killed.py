"""The app killed, quit and cut off at random while it uploads: everything is there once."""

import collections
import random
import re
import shlex
import signal
import sys
import time
from pathlib import Path

import httpx
import pytest

from carrel.config.profiles import Profile, add_profile
from support.folders import write
from support.libraries import connect
from support.process import RunningServer
from support.rounds import rounds
from support.terminal import Terminal, terminal

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

LEFT = re.compile(r"(\d+)(?: of (\d+))? uploads? left")
APP = [sys.executable, "-m", "carrel", "--profile", "here"]


def arrived(http: httpx.Client, mark: str) -> collections.Counter[str]:
    """The files of a round that the service has, each with how often."""
    found: collections.Counter[str] = collections.Counter()
    page = 0
    while True:
        answer = http.get(
            "/v1/files", params={"search": mark, "page": page, "page_size": 100}
        ).raise_for_status()
        data = answer.json()["data"]
        found.update(file["filename"] for file in data)
        if len(data) < 100:
            return found
        page += 1


def cut_off(app: Terminal, how: str) -> None:
    """Ends the app in the midst of its work, by a kill or by a quit that resumes later."""
    if how == "kill":
        app.process.send_signal(signal.SIGKILL)
        app.process.wait()
        return
    app.press("ctrl+q")
    app.wait_for("Quit and resume later")
    app.press("q")
    app.wait_for_end()


def wait_for_all(app: Terminal, http: httpx.Client, mark: str, number: int) -> None:
    """Waits until the service has all files of a round."""
    deadline = time.monotonic() + 600
    while len(arrived(http, mark)) < number:
        # Reading the screen, too: nobody reads what the app draws otherwise, and it waits.
        assert time.monotonic() < deadline and app.text, app.text
        time.sleep(0.2)


def test_a_paste_that_is_cut_off_at_random_arrives_once(
    server: RunningServer, tmp_path: Path
) -> None:
    add_profile(Profile("here", server.url, server.api_key))
    chosen, number = random.Random(27), rounds(150, 400)
    cuts = 0
    with connect(server) as http:
        for turn in range(rounds(2, 30)):
            mark = f"round{turn:02}-"
            names = {f"{mark}{n:03}.md" for n in range(number)}
            for name in names:
                write(tmp_path / mark / name, f"# {name}\n")
            with terminal(APP) as app:
                app.wait_for("Name|No files yet")
                app.paste(" ".join(shlex.quote(str(tmp_path / mark / name)) for name in names))
                app.wait_for(f"Upload {number} files")
                app.press("enter")
                app.wait_for("Uploading|Uploaded")
                if not turn:  # on a fast machine, later ones may be too late
                    cut_off(app, "kill")
                else:
                    time.sleep(chosen.uniform(0, 0.5))
                    if "Uploaded" not in app.text:
                        cut_off(app, chosen.choice(["kill", "quit"]))
            there = arrived(http, mark)
            while len(there) < number:
                cuts += 1
                assert max(there.values(), default=1) == 1
                with terminal(APP) as app:
                    said = LEFT.search(app.wait_for(LEFT.pattern))
                    assert said is not None
                    # What arrived as the app ended may be counted as left: it is not sent again.
                    assert number - len(there) <= int(said[1]) <= number
                    app.press("r")
                    time.sleep(chosen.uniform(0.2, 3))
                    if chosen.random() < 0.3:
                        app.process.send_signal(signal.SIGKILL)
                        app.process.wait()
                    else:
                        app.wait_for(LEFT.pattern, gone=True)
                        wait_for_all(app, http, mark, number)
                there = arrived(http, mark)
            assert there == collections.Counter(names)
    assert cuts, "no round was cut off in time"
