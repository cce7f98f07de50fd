"""A demo in JupyterLab, on the server of its machine; a kernel is killed in the midst of it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from carrel.config.profiles import folders
from support.lab import READY_MS, Lab, run_cell, start_cell, wait_ready
from support.spoken import SpokenModel, searching, spoken_model

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.timeout(300)]

FILE = """\
title: Leases for everybody
needs:
  libraries:
  - {name: leases, documents: [lease.txt]}
  agents:
  - {name: clerk, libraries: [leases]}
steps:
- say: A library.
  show: {library: leases}
  wait: {text: lease.txt}
- search: notice
  wait: passages found
- show: {chat: clerk}
- say: The clerk is asked.
  ask: How long is the notice period?
  wait: answer finished
- say: The source.
  show: {source: 1}
  wait: {text: three months}
"""
PLAY = "import carrel\nbench = carrel.connect()\nbench.demo('demo.yaml')"
KILL = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
LEFT = (
    "print([one.name for one in [*bench.client.libraries.list().data, "
    "*bench.client.agents.list()]])"
)


@pytest.fixture
def model(home: Path) -> Iterator[SpokenModel]:
    """The model that the server of this test's machine is set to."""
    folders().server.mkdir(parents=True)
    with spoken_model() as model:
        (folders().server / "settings.toml").write_text(f'model_url = "{model.url}"\n')
        model.answer = searching("notice period", "Three, says the lease.")
        yield model


@pytest.fixture
def page(model: SpokenModel, jupyter: Lab, browser: Browser, home: Path) -> Iterator[Page]:
    (jupyter.root / "lease.txt").write_text("The notice period is three months.")
    (jupyter.root / "demo.yaml").write_text(FILE)
    own = {name: value for name, value in os.environ.items() if name.startswith("XDG_")}
    environ = {**own, "HOME": str(home), "CARREL_URL": "", "CARREL_API_KEY": ""}
    jupyter.add_kernel("presenter", environ)
    with jupyter.notebook(browser, [PLAY, LEFT, KILL], "presenter") as page:
        yield page


def panel(page: Page) -> Locator:
    return page.get_by_role("region", name="Demo")


def far(page: Page, words: str) -> None:
    expect(panel(page).locator(".carrel-presenter")).to_contain_text(words, timeout=READY_MS)


def test_a_demo_is_played_by_one_key_and_a_killed_one_leaves_nothing(page: Page) -> None:
    run_cell(page, 0)
    far(page, "0 of 5 steps")
    panel(page).get_by_role("button", name="Next").focus()
    for step in range(1, 5):
        page.keyboard.press("F8")
        if step == 4:
            field = panel(page).get_by_label("Message", exact=True)
            page.wait_for_function(
                "(field) => field.value.startsWith('How')", arg=field.element_handle()
            )
        far(page, f"{step} of 5 steps")
    expect(panel(page).get_by_text("Three, says the lease.")).to_be_visible()
    page.keyboard.press("F8")
    far(page, "The end")
    document = panel(page).get_by_role("region", name="Document")
    expect(document.get_by_text("three months")).to_be_visible()
    start_cell(page, 2)
    page.get_by_role("button", name="Ok").click(timeout=READY_MS)  # the kernel died
    wait_ready(page, page.evaluate("window.jupyterapp.shell.currentWidget.context.path"))
    assert (folders().state / "demo").exists()
    run_cell(page, 0)
    far(page, "0 of 5 steps")
    panel(page).get_by_role("button", name="End").click()
    panel(page).get_by_role("alertdialog").get_by_role("button", name="End").click()
    expect(panel(page).get_by_text("All that the demo made is removed.")).to_be_visible()
    assert not (folders().state / "demo").exists()
    run_cell(page, 1)
    expect(page.locator(".jp-OutputArea-output").get_by_text("[]", exact=True)).to_be_visible()
