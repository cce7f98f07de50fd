"""A real JupyterLab on loopback, and its notebooks in a browser."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

READY_MS = 60_000

_CONNECTED = """path => {
  const app = window.jupyterapp;
  const panel = app?.shell.currentWidget;
  const session = panel?.context?.sessionContext;
  return !document.querySelector('#jupyterlab-splash') && panel?.context?.path === path
    && session?.isReady && session.session?.kernel?.connectionStatus === 'connected'
    && session.session.kernel.status === 'idle';
}"""

# Started, not awaited: a command that waits for a dialog would hang the call for ever.
_RUN_CELL = """index => {
  const app = window.jupyterapp;
  app.shell.currentWidget.content.activeCellIndex = index;
  window.carrelRan = null;
  app.commands.execute('notebook:run-cell').then(
    () => { window.carrelRan = 'done'; }, (error) => { window.carrelRan = String(error); });
}"""


Notebook = Callable[..., Page]
"""Opens a notebook of the given cells and runs the first; a test's fixture."""


@dataclass(frozen=True)
class Lab:
    """A JupyterLab that serves the notebooks in `root`, with a user's settings and data.

    `environ` is that of its process.
    """

    url: str
    token: str
    root: Path
    settings: Path
    data: Path
    environ: Mapping[str, str]

    def configure(self, plugin: str, value: Mapping[str, Any]) -> None:
        """Changes the settings of a plugin, for pages that are opened from now on."""
        file = self.settings / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value))

    def add_kernel(self, name: str, environ: Mapping[str, str]) -> None:
        """Adds a Python kernel that sees these environment variables."""
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = {"argv": command, "display_name": name, "language": "python", "env": dict(environ)}
        folder = self.data / "kernels" / name
        folder.mkdir(parents=True)
        (folder / "kernel.json").write_text(json.dumps(spec))

    @contextmanager
    def notebook(
        self, browser: Browser, cells: list[str], kernel: str = "python3"
    ) -> Iterator[Page]:
        """A new notebook in a page of its own, its kernel ready; both end with the block."""
        path = self.root / f"{secrets.token_hex(4)}.ipynb"
        path.write_text(json.dumps(_notebook(cells, kernel)))
        with self.opened(browser, path) as page:
            yield page

    @contextmanager
    def opened(self, browser: Browser, path: Path) -> Iterator[Page]:
        """The same of a notebook that is in `root`."""
        # A workspace of its own: another would restore what was open before.
        place = f"{self.url}/lab/workspaces/{secrets.token_hex(4)}/tree/{path.name}"
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        try:
            page.goto(f"{place}?token={self.token}")
            wait_ready(page, path.name)
            yield page
        finally:
            page.close()
            self._end_kernel(path.name)

    def _end_kernel(self, notebook: str) -> None:
        for session in json.loads(self.call("GET", "/api/sessions")):
            if session["path"] == notebook:
                self.call("DELETE", f"/api/sessions/{session['id']}")

    def call(self, method: str, path: str) -> bytes:
        """The answer of JupyterLab's own interface."""
        headers = {"Authorization": f"token {self.token}"}
        request = urllib.request.Request(self.url + path, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            body: bytes = answer.read()
        return body


def _notebook(cells: list[str], kernel: str) -> dict[str, Any]:
    empty: dict[str, Any] = {"metadata": {}, "outputs": [], "execution_count": None}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": kernel, "display_name": kernel}},
        "cells": [
            {**empty, "cell_type": "code", "id": f"cell-{number}", "source": source}
            for number, source in enumerate(cells)
        ],
    }


def wait_ready(page: Page, notebook: str) -> None:
    """Waits until the notebook of this name is shown and its kernel is idle."""
    page.wait_for_function(_CONNECTED, arg=notebook, timeout=READY_MS)


def save(page: Page) -> str:
    """Saves the notebook and gives its name."""
    page.evaluate("""() => {
      window.saved = null;
      const { context } = window.jupyterapp.shell.currentWidget;
      context.save().then(() => { window.saved = context.path; });
    }""")
    page.wait_for_function("window.saved", timeout=READY_MS)
    name: str = page.evaluate("window.saved")
    return name


def run_cell(page: Page, index: int) -> None:
    """Runs one cell and waits for its end."""
    start_cell(page, index)
    wait_cell(page)


def start_cell(page: Page, index: int) -> None:
    """Begins to run one cell."""
    page.evaluate(_RUN_CELL, index)


def wait_cell(page: Page) -> None:
    """Waits for the end of the cell that was started last."""
    page.wait_for_function("window.carrelRan !== null", timeout=READY_MS)
    assert page.evaluate("window.carrelRan") == "done"


@contextmanager
def lab(folder: Path, environ: Mapping[str, str]) -> Iterator[Lab]:
    """Runs JupyterLab with a home of its own in `folder`; `environ` is what its kernels see."""
    root, home = folder / "notebooks", folder / "home"
    settings = home / "lab" / "user-settings"
    root.mkdir(parents=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1"]
    command += [f"--port={port}", "--ServerApp.port_retries=0", "--allow-root"]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}"]
    command += ["--LabApp.expose_app_in_browser=True", f"--LabApp.user_settings_dir={settings}"]
    own = {"HOME": str(home), "JUPYTER_PREFER_ENV_PATH": "1"}
    for kind in ("CONFIG", "DATA", "RUNTIME", "STATE", "CACHE"):
        own[f"JUPYTER_{kind}_DIR"] = own[f"XDG_{kind}_HOME"] = str(home / kind.lower())
    environment = {**os.environ, **own, **environ}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with (folder / "lab.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        url = f"http://127.0.0.1:{port}"
        running = Lab(url, token, root, settings, home / "data", environment)
        # The news pop-up would cover the page.
        quiet = {"fetchNews": "false", "checkForUpdates": False}
        running.configure("@jupyterlab/apputils-extension/notification", quiet)
        _wait(running, process, folder / "lab.log")
        yield running
    finally:
        for number, patience in ((signal.SIGINT, 5), (signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            if process.poll() is not None:
                break
            process.send_signal(number)
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                continue


def _wait(running: Lab, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + READY_MS / 1000
    while time.monotonic() < deadline and process.poll() is None:
        try:
            running.call("GET", "/api/status")
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text('utf-8', 'replace')}")
