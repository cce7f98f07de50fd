"""Keys: without a good one there is nothing to be had, whatever is asked for."""

import re

import httpx
import pytest

from support.process import RunningServer

OPEN = {"/healthz", "/readyz", "/signed/{token}"}


def test_every_operation_but_the_open_ones_asks_for_a_key(
    server: RunningServer, http: httpx.Client
) -> None:
    paths = http.get("/openapi.json").json()["paths"]
    assert paths.keys() > OPEN
    for path in paths.keys() - OPEN:
        for method in paths[path]:
            url = server.url + re.sub(r"{[^}]*}", "x", path)
            answer = httpx.request(method, url)
            assert answer.status_code == 401, (method, path)
            assert method == "head" or answer.json() == {"detail": "Unauthorized"}


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer wrong", "Bearer \xff", "Basic {key}", "{key}", "Bearer {key}x"]
)
def test_no_other_header_than_the_bearer_key_is_good(server: RunningServer, header: str) -> None:
    headers = {b"authorization": header.format(key=server.api_key).encode("latin-1")}
    answer = httpx.get(f"{server.url}/v1/files", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


def test_the_scheme_may_be_written_in_any_case(server: RunningServer) -> None:
    headers = {"authorization": f"bearer {server.api_key}"}
    assert httpx.get(f"{server.url}/v1/files", headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_asks_for_no_key(server: RunningServer, path: str) -> None:
    answer = httpx.get(server.url + path)
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok"}
