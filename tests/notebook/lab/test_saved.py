"""What a saved notebook holds of its panels, and what it shows where there is no kernel."""

import json
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.documents import scanned_pdf
from support.lab import READY_MS, Lab, Notebook, run_cell, save, wait_ready
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
    expect(files.get_by_text("Copied. The link works until")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{server.url}/signed/")
    files.get_by_role("button", name="Run OCR").click()
    sheet = "document.querySelector('.carrel-sheet img')?.naturalWidth > 0"
    page.wait_for_function(sheet, timeout=READY_MS)

    text = (jupyter.root / save(page)).read_text()
    states = json.dumps(json.loads(text)["metadata"]["widgets"][STATES]["state"])
    assert "saved.pdf" in states
    assert '"buffers"' not in states
    for private in (server.api_key, "/signed/", server.url, str(tmp_path), "JVBERi0"):
        assert private not in text
    for picture in ("iVBORw0KGgo", "data:image"):
        assert picture not in states


def test_a_saved_notebook_shows_without_its_kernel_how_the_panels_stood(
    notebook: Notebook, jupyter: Lab, browser: Browser, server: RunningServer, tmp_path: Path
) -> None:
    page = notebook("import carrel\nbench = carrel.connect()\nbench.files", "bench.document")
    run_cell(page, 1)
    still = page.locator(".carrel-still")
    files = page.get_by_role("region", name="Files")
    files.get_by_label("Files to upload").set_input_files(scanned_pdf(tmp_path / "kept.pdf"))
    row = files.get_by_role("row", name="kept.pdf")
    row.click(timeout=READY_MS)
    row.press("Enter")
    document = page.get_by_role("region", name="Document")
    expect(document.locator(".carrel-text")).to_contain_text("Pens stay outside", timeout=READY_MS)
    expect(still).to_have_count(2)
    for one in still.all():
        expect(one).to_be_hidden()
    expect(still.nth(1)).to_contain_text("Pens stay outside", timeout=READY_MS)
    assert "kept.pdf" in reopened(page, jupyter, browser, server, tmp_path)

    # The page that ran the cells is gone: what changes now is in the file, too.
    name = save(page)
    page.reload()
    wait_ready(page, name)
    later = files.get_by_label("Files to upload")
    later.set_input_files(scanned_pdf(tmp_path / "later.pdf"))
    expect(still.first).to_contain_text("later.pdf", timeout=READY_MS)
    assert "later.pdf" in reopened(page, jupyter, browser, server, tmp_path)


def reopened(
    page: Page, jupyter: Lab, browser: Browser, server: RunningServer, tmp_path: Path
) -> str:
    """Saves the notebook and opens it with a kernel that knows no panel; gives what it shows."""
    saved = json.loads((jupyter.root / save(page)).read_text())
    text = json.dumps(saved)
    for private in (server.api_key, "/signed/", server.url, str(tmp_path), str(Path.home())):
        assert private not in text
    copy = jupyter.root / f"copy-{secrets.token_hex(4)}.ipynb"
    copy.write_text(text)
    trust(jupyter, copy)
    with jupyter.opened(browser, copy) as alone:
        still = alone.locator(".carrel-still")
        expect(still).to_have_count(2)
        expect(still.nth(1).locator("img")).to_be_visible()
        assert alone.evaluate("document.querySelector('.carrel-still img').naturalWidth") > 400
        dead = alone.get_by_text("Error displaying widget").or_(alone.get_by_text("Loading widget"))
        expect(dead.filter(visible=True)).to_have_count(0)
        return still.first.inner_text()


def test_a_saved_notebook_opened_with_no_kernel_shows_how_the_panels_stood(
    notebook: Notebook, jupyter: Lab, browser: Browser, tmp_path: Path
) -> None:
    page = notebook("import carrel\nbench = carrel.connect()\nbench.files")
    files = page.get_by_role("region", name="Files")
    files.get_by_label("Files to upload").set_input_files(scanned_pdf(tmp_path / "alone.pdf"))
    expect(page.locator(".carrel-still")).to_contain_text("alone.pdf", timeout=READY_MS)
    saved = json.loads((jupyter.root / save(page)).read_text())
    # No kernel is known for it: JupyterLab asks for one, and none is chosen.
    saved["metadata"] = {"kernelspec": {"name": "gone", "display_name": "gone"}}
    copy = jupyter.root / f"alone-{secrets.token_hex(4)}.ipynb"
    copy.write_text(json.dumps(saved))
    trust(jupyter, copy)
    with browser.new_page() as alone:
        place = f"{jupyter.url}/lab/workspaces/{copy.stem}/tree/{copy.name}"
        alone.goto(f"{place}?token={jupyter.token}")
        still = alone.locator(".carrel-still")
        expect(still).to_be_visible(timeout=READY_MS)
        expect(still).to_contain_text("alone.pdf")
        expect(alone.get_by_role("dialog").get_by_text("Select Kernel", exact=True)).to_be_visible()
        assert str(tmp_path) not in alone.content()


def trust(jupyter: Lab, path: Path) -> None:
    """Trusts a notebook, as the person does who saved it."""
    command = [sys.executable, "-m", "jupyter", "trust", str(path)]
    subprocess.run(command, check=True, timeout=120, env=jupyter.environ)


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
