"""What a saved notebook holds of its panels, and what it shows where there is no kernel."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from support.documents import scanned_pdf
from support.lab import READY_MS, Lab, Notebook, run_cell, save
from support.process import RunningServer

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.timeout(300)]

WIDGETS = "@jupyter-widgets/jupyterlab-manager/plugin"
STATES = "application/vnd.jupyter.widget-state+json"


def test_a_saved_notebook_has_no_key_no_signed_address_and_no_bytes(
    jupyter: Lab, notebook: Notebook, server: RunningServer, tmp_path: Path
) -> None:
    jupyter.configure(WIDGETS, {"saveState": True})
    page = notebook("import carrel\nbench = carrel.connect()\nbench")
    jupyter.configure(WIDGETS, {})
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    files = page.get_by_role("region", name="Files")
    files.get_by_label("Files to upload").set_input_files(scanned_pdf(tmp_path / "saved.pdf"))
    files.get_by_role("row", name="saved.pdf").click(timeout=READY_MS)
    page.wait_for_function("document.querySelector('.carrel-look img').naturalWidth > 0")
    files.get_by_role("button", name="Copy link").click()
    expect(files.get_by_text("Link copied.")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{server.url}/signed/")
    files.get_by_role("button", name="Run OCR").click()
    sheet = "document.querySelector('.carrel-sheet img')?.naturalWidth > 0"
    page.wait_for_function(sheet, timeout=READY_MS)

    text = (jupyter.root / save(page)).read_text()
    states = json.loads(text)["metadata"]["widgets"][STATES]["state"]
    assert "saved.pdf" in json.dumps(states)
    assert [one for one in states.values() if one.get("buffers")] == []
    for private in (server.api_key, "/signed/", "iVBORw0KGgo", "JVBERi0"):
        assert private not in text


def test_without_a_kernel_a_table_stands_in(
    notebook: Notebook, jupyter: Lab, browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "rows.txt").write_text("The notice period is three months.")
    path = str(tmp_path / "rows.txt")
    page = notebook(
        f"import carrel\ncarrel.connect().upload({path!r})",
        "bench = carrel.connect()\nbench.client.files.list()\nbench.files",
    )
    run_cell(page, 1)
    saved = jupyter.root / save(page)
    command = [
        sys.executable,
        "-m",
        "nbconvert",
        "--to",
        "html",
        "--log-level",
        "ERROR",
        str(saved),
    ]
    subprocess.run(command, check=True, timeout=120)
    with browser.new_page() as alone:
        alone.route("http*://**", lambda route: route.abort())
        alone.goto(saved.with_suffix(".html").as_uri())
        table = alone.get_by_role("table", name="Files")
        expect(table.get_by_role("cell", name="rows.txt")).to_be_visible()
