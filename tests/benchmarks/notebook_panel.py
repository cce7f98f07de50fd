"""From running a cell to its panel's rows on the page, in a real JupyterLab and a real browser.

Two cells take turns with a third, which shows a stock label and is what the host itself takes:
one shows a panel that is there already, the other makes a new panel of a library, for which it
asks the server. The promise is 0.3 s after the cell has run; what is measured holds the cell too.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from statistics import median
from unittest.mock import patch

from playwright.sync_api import Page

from benchmarks.report import Figure
from carrel.client import Client
from carrel.wire.libraries import LibraryCreate
from support.browser import chromium
from support.lab import lab, run_cell
from support.process import RunningServer, serve

_FILES = 50
_ROUNDS = 9

_BEGIN = (
    "import carrel, ipywidgets\n"
    "bench = carrel.connect()\n"
    "bench.client.files.list()\n"
    "shelf = bench.client.libraries.list().data[0]"
)
_SHOWN = {
    "a panel that is there": ("bench.files", ".carrel-files tbody tr"),
    "a new panel": ("bench.library(shelf)", ".carrel-libraries tbody tr"),
    "a stock label": ("ipywidgets.Label('shown')", ".jp-OutputArea-output .widget-label"),
}

# Gives the milliseconds from the start of the cell until what it shows is on the page.
_TIMED = """async ([index, selector]) => {
  const app = window.jupyterapp;
  const shown = () => document.querySelector(selector)?.checkVisibility();
  const frame = () => new Promise(requestAnimationFrame);
  const until = async (holds) => {
    const deadline = performance.now() + 60_000;
    while (!holds()) {
      if (performance.now() > deadline) throw new Error(`nothing shows ${selector}`);
      await frame();
    }
  };
  await app.commands.execute('notebook:clear-all-cell-outputs');
  await until(() => !shown());
  app.shell.currentWidget.content.activeCellIndex = index;
  const began = performance.now();
  const ran = app.commands.execute('notebook:run-cell');
  await until(shown);
  const took = performance.now() - began;
  await ran;
  return took;
}"""


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as name, patch.dict(os.environ, {"HOME": name}):
        folder = Path(name)
        with serve(folder / "data") as server:
            asyncio.run(_fill(server))
            environ = {"CARREL_URL": server.url, "CARREL_API_KEY": server.api_key}
            cells = [_BEGIN, *(source for source, _ in _SHOWN.values())]
            with (
                lab(folder / "lab", environ) as jupyter,
                chromium() as browser,
                jupyter.notebook(browser, cells) as page,
            ):
                run_cell(page, 0)
                rounds = [_round(page) for _ in range(_ROUNDS)]
    for what, *times in zip(_SHOWN, *rounds, strict=True):
        bound = None if what == "a stock label" else 0.3
        detail = f"the middle of {_ROUNDS}"
        yield Figure(
            f"seconds from running a cell to {what}", median(times), bound, "lower", detail
        )


async def _fill(server: RunningServer) -> None:
    """Files enough for a full page, and a library with a document."""
    async with Client(server.url, server.api_key) as client:
        for number in range(_FILES):
            await client.files.upload((f"file-{number}.txt", 3, _words()))
        library = await client.libraries.create(LibraryCreate(name="shelf"))
        await client.documents.upload(library.id, ("lease.txt", 3, _words()))


async def _words() -> AsyncIterator[bytes]:
    yield b"one"


def _round(page: Page) -> list[float]:
    """Seconds until what each of the cells shows is there."""
    shown = enumerate(_SHOWN.values(), start=1)
    return [page.evaluate(_TIMED, [index, selector]) / 1000 for index, (_, selector) in shown]
