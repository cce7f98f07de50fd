"""A kernel killed at random: the next one says what was left, and everything is there once."""

import collections
import json
import os
import queue
import random
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image, ImageDraw, ImageFont

from support.folders import write
from support.libraries import connect
from support.process import RunningServer
from support.rounds import rounds
from support.spoken import SpokenModel

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

LEFT = re.compile(r"(\d+)(?: of (\d+))? uploads? left")
CONNECT = "import asyncio, carrel\nfrom pathlib import Path\nbench = carrel.connect()"
WORK = """
here, mark = Path({folder!r}), {mark!r}
chat = bench.chat("tester")

async def export():
    for reading in await bench.aio.ocr(str(here / "scans" / "*.png")):
        await asyncio.to_thread(reading.save, here / "exported")

print("begun", flush=True)
await asyncio.gather(
    bench.aio.upload(str(here / "pasted" / "*.md")),
    bench.aio.add(mark, str(here / "added" / "*.md")),
    bench.aio.sync(mark + "synced", here / "synced"),
    export(),
    bench.aio.ocr(here / (mark + "damaged.pdf")),
    asyncio.to_thread(chat.ask, mark),
    return_exceptions=True,
)
print("ended", flush=True)
"""


class Kernel:
    """A real kernel and its cells."""

    def __init__(self) -> None:
        from jupyter_client.manager import KernelManager

        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(env=dict(os.environ))
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def begin(self, code: str) -> str:
        """Starts a cell; gives its id."""
        return str(self.client.execute(code))

    def run(self, code: str, *, until: str = "", seconds: float = 120) -> str:
        """Runs a cell to its end, or until it has printed something; gives what it printed."""
        cell, printed = self.begin(code), ""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                message = self.client.get_iopub_msg(timeout=1)
            except queue.Empty:
                continue
            content: dict[str, Any] = message["content"]
            if message["parent_header"].get("msg_id") != cell:
                continue
            assert message["msg_type"] != "error", "\n".join(content["traceback"])
            printed += str(content.get("text", ""))
            if (until and until in printed) or content.get("execution_state") == "idle":
                return printed
        raise AssertionError(f"the cell goes on: {printed}")

    def kill(self) -> None:
        """What a lost machine or the kernel's memory limit does."""
        self.manager.signal_kernel(signal.SIGKILL)


@contextmanager
def kernel() -> Iterator[Kernel]:
    running = Kernel()
    try:
        yield running
    finally:
        running.client.stop_channels()
        running.manager.shutdown_kernel(now=True)


def prepare(folder: Path, mark: str, number: int) -> collections.Counter[str]:
    """Makes the documents of a round; gives the names that the files should have."""
    for place, count in (("pasted", number), ("added", number // 3), ("synced", number // 2)):
        for n in range(count):
            write(folder / place / f"{mark}{place}{n:03}.md", f"# {mark} {place} {n}\n")
    for n in range(3):
        page = Image.new("RGB", (900, 300), "white")
        text = f"{mark} page {n} is due."
        ImageDraw.Draw(page).text((40, 60), text, fill="black", font=ImageFont.load_default(40))
        (folder / "scans").mkdir(exist_ok=True)
        page.save(folder / "scans" / f"{mark}{n}.png")
    (folder / f"{mark}damaged.pdf").write_bytes(f"%PDF-1.7 {mark} damaged".encode())
    pasted = (path.name for path in (folder / "pasted").iterdir())
    return collections.Counter(pasted)


def files(http: httpx.Client, mark: str) -> collections.Counter[str]:
    """The files of a round that the service has, each with how often."""
    found: collections.Counter[str] = collections.Counter()
    for page in range(100):
        parameters: dict[str, str | int] = {"search": mark, "page": page, "page_size": 100}
        data = http.get("/v1/files", params=parameters).raise_for_status().json()["data"]
        found.update(file["filename"] for file in data)
        if len(data) < 100:
            break
    return found


def documents(http: httpx.Client, name: str) -> collections.Counter[str]:
    """The documents of a library, each with how often."""
    libraries = http.get("/v1/libraries", params={"page_size": 100}).json()["data"]
    (library,) = (one["id"] for one in libraries if one["name"] == name)
    found: collections.Counter[str] = collections.Counter()
    for page in range(100):
        parameters = {"page": page, "page_size": 100}
        answer = http.get(f"/v1/libraries/{library}/documents", params=parameters)
        data = answer.raise_for_status().json()["data"]
        found.update(document["name"] for document in data)
        if len(data) < 100:
            break
    return found


def test_the_next_kernel_says_what_was_left_and_everything_is_there_once(
    talking: tuple[RunningServer, SpokenModel],
    model: SpokenModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server, _ = talking
    monkeypatch.setenv("CARREL_URL", server.url)
    monkeypatch.setenv("CARREL_API_KEY", server.api_key)
    chosen, number = random.Random(27), rounds(24, 200)
    cuts = 0
    with connect(server) as http:
        for turn in range(rounds(2, 10)):
            mark = f"round{turn:02}-"
            folder = tmp_path / mark
            pasted = prepare(folder, mark, number)
            with kernel() as first:
                first.run(
                    f"{CONNECT}\nbench.create_library({mark!r})\n"
                    f"bench.create_library({mark + 'synced'!r})\n"
                    "_ = bench.agent('tester', create=True, model=bench.client.models.list()"
                    ".data[0].id)"
                )
                work = WORK.format(folder=str(folder), mark=mark)
                first.run(work, until="begun")
                time.sleep(pause := chosen.uniform(0.1, 1))
                first.kill()
            there = files(http, mark)
            story = [f"round {turn}: kernel killed after {pause:.2f} s"]
            said = ""
            for _ in range(20):
                # The kernels after it: each says what was left, and some are killed, too.
                with kernel() as later:
                    said = later.run(f"{CONNECT}\nprint(bench.unfinished, bench)")
                    left = LEFT.search(said)
                    if left is None:
                        break
                    cuts += 1
                    story.append(left[0])
                    arrived = sum(there[name] for name in pasted)
                    assert int(left[1]) >= number - arrived - number // 3
                    later.begin("bench.unfinished.resume()")
                    time.sleep(chosen.uniform(0.2, 6))
                    later.kill() if chosen.random() < 0.5 else later.run("pass")
            assert "uploads left" not in said
            with kernel() as last:
                # The same cell again sends nothing twice, and ends what had not begun.
                last.run(CONNECT + "\nbench.unfinished.resume()" + WORK.format(
                    folder=str(folder), mark=mark), until="ended")  # fmt: skip
                failed = last.run(
                    "rows = bench.activity.state['rows']\n"
                    "print([row['cells'] for row in rows if 'damaged' in str(row['cells'][1])])\n"
                    "print(bench.unfinished)"
                )
            assert "Nothing was left unfinished" in failed
            # In one more kernel the failure is there still, with its reason.
            with kernel() as last:
                failed = last.run(
                    f"{CONNECT}\nbench.unfinished\nrows = bench.activity.state['rows']\n"
                    "print([row['cells'] for row in rows if 'damaged' in str(row['cells'][1])])"
                )
            there = files(http, mark)
            scans = dict.fromkeys((f"{mark}damaged.pdf", *(f"{mark}{n}.png" for n in range(3))), 1)
            assert there == pasted + collections.Counter(scans)
            assert failed.count(f"{mark}damaged.pdf") == 1
            assert failed.count("Failed") == failed.count("not a valid PDF") == turn + 1
            exported = {path.name for path in (folder / "exported").iterdir()}
            assert exported == {f"{mark}{n}.{end}" for n in range(3) for end in ("md", "json")}
            for n in range(3):
                assert f"page {n}" in (folder / "exported" / f"{mark}{n}.md").read_text()
                json.loads((folder / "exported" / f"{mark}{n}.json").read_text())
            for place in ("added", "synced"):
                name = mark + ("synced" if place == "synced" else "")
                wanted = {path.name for path in (folder / place).iterdir()}
                assert documents(http, name) == collections.Counter(wanted)
            print(f"\n{' · '.join(story)} · all there once", flush=True)
    assert cuts, "no kernel was killed in time"
