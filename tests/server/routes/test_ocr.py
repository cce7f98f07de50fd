"""POST /v1/ocr on a real server."""

import base64
import io
import json
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
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from support import storage
from support.documents import HEADER, TEXT, digital_pdf, picture, scanned_pdf
from support.gate import photograph, placed, prose
from support.libraries import connect
from support.office import png, slide_picture, slide_text, slides_file
from support.process import RunningServer, serve


@pytest.fixture
def http(server: RunningServer) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {server.api_key}"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=120, trust_env=False) as client:
        yield client


def _upload(http: httpx.Client, path: Path) -> str:
    with path.open("rb") as file:
        answer = http.post("/v1/files", files={"file": file}, data={"purpose": "ocr"})
    answer.raise_for_status()
    id: str = answer.json()["id"]
    return id


def _ocr(http: httpx.Client, document: dict[str, Any], **fields: Any) -> httpx.Response:
    return http.post("/v1/ocr", json={"model": "mistral-ocr-latest", "document": document} | fields)


@pytest.fixture
def file_id(http: httpx.Client, tmp_path: Path) -> str:
    return _upload(http, digital_pdf(tmp_path / "a.pdf", pages=3))


def test_a_model_that_reads_nothing_is_refused_as_in_a_chat(
    http: httpx.Client, file_id: str
) -> None:
    document = {"type": "file", "file_id": file_id}
    refused = _ocr(http, document, model="gpt-4o")
    assert (refused.status_code, refused.json()["type"]) == (400, "invalid_model")
    for model in ("mistral-ocr-2505", "carrel-ocr", None):
        assert _ocr(http, document, model=model, pages=[0]).status_code == 200


def test_what_stands_at_a_page_s_edges_is_in_its_text_until_it_is_asked_for(
    http: httpx.Client, file_id: str
) -> None:
    document = {"type": "file", "file_id": file_id}
    (page,) = _ocr(http, document, pages=[0]).json()["pages"]
    assert page["markdown"].startswith(f"{HEADER}\n\n")
    assert page["markdown"].endswith("\n\nPage 1 of 3")
    assert (page["header"], page["footer"]) == (None, None)
    apart = _ocr(http, document, pages=[0], extract_header=True, extract_footer=True).json()
    (page,) = apart["pages"]
    assert (page["header"], page["footer"]) == (HEADER, "Page 1 of 3")
    assert HEADER not in page["markdown"]
    assert "Page 1 of 3" not in page["markdown"]


def test_confidences_have_four_digits(http: httpx.Client, tmp_path: Path) -> None:
    id = _upload(http, scanned_pdf(tmp_path / "a.pdf"))
    for granularity in ("page", "word", "block"):
        fields = {"include_blocks": True, "confidence_scores_granularity": granularity}
        text = _ocr(http, {"type": "file", "file_id": id}, **fields).text
        scores = re.findall(r'"[a-z_]*confidence[a-z_]*":(\d\.\d+)', text)
        assert scores and all(len(one) <= len("0.1234") for one in scores), scores


def test_the_limit_of_pictures_is_that_of_the_document(http: httpx.Client, tmp_path: Path) -> None:
    slides = [slide_text(2, f"Slide {n}") + slide_picture(3, 20) * 2 for n in range(3)]
    id = _upload(http, slides_file(tmp_path / "a.pptx", slides, picture=png()))
    document = {"type": "file", "file_id": id}
    whole = _ocr(http, document, include_blocks=True).json()["pages"]
    assert [len(page["images"]) for page in whole] == [2, 2, 2]
    fields = {"image_limit": 3, "include_blocks": True, "confidence_scores_granularity": "word"}
    limited = _ocr(http, document, **fields).json()["pages"]
    assert [[image["id"] for image in page["images"]] for page in limited] == [
        ["img-0.jpeg", "img-1.jpeg"], ["img-1000.jpeg"], [],
    ]  # fmt: skip
    for page in limited:
        ids = [image["id"] for image in page["images"]]
        assert [block["image_id"] for block in page["blocks"] if "image_id" in block] == ids
        assert page["markdown"].count("![img-") == len(ids)
        for word in page["confidence_scores"]["word_confidence_scores"]:
            assert page["markdown"].startswith(word["text"], word["start_index"])
    # Of the same pages, read already.
    last = _ocr(http, document, **fields, pages=[2, 0]).json()["pages"]
    assert [len(page["images"]) for page in last] == [2, 1]


def test_pictures_without_paper_have_numbers_for_a_place(
    http: httpx.Client, tmp_path: Path
) -> None:
    slides = [slide_text(2, "a") + slide_picture(3)]
    id = _upload(http, slides_file(tmp_path / "a.pptx", slides, picture=png(60, 40)))
    (page,) = _ocr(http, {"type": "file", "file_id": id}).json()["pages"]
    corners = ("top_left_x", "top_left_y", "bottom_right_x", "bottom_right_y")
    assert [page["images"][0][corner] for corner in corners] == [0, 0, 60, 40]


def test_a_table_beside_a_large_picture_comes_once(http: httpx.Client, tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    prose(canvas, 780, 4)
    canvas.grid([72, 222, 372], [620, 600, 580, 560])
    for row, cells in enumerate((("Wing", "Lamps"), ("North", "24"), ("South", "18"))):
        for column, cell in enumerate(cells):
            canvas.drawString(80 + 150 * column, 606 - 20 * row, cell)
    placed(canvas, photograph(), 72, 200, 450)
    canvas.save()
    id = _upload(http, tmp_path / "a.pdf")
    (page,) = _ocr(http, {"type": "file", "file_id": id}, table_format="markdown").json()["pages"]
    (table,) = page["tables"]
    rows = [
        [cell.strip() for cell in row.strip("|").split("|")] for row in table["content"].split("\n")
    ]
    assert [row for row in rows if "-" not in row[0]] == [
        ["Wing", "Lamps"], ["North", "24"], ["South", "18"],
    ]  # fmt: skip
    assert "North" not in page["markdown"]


def test_the_resolution_of_a_scan_is_plausible(http: httpx.Client) -> None:
    scan = io.BytesIO()
    Image.new("L", (90, 60), 255).save(scan, "tiff")
    url = f"data:image/tiff;base64,{base64.b64encode(scan.getvalue()).decode()}"
    (page,) = _ocr(http, {"type": "image_url", "image_url": url}).json()["pages"]
    assert page["dimensions"] == {"dpi": 72, "height": 60, "width": 90}


def test_what_a_blind_model_says_of_pictures_is_marked(http: httpx.Client, tmp_path: Path) -> None:
    slides = [slide_text(2, "A red square") + slide_picture(3)]
    id = _upload(http, slides_file(tmp_path / "a.pptx", slides, picture=png()))
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
    format = {"type": "json_schema", "json_schema": {"name": "shown", "schema": schema}}
    document = {"type": "file", "file_id": id}
    plain = _ocr(http, document).json()["usage_info"]
    marked = _ocr(http, document, bbox_annotation_format=format).json()["usage_info"]
    assert "image_annotations_unseen" not in plain
    assert marked["image_annotations_unseen"] is True


def test_a_stored_file(http: httpx.Client, file_id: str) -> None:
    answer = _ocr(http, {"type": "file", "file_id": file_id}, include_blocks=True, pages="0,2")
    assert answer.status_code == 200
    result = answer.json()
    assert [page["index"] for page in result["pages"]] == [0, 2]
    assert TEXT in result["pages"][0]["markdown"]
    assert result["model"] == "mistral-ocr-latest"
    assert result["usage_info"]["pages_processed"] == 2
    assert result["usage_info"]["doc_size_bytes"] > 1000
    assert "document_annotation" not in result
    page = result["pages"][0]
    assert page["images"] == []
    assert page["tables"] == []
    assert page["hyperlinks"] == []
    assert page["dimensions"] == {"dpi": 200, "height": 2339, "width": 1654}
    assert page["confidence_scores"] is None


@pytest.mark.parametrize(
    ("pages", "indexes"), [(1, [1]), ("1-2", [1, 2]), ([0, "2"], [0, 2]), (None, [0, 1, 2])]
)
def test_every_way_to_name_pages(
    http: httpx.Client, file_id: str, pages: Any, indexes: list[int]
) -> None:
    result = _ocr(http, {"file_id": file_id}, pages=pages).json()
    assert [page["index"] for page in result["pages"]] == indexes


def test_a_signed_address_is_read_without_a_connection(http: httpx.Client, file_id: str) -> None:
    url = http.get(f"/v1/files/{file_id}/url").json()["url"]
    # The port answers to nobody: only the server's own knowledge can lead to the file.
    elsewhere = url.replace(url.split("/")[2], "127.0.0.1:9")
    # The address of an object store is known as a whole.
    for address in (url,) if storage.SHARED else (url, elsewhere):
        answer = _ocr(http, {"type": "document_url", "document_url": address}, pages=0)
        assert answer.status_code == 200, answer.text
        assert TEXT in answer.json()["pages"][0]["markdown"]


def test_a_changed_signed_address_is_not_followed(http: httpx.Client, file_id: str) -> None:
    url = http.get(f"/v1/files/{file_id}/url").json()["url"]
    answer = _ocr(http, {"document_url": url[:-1] + ("A" if url[-1] != "A" else "B")})
    assert answer.status_code == 400
    assert url.rpartition("/")[2][:20] not in answer.text


def test_a_picture_as_data_url(http: httpx.Client, tmp_path: Path) -> None:
    data = base64.b64encode(picture(tmp_path / "a.png").read_bytes()).decode()
    url = f"data:image/png;base64,{data}"
    for image_url in (url, {"url": url, "detail": "high"}):
        answer = _ocr(http, {"type": "image_url", "image_url": image_url})
        assert answer.json()["pages"][0]["markdown"] == TEXT


@pytest.mark.parametrize(
    ("document", "fields", "status", "words"),
    [
        ({"file_id": "none"}, {}, 404, "There is no file"),
        ({"document_url": "http://127.0.0.1/a.pdf"}, {}, 400, "private network"),
        ({"document_url": "file:///etc/passwd"}, {}, 422, "must begin with https:"),
        ({"document_url": "data:application/pdf;base64,AAAA"}, {}, 400, "cannot be read"),
        ({"document_url": "data:text/plain,hi"}, {"pages": [4]}, 400, "There is no page 4"),
        ({"document_url": "data:text/plain,hi"}, {"pages": "2-1"}, 422, "runs backwards"),
        ({"document_url": "data:text/plain,hi"}, {"pages": True}, 422, '"pages"'),
        ({"document_url": "data:text/plain,hi"}, {"colour": 1}, 422, "Extra inputs"),
    ],
)
def test_refusals(
    http: httpx.Client, document: dict[str, Any], fields: dict[str, Any], status: int, words: str
) -> None:
    answer = _ocr(http, document, **fields)
    assert answer.status_code == status
    assert words in answer.text
    assert "detail" in answer.json() if status == 422 else answer.json()["object"] == "error"


def test_a_document_that_cannot_be_parsed_has_the_interfaces_code(http: httpx.Client) -> None:
    answer = _ocr(http, {"document_url": "data:application/pdf;base64,JVBERi0xLjQK"})
    assert answer.status_code == 400
    assert answer.json()["type"] == "document_parser_invalid_file"
    assert answer.json()["code"] == "3740"


def test_null_for_every_optional_field_is_as_good_as_absent(
    http: httpx.Client, file_id: str
) -> None:
    nulls = dict.fromkeys(
        ["id", "pages", "image_limit", "image_min_size", "bbox_annotation_format",
         "document_annotation_format", "include_image_base64"]
    )  # fmt: skip
    body = {"model": None, "document": {"file_id": file_id}, **nulls}
    answer = http.post("/v1/ocr", json=body)
    assert answer.status_code == 200
    assert len(answer.json()["pages"]) == 3


def test_a_closed_connection_stops_the_reading(
    server: RunningServer, http: httpx.Client, tmp_path: Path
) -> None:
    id = _upload(http, digital_pdf(tmp_path / "a.pdf", pages=800, text=TEXT * 20))
    body = (
        f'{{"model":null,"document":{{"file_id":"{id}"}},"confidence_scores_granularity":"word"}}'
    )
    host, _, port = server.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(
            f"POST /v1/ocr HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {server.api_key}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()
        )
        _until(lambda: _busiest(server) > 20)
    _until(lambda: _busiest(server) <= 20)
    assert http.get("/healthz").status_code == 200


def _busiest(server: RunningServer) -> int:
    """The most processor time (in ticks) that a copy of a parser has used which is still there."""
    parents, ticks = dict[int, int](), dict[int, int]()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"carrel.server.reading.parser" not in (process / "cmdline").read_bytes():
                continue
            fields = (process / "stat").read_text().rpartition(") ")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(process.name)] = int(fields[1])
        ticks[int(process.name)] = int(fields[11])
    servers = {one.process.pid for one in server.each}
    copies = [id for id, parent in parents.items() if parents.get(parent) in servers]
    return max((ticks[id] for id in copies), default=0)


def _until(condition: Any) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_annotation_keeps_to_its_schema(http: httpx.Client, file_id: str) -> None:
    schema = {
        "type": "object",
        "properties": {"title": {"type": "string", "maxLength": 40}, "seats": {"type": "integer"}},
        "required": ["title", "seats"],
        "additionalProperties": False,
    }
    named = {"type": "json_schema", "json_schema": {"name": "room", "schema": schema}}
    answer = _ocr(http, {"file_id": file_id}, pages=0, document_annotation_format=named)
    assert answer.status_code == 200, answer.text
    annotation = json.loads(answer.json()["document_annotation"])
    assert annotation.keys() == {"title", "seats"}
    assert isinstance(annotation["seats"], int)


def test_a_model_that_sees_nothing_annotates_a_picture_from_its_text(
    http: httpx.Client, tmp_path: Path
) -> None:
    shapes = slide_text(2, "The north room has a teal carpet") + slide_picture(3, 20)
    id = _upload(http, slides_file(tmp_path / "a.pptx", [shapes], picture=png()))
    schema = {
        "type": "object",
        "properties": {"colour": {"type": "string", "maxLength": 20}},
        "required": ["colour"],
        "additionalProperties": False,
    }
    named = {"type": "json_schema", "json_schema": {"name": "carpet", "schema": schema}}
    answer = _ocr(http, {"file_id": id}, bbox_annotation_format=named)
    assert answer.status_code == 200, answer.text
    (image,) = answer.json()["pages"][0]["images"]
    assert json.loads(image["image_annotation"]).keys() == {"colour"}


def test_batches_answer_from_an_open_document_and_count_their_own_pages(
    http: httpx.Client, file_id: str
) -> None:
    whole = _ocr(http, {"file_id": file_id}).json()
    joined = []
    for pages in ("2", "0-1"):
        batch = _ocr(http, {"file_id": file_id}, pages=pages).json()
        assert batch["usage_info"] == {
            "pages_processed": len(batch["pages"]),
            "doc_size_bytes": whole["usage_info"]["doc_size_bytes"],
        }
        joined += batch["pages"]
    assert sorted(joined, key=lambda page: page["index"]) == whole["pages"]


def test_what_was_read_of_a_deleted_file_is_forgotten_with_its_bytes(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text("[limits]\ntrash_days = 0\ndeleted_seconds = 1\n")

    def remembered() -> int:
        with closing(sqlite3.connect(data / "pages.db")) as pages:
            count: int = pages.execute("SELECT COUNT(*) FROM pages").fetchone()[0]
            return count

    with serve(data) as server, connect(server) as http:
        id = _upload(http, digital_pdf(tmp_path / "a.pdf", pages=2))
        assert _ocr(http, {"file_id": id}).status_code == 200
        assert remembered() == 2
        http.delete(f"/v1/files/{id}").raise_for_status()
        _until(lambda: remembered() == 0)


def test_a_schema_that_is_none_is_refused(http: httpx.Client, file_id: str) -> None:
    named = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "nonsense"}}}
    answer = _ocr(http, {"file_id": file_id}, bbox_annotation_format=named)
    assert answer.status_code == 422
    assert "bbox_annotation_format" in answer.json()["detail"][0]["loc"]
