"""The site builds without a warning, and refers to nothing elsewhere."""

import re
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from support.browser import chromium

ROOT = Path(__file__).parents[2]
WRITTEN = sorted((ROOT / "docs").rglob("*.md"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a warning, such as a broken link, fails the build."""
    folder = tmp_path_factory.mktemp("site")
    # In a process of its own: Python 3.11 cannot parse source in two threads at a time.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_is_built(site: Path) -> None:
    for page in WRITTEN:
        name = page.relative_to(ROOT / "docs").with_suffix("")
        assert (site / ("" if name.name == "index" else name) / "index.html").is_file(), name


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("commands", "carrel libraries search"),
        ("keys", "files.upload"),
        ("settings", "remembered_bytes"),
        ("interface", "/v1/libraries/{library_id}/documents"),
        ("python", "create_agent"),
    ],
)
def test_a_generated_page_has_the_codes_own_words(site: Path, page: str, words: str) -> None:
    assert words in (site / "reference" / page / "index.html").read_text("utf-8")


def test_a_page_loads_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)"', page.read_text()
        )
        assert loaded == [], page


def test_words_of_an_address_are_not_read_as_markup(site: Path) -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=site)
    hostile = quote("<img src=x onerror=taken=1> vectors")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, chromium() as browser:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page()
        place = f"http://127.0.0.1:{server.server_port}"
        page.goto(f"{place}/?q={hostile}")
        expect(page.locator(".md-search-result__item").first).to_be_visible(timeout=30_000)
        assert page.locator("img[src=x]").count() == 0
        page.goto(f"{place}/server/?h={hostile}#{hostile}")
        page.wait_for_load_state("networkidle")
        assert page.locator("img[src=x]").count() == 0
        assert page.evaluate("window.taken") is None
        server.shutdown()
