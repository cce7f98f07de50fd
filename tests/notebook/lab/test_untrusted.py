"""A notebook of somebody else, opened in JupyterLab: its saved outputs run nothing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anywidget
import pytest
from playwright.sync_api import Browser, Page, expect

from support.lab import READY_MS, Lab
from support.notebooks import WIDGET

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.timeout(300)]

HTML = (
    "<p>saved text</p><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
    "<a href='javascript:window.hacked = 3'>press</a>"
    "<div class='carrel-answer' onclick='window.hacked = 4'>press</div>"
)
ESM = "window.hacked = 5; export default { render() { window.hacked = 6 } }"
OUTPUTS = [
    {"text/html": HTML},
    {"application/javascript": "window.hacked = 7"},
    {"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg' onload='window.hacked = 8'></svg>"},
    {"text/markdown": "# saved <script>window.hacked = 9</script>"},
    {WIDGET: {"version_major": 2, "version_minor": 0, "model_id": "a"}, "text/plain": "a panel"},
]
VERSION = f"~{anywidget.__version__.rpartition('.')[0]}.*"
NAMED = {"_model_module": "anywidget", "_model_name": "AnyModel", "_model_module_version": VERSION}
SEEN = {"_view_module": "anywidget", "_view_name": "AnyView", "_view_module_version": VERSION}
STATE = {
    "a": {
        "model_module": "anywidget",
        "model_name": "AnyModel",
        "model_module_version": VERSION,
        "state": {**NAMED, **SEEN, "_anywidget_id": "evil", "_esm": ESM, "_css": ""},
    }
}


@contextmanager
def _opened(lab: Lab, browser: Browser, states: dict[str, Any]) -> Iterator[Page]:
    """A page with the notebook, which nobody has signed, and these states of its widgets."""
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "metadata": {"trusted": True},
            "execution_count": 1,
            "source": "1",
            "outputs": [{"output_type": "display_data", "metadata": {}, "data": data}],
        }
        for number, data in enumerate(OUTPUTS)
    ]
    book = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "python3"},
            "widgets": {
                "application/vnd.jupyter.widget-state+json": {
                    "version_major": 2,
                    "version_minor": 0,
                    "state": states,
                }
            },
        },
        "cells": cells,
    }
    path = lab.root / "untrusted.ipynb"
    path.write_text(json.dumps(book))
    with lab.opened(browser, path) as page:
        yield page


def test_nothing_runs_until_it_is_trusted(jupyter: Lab, browser: Browser) -> None:
    with _opened(jupyter, browser, {}) as page:
        expect(page.get_by_text("saved text")).to_be_visible(timeout=READY_MS)
        for link in page.get_by_text("press", exact=True).all():
            link.click()
        page.wait_for_timeout(2000)
        assert page.evaluate("window.hacked") is None
        assert page.locator("img[src=x][onerror]").count() == 0
        # The same attack on somebody who trusts it.
        page.evaluate("void window.jupyterapp.commands.execute('notebook:trust')")
        page.get_by_role("button", name="Confirm Trusting this notebook").click()
        page.wait_for_function("window.hacked", timeout=READY_MS)


@pytest.mark.xfail(
    strict=True,
    reason="ipywidgets restores saved widgets of an untrusted notebook, and anywidget runs their"
    " code: docs/notebook.md says so",
)
def test_no_saved_widget_runs_until_it_is_trusted(jupyter: Lab, browser: Browser) -> None:
    with _opened(jupyter, browser, STATE) as page:
        expect(page.get_by_text("saved text")).to_be_visible(timeout=READY_MS)
        page.wait_for_timeout(2000)
        assert page.evaluate("window.hacked") is None
