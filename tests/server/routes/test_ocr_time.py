"""The time that a scan may take, on a server whose answers may take a second."""

import io
import re
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from support import storage
from support.batches import create, ended
from support.documents import TEXT, picture
from support.libraries import connect, new_library
from support.process import RunningServer, serve

pytestmark = storage.only_alone

PAGES = 10


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    data = tmp_path_factory.mktemp("data")
    (data / "settings.toml").write_text("[limits]\nocr_seconds = 1\n")
    with serve(data) as running:
        yield running


@pytest.fixture
def http(impatient: RunningServer) -> Iterator[httpx.Client]:
    with connect(impatient) as client:
        client.timeout = httpx.Timeout(120)
        yield client


def _scan(folder: Path, mark: str, pages: int = PAGES) -> bytes:
    """A TIFF with a page of text in each frame; `mark` makes its bytes its own."""
    frames = []
    for number in range(pages):
        text = f"{mark}, page {number} of a scan. {TEXT * 3}"
        frames.append(Image.open(picture(folder / f"{mark}-{number}.png", text, mode="L")))
    tiff = io.BytesIO()
    frames[0].save(tiff, "TIFF", save_all=True, append_images=frames[1:], compression="tiff_lzw")
    return tiff.getvalue()


def _upload(http: httpx.Client, data: bytes) -> str:
    answer = http.post("/v1/files", files={"file": ("scan.tiff", data)}, data={"purpose": "ocr"})
    answer.raise_for_status()
    id: str = answer.json()["id"]
    return id


def _ocr(http: httpx.Client, id: str, prefer: str = "", **fields: Any) -> httpx.Response:
    body = {"model": None, "document": {"file_id": id}, **fields}
    return http.post("/v1/ocr", json=body, headers={"prefer": prefer})


def test_a_scan_that_takes_longer_is_read_in_several_answers(
    http: httpx.Client, tmp_path: Path
) -> None:
    id = _upload(http, _scan(tmp_path, "Ash"))
    error = _ocr(http, id)
    assert (error.status_code, error.headers["retry-after"]) == (504, "1")
    assert (error.json()["object"], error.json()["type"]) == ("error", "server_error")
    assert error.json()["message"].startswith("The time for this answer (1 s) is over.")
    kept, patience = [0], 1
    while (answer := _ocr(http, id, prefer=f"wait={patience}")).status_code != 200:
        message = answer.json()["message"]
        read = re.search(rf"(\d+) of {PAGES} pages were read and are kept: ask again", message)
        assert (
            read or "No page was read: ask again, ask for fewer with `pages`, or upload" in message
        )
        kept.append(int(read[1]) if read else 0)
        # On a busy machine a page may take longer.
        patience += kept[-1] == kept[-2]
    assert kept == sorted(kept)
    assert kept[-1] > 0
    assert [page["index"] for page in answer.json()["pages"]] == [*range(PAGES)]
    for page in answer.json()["pages"]:
        assert f"Ash, page {page['index']} of a scan" in page["markdown"]


def test_a_caller_who_says_that_it_waits_gets_every_page(
    http: httpx.Client, tmp_path: Path
) -> None:
    id = _upload(http, _scan(tmp_path, "Birch", 2))
    answer = _ocr(http, id, prefer="progress, wait=110")
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["pages"]) == 2


def test_neither_a_library_nor_a_batch_is_cut_off(http: httpx.Client, tmp_path: Path) -> None:
    library = new_library(http, name="Scans")
    read = library.processed("cedar.tiff", _scan(tmp_path, "Cedar", 4))
    assert library.document(read)["number_of_pages"] == 4
    id = _upload(http, _scan(tmp_path, "Dogwood", 4))
    line = {"custom_id": "a", "body": {"document": {"file_id": id}}}
    batch = ended(http, create(http, "/v1/ocr", model="carrel-ocr", requests=[line])["id"])
    assert (batch["succeeded_requests"], batch["failed_requests"]) == (1, 0)


def test_a_scan_is_read_no_further_when_its_caller_leaves(
    impatient: RunningServer, http: httpx.Client, tmp_path: Path
) -> None:
    id = _upload(http, _scan(tmp_path, "Elm", 20))

    def remembered() -> int:
        with closing(sqlite3.connect(impatient.data / "pages.db")) as pages:
            count: int = pages.execute("SELECT COUNT(*) FROM pages").fetchone()[0]
            return count

    _ocr(http, id, pages=[0])
    before = remembered()
    body = f'{{"model":null,"document":{{"file_id":"{id}"}}}}'
    host, _, port = impatient.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(
            f"POST /v1/ocr HTTP/1.1\r\nhost: {host}\r\nprefer: wait=600\r\n"
            f"authorization: Bearer {impatient.api_key}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\n\r\n{body}".encode()
        )
        deadline = time.monotonic() + 60
        while remembered() < before + 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    # Another scan has the engine to itself at once: its pages take no turns with the first's.
    _ocr(http, _upload(http, _scan(tmp_path, "Fir", 1)), prefer="wait=60")
    after = remembered()
    _ocr(http, _upload(http, _scan(tmp_path, "Gum", 3)), prefer="wait=60")
    assert remembered() == after + 3
