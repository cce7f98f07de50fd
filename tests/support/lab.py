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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

READY_MS = 60_000

_SETTINGS: dict[str, dict[str, Any]] = {
    # The news pop-up would cover the page.
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
}

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


@dataclass(frozen=True)
class Lab:
    """A JupyterLab that serves the notebooks in `root`."""

    url: str
    token: str
    root: Path

    def open(self, browser: Browser, name: str, cells: list[str]) -> Page:
        """Writes a notebook, opens it in a page of its own and waits for its kernel."""
        (self.root / name).write_text(json.dumps(_notebook(cells)))
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        # A workspace of its own: the default one would restore the notebook before.
        workspace = secrets.token_hex(4)
        page.goto(f"{self.url}/lab/workspaces/{workspace}/tree/{name}?token={self.token}")
        page.wait_for_function(_CONNECTED, arg=name, timeout=READY_MS)
        return page


def _notebook(cells: list[str]) -> dict[str, Any]:
    empty: dict[str, Any] = {"metadata": {}, "outputs": [], "execution_count": None}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "cells": [
            {**empty, "cell_type": "code", "id": f"cell-{number}", "source": source}
            for number, source in enumerate(cells)
        ],
    }


def run_cell(page: Page, index: int) -> None:
    """Runs one cell and waits for its end."""
    page.evaluate(_RUN_CELL, index)
    page.wait_for_function("window.carrelRan !== null", timeout=READY_MS)
    assert page.evaluate("window.carrelRan") == "done"


@contextmanager
def lab(folder: Path, environ: Mapping[str, str]) -> Iterator[Lab]:
    """Runs JupyterLab with a home of its own in `folder`; `environ` is what its kernels see."""
    root, home = folder / "notebooks", folder / "home"
    settings = home / "lab" / "user-settings"
    for name, value in _SETTINGS.items():
        file = settings / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(value))
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
        _wait(f"{url}/api/status", token, process, folder / "lab.log")
        yield Lab(url, token, root)
    finally:
        for number, patience in ((signal.SIGINT, 5), (signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            if process.poll() is not None:
                break
            process.send_signal(number)
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                continue


def _wait(url: str, token: str, process: subprocess.Popen[bytes], log: Path) -> None:
    request = urllib.request.Request(url, headers={"Authorization": f"token {token}"})
    deadline = time.monotonic() + READY_MS / 1000
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(request, timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text('utf-8', 'replace')}")
