"""Pages of origins that the settings name call the server from a browser."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from carrel.server.settings import FolderSettings, ServerSettingsError
from support.browser import chromium
from support.process import RunningServer, serve

OTHER = "https://other.example.com"
PREFLIGHT = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization, content-type, x-stainless-lang",
}
CALL = """async ([url, key, body]) => {
    const answer = await fetch(url, {
        method: body ? "POST" : "GET",
        headers: {authorization: `Bearer ${key}`, "content-type": "application/json"},
        body: body ? JSON.stringify(body) : undefined,
    });
    return [answer.status, answer.headers.get("x-request-id") !== null];
}"""


@pytest.fixture(scope="module")
def page_origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The origin of a page that is not the server's."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "index.html").write_text("<title>a page</title>")
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def open_server(
    page_origin: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    data = tmp_path_factory.mktemp("cors") / "data"
    data.mkdir()
    (data / "settings.toml").write_text(f'cors = ["{page_origin}"]\n')
    with serve(data) as running:
        yield running


def test_a_preflight_of_a_named_origin_is_allowed_without_a_key(
    open_server: RunningServer, page_origin: str
) -> None:
    url = f"{open_server.url}/v1/chat/completions"
    allowed = httpx.options(url, headers={"origin": page_origin, **PREFLIGHT})
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == page_origin
    assert "x-stainless-lang" in allowed.headers["access-control-allow-headers"]
    refused = httpx.options(url, headers={"origin": OTHER, **PREFLIGHT})
    assert refused.status_code == 400
    assert "access-control-allow-origin" not in refused.headers


def test_an_error_is_read_by_the_page_too(open_server: RunningServer, page_origin: str) -> None:
    url = f"{open_server.url}/v1/models"
    refused = httpx.get(url, headers={"origin": page_origin})
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (
        401,
        page_origin,
    )
    assert "access-control-allow-origin" not in httpx.get(url, headers={"origin": OTHER}).headers


def test_by_default_no_page_of_another_origin_is_allowed(server: RunningServer) -> None:
    answer = httpx.options(f"{server.url}/v1/models", headers={"origin": OTHER, **PREFLIGHT})
    assert "access-control-allow-origin" not in answer.headers


def test_a_page_in_a_browser_calls_it(open_server: RunningServer, page_origin: str) -> None:
    body = {"name": "from a page"}
    with chromium() as browser:
        page = browser.new_page()
        page.goto(page_origin)
        models = [f"{open_server.url}/v1/models", open_server.api_key, None]
        assert page.evaluate(CALL, models) == [200, True]
        made = [f"{open_server.url}/v1/libraries", open_server.api_key, body]
        assert page.evaluate(CALL, made) == [201, True]


@pytest.mark.parametrize("origin", ["example.com", "https://example.com/app", "ftp://example.com"])
def test_an_origin_that_is_none_is_refused(tmp_path: Path, origin: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(f'cors = ["{origin}"]\n')
    with pytest.raises(ServerSettingsError, match="not an origin"):
        FolderSettings.load(path)
