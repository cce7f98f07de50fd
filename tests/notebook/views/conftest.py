"""A browser for all: while it runs, no test of this process can have an event loop."""

from collections.abc import Iterator

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


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1000, "height": 700})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content("<body style='margin:0'><div id=place></div></body>")
    page.add_script_tag(content=COUNT_LISTENERS)
    page.add_script_tag(path=FAKE_MODEL)
    yield page
    page.close()
    assert errors == []
