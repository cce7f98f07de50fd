"""The system's Chromium, driven by Playwright."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from support import requires

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-extensions",
    "--no-first-run",
    "--mute-audio",
    "--hide-scrollbars",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser. While it runs, no event loop can be started in this thread."""
    path = requires.chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()
