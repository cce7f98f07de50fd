"""A browser for all: while it runs, no test of this process can have an event loop."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page

from support.browser import chromium
from support.views import FAKE_MODEL

COUNT_LISTENERS = """
window.live = 0;
const add = EventTarget.prototype.addEventListener;
EventTarget.prototype.addEventListener = function (type, fn, options) {
  if (this === window || this === document || this === document.body) {
    window.live += 1;
    options?.signal?.addEventListener('abort', () => { window.live -= 1; });
  }
  return add.call(this, type, fn, options);
};
"""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="package")
def common_page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


@pytest.fixture
def page(common_page: Page) -> Iterator[Page]:
    """The page of all tests, with nothing of the last one: a new one takes half a second."""
    common_page.goto("about:blank")
    common_page.set_viewport_size({"width": 1000, "height": 700})
    common_page.context.clear_permissions()
    common_page.mouse.move(-10, -10)
    with _prepared(common_page):
        yield common_page


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Page]:
    """A page of its own, for a test that sets its clock."""
    page = browser.new_page(viewport={"width": 1000, "height": 700})
    with _prepared(page):
        yield page
    page.close()


@contextmanager
def _prepared(page: Page) -> Iterator[None]:
    """Puts a place for a panel into a page; afterwards, expects that no script has failed."""
    errors: list[str] = []
    note = lambda error: errors.append(str(error))  # noqa: E731
    page.on("pageerror", note)
    page.set_content("<body style='margin:0'><div id=place></div></body>")
    page.add_script_tag(content=COUNT_LISTENERS)
    page.add_script_tag(path=FAKE_MODEL)
    yield
    page.remove_listener("pageerror", note)
    assert errors == []
