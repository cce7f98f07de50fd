"""One server, one JupyterLab and one browser; every test has a notebook and a kernel of its own."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page

from support.browser import chromium
from support.lab import Lab, Notebook, lab, run_cell
from support.organisation import new_organisation
from support.process import RunningServer


@pytest.fixture(scope="package")
def server(common_server: RunningServer) -> RunningServer:
    return new_organisation(common_server)


@pytest.fixture(scope="package")
def jupyter(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    environ = {"CARREL_URL": server.url, "CARREL_API_KEY": server.api_key}
    with lab(tmp_path_factory.mktemp("lab"), environ) as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def notebook(jupyter: Lab, browser: Browser) -> Iterator[Notebook]:
    """Opens a notebook of these cells and runs the first."""
    with ExitStack() as opened:

        def open_notebook(*cells: str) -> Page:
            page = opened.enter_context(jupyter.notebook(browser, [*cells]))
            run_cell(page, 0)
            return page

        yield open_notebook
