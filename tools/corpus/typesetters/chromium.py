"""Chromium: the same HTML, printed by a browser."""

from functools import cache
from shutil import which

from playwright.sync_api import Page as Tab
from playwright.sync_api import sync_playwright

from corpus.document import Document
from corpus.looks import Look
from corpus.webpage import Page


@cache
def _tab() -> Tab:
    """Return a page of the system's Chromium, which ends with this process."""
    path = which("chromium") or which("chromium-browser") or which("google-chrome")
    if path is None:
        raise SystemExit("There is no Chromium here: install it, or choose another typesetter.")
    return sync_playwright().start().chromium.launch(executable_path=path).new_page()


def set_both(document: Document, look: Look) -> tuple[bytes, bytes]:
    """Return the PDF and its twin; neither is tagged, which would tell a reader the structure."""
    found = []
    for twin in (False, True):
        source = Page(document, look, twin=twin, floats_notes=False).html()
        _tab().set_content(source)
        found.append(_tab().pdf(prefer_css_page_size=True, print_background=True, tagged=False))
    return found[0], found[1]
