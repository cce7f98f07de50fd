"""What becomes of a panel that is shown twice, and when its page, kernel or server goes."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from support.lab import READY_MS, Notebook, run_cell, save, wait_ready
from support.process import serve

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.timeout(300)]

CONNECT = "import carrel\nbench = carrel.connect()\nbench.files"
# The host's wait for a panel's module, two seconds, is over before the module arrives.
IMPATIENT = """() => {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (ms) => timeout(ms === 2000 ? 0 : ms);
}"""


@pytest.fixture
def page(notebook: Notebook) -> Page:
    """A notebook whose cells show one Files panel; the first was run."""
    return notebook(CONNECT, "bench.files")


def panels(page: Page) -> Locator:
    return page.get_by_role("region", name="Files")


def upload(files: Locator, path: Path) -> Locator:
    """Uploads a small file of this name; gives its row."""
    path.write_text("The notice period is three months.")
    files.get_by_label("Files to upload").set_input_files(path)
    row = files.get_by_role("row", name=path.name)
    expect(row).to_be_visible(timeout=READY_MS)
    return row


def mark(row: Locator) -> None:
    """Marks a row; that it is drawn so comes back from the kernel."""
    row.get_by_role("checkbox").click()
    expect(row).to_have_attribute("aria-selected", "true", timeout=READY_MS)


def test_two_views_of_a_panel_show_the_same_and_live_apart(page: Page, tmp_path: Path) -> None:
    run_cell(page, 1)
    expect(panels(page)).to_have_count(2)
    first, second = panels(page).all()
    mark(upload(first, tmp_path / "twice.txt"))
    row = second.get_by_role("row", name="twice.txt")
    expect(row).to_have_attribute("aria-selected", "true")
    page.evaluate("""() => {
      const app = window.jupyterapp;
      app.shell.currentWidget.content.activeCellIndex = 0;
      app.commands.execute('notebook:clear-cell-output');
    }""")
    expect(panels(page)).to_have_count(1)
    upload(panels(page), tmp_path / "alone.txt")


def test_a_panel_hears_its_kernel_though_its_module_arrived_late(
    notebook: Notebook, tmp_path: Path
) -> None:
    page = notebook(CONNECT, "bench")
    page.evaluate(IMPATIENT)
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    run_cell(page, 1)
    workbench = page.get_by_role("region", name="Workbench")
    workbench.get_by_role("tab", name="Files").click()
    mark(upload(workbench.get_by_role("region", name="Files"), tmp_path / "late.txt"))
    assert any("Failed to initialize model" in failure for failure in failures)


def test_a_reloaded_page_shows_the_panel_as_it_was(page: Page, tmp_path: Path) -> None:
    mark(upload(panels(page), tmp_path / "before.txt"))
    name = save(page)
    page.reload()
    wait_ready(page, name)
    row = panels(page).get_by_role("row", name="before.txt")
    expect(row).to_have_attribute("aria-selected", "true", timeout=READY_MS)
    upload(panels(page), tmp_path / "after.txt")


def test_after_a_restart_of_the_kernel_the_panel_says_what_to_do(
    page: Page, tmp_path: Path
) -> None:
    row = upload(panels(page), tmp_path / "kept.txt")
    page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    page.wait_for_function(
        "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"
    )
    panels(page).get_by_role("searchbox").fill("kept")
    banner = panels(page).get_by_role("alert").filter(has_text="run the cell again")
    expect(banner).to_be_visible(timeout=READY_MS)
    expect(row).to_be_visible()
    run_cell(page, 0)
    expect(banner).to_be_hidden()
    mark(row)


def test_a_lost_server_is_said_what_was_seen_stays_and_it_comes_back(
    notebook: Notebook, tmp_path: Path
) -> None:
    with serve(tmp_path / "data") as server:
        environ = {"CARREL_URL": server.url, "CARREL_API_KEY": server.api_key}
        page = notebook(f"import os\nos.environ.update({environ!r})\n{CONNECT}")
        files = panels(page)
        row = upload(files, tmp_path / "first.txt")
        server.process.kill()
        said = files.get_by_role("status").filter(has_text="Offline: showing a copy from")
        expect(said).to_be_visible(timeout=READY_MS)
        expect(row).to_be_visible()
    with serve(tmp_path / "data", port=server.port):
        expect(said).to_be_hidden(timeout=READY_MS)
        upload(files, tmp_path / "second.txt")
        expect(row).to_be_visible()
