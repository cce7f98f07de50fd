"""A file from the browser through JupyterLab and its kernel to the server, against the promise.

The bytes go from a page's file to the kernel in ranges that it asks for, and on to `carrel serve`.
The memory is the most that the kernel held during the upload beyond what it held before. How long
the server alone takes for the same file is measured in the same run.
"""

import asyncio
import os
import re
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from playwright.sync_api import Locator, Page, expect

from benchmarks.report import Figure
from carrel.client import Client
from support.browser import chromium
from support.lab import lab, run_cell
from support.process import RunningServer, serve

_MIB = 1 << 20
_SIZE = 200
"""MiB."""
_ROUNDS = 3
_SLOW_MS = 300_000


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as name, serve(Path(name) / "data") as server:
        folder = Path(name)
        environ = {"CARREL_URL": server.url, "CARREL_API_KEY": server.api_key}
        cells = [
            "import carrel, os\nbench = carrel.connect()\nbench.files",
            "print(os.getpid())",
        ]
        with (
            lab(folder / "lab", environ) as jupyter,
            chromium() as browser,
            jupyter.notebook(browser, cells) as page,
        ):
            run_cell(page, 0)
            run_cell(page, 1)
            kernel = int(page.locator(".jp-OutputArea-output pre").last.inner_text())
            panel = page.get_by_role("region", name="Files")
            _upload(panel, _file(folder, "first"))
            before = _memory(kernel, "VmRSS")
            Path(f"/proc/{kernel}/clear_refs").write_text("5")
            rounds = [
                (_direct(server, path), _upload(panel, path))
                for path in (_file(folder, f"round-{number}") for number in range(_ROUNDS))
            ]
            grown = _memory(kernel, "VmHWM") - before
    yield Figure(
        "MiB a second from the browser to the server",
        _SIZE / median(through for _, through in rounds),
        12,
        detail=f"{_SIZE} MiB, the middle of {_ROUNDS}; "
        f"the server alone {_SIZE / median(alone for alone, _ in rounds):.0f} MiB/s",
    )
    yield Figure("memory of the kernel, MiB more", grown, 64, "lower")


def _file(folder: Path, name: str) -> Path:
    path = folder / f"{name}.bin"
    with path.open("wb") as file:
        for _ in range(_SIZE):
            file.write(os.urandom(_MIB))
    return path


def _upload(panel: Locator, path: Path) -> float:
    page: Page = panel.page
    began = time.perf_counter()
    panel.get_by_label("Files to upload").set_input_files(path)
    expect(panel.get_by_role("row", name=path.name)).to_be_visible(timeout=_SLOW_MS)
    took = time.perf_counter() - began
    expect(page.get_by_role("list", name="Under way")).to_be_hidden(timeout=_SLOW_MS)
    return took


def _direct(server: RunningServer, path: Path) -> float:
    async def upload() -> None:
        async with Client(server.url, server.api_key) as client:
            file = await client.files.upload(path)
            await client.files.delete(file.id)

    began = time.perf_counter()
    # The browser that is driven here has the event loop of this thread.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, upload()).result()
    return time.perf_counter() - began


def _memory(process: int, kind: str) -> float:
    """One of the sizes that Linux keeps of a process, in MiB."""
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(rf"{kind}:\s+(\d+) kB", status)
    assert found
    return int(found[1]) / 1024
