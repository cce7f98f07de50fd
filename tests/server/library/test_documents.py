"""Documents of a library: upload, status, text, addresses, change, reprocess, delete."""

import base64
import hashlib
import json
import sqlite3
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import httpx
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from support import storage
from support.documents import HEADER, TEXT, digital_pdf, docx, scanned_pdf
from support.libraries import LibraryUnderTest, new_library
from support.process import RunningServer

HERON = b"# Herons\n\nThe grey heron fishes alone at dawn.\n"


def test_what_stands_at_a_page_s_edges_is_found(library: LibraryUnderTest, tmp_path: Path) -> None:
    id = library.processed("rules.pdf", digital_pdf(tmp_path / "rules.pdf", 1).read_bytes())
    assert HEADER in library.text(id)
    assert library.marked("quarterly")


def test_a_document_is_processed_and_described(library: LibraryUnderTest, tmp_path: Path) -> None:
    response = library.upload("rules.pdf", digital_pdf(tmp_path / "rules.pdf", 2).read_bytes())
    assert response.headers["carrel-document"] == "created"
    waiting = response.json()
    assert (waiting["process_status"], waiting["processing_status"]) == ("todo", "Running")
    assert waiting["queue_position"] >= 1

    document = library.finished(waiting["id"])
    assert (document["process_status"], document["processing_status"]) == ("done", "Completed")
    assert (document["number_of_pages"], document["extension"]) == (2, "pdf")
    assert document["tokens_processing_total"] == document["tokens_processing_main_content"] > 50
    assert document["last_processed_at"] > document["created_at"]
    assert "queue_position" not in document
    assert "error" not in document
    status = library.http.get(f"{library.path}/documents/{document['id']}/status").json()
    assert status == {
        "document_id": document["id"],
        "process_status": "done",
        "processing_status": "Completed",
    }


def test_text_of_all_pages_or_from_one_to_another(
    library: LibraryUnderTest, tmp_path: Path
) -> None:
    id = library.processed("rules.pdf", digital_pdf(tmp_path / "rules.pdf", 3).read_bytes())
    headings = [f"Rules of the Reading Room {number}" for number in (1, 2, 3)]

    def found(**query: int) -> list[bool]:
        text = library.text(id, **query)
        return [heading in text for heading in headings]

    assert found() == [True, True, True]
    assert found(page_start=1) == [False, True, True]
    assert found(page_end=1) == [True, True, False]
    assert found(page_start=1, page_end=1) == [False, True, False]
    assert library.text(id, page_start=7) == ""


def test_an_unreadable_document_says_why(library: LibraryUnderTest) -> None:
    id = library.add("broken.pdf", b"%PDF-1.7 and nothing more")
    document = library.finished(id)
    assert (document["process_status"], document["processing_status"]) == ("error", "Error")
    assert "PDF" in document["error"]
    answer = library.http.get(f"{library.path}/documents/{id}/text_content")
    assert answer.status_code == 409
    assert document["error"] in answer.json()["message"]
    assert library.search("nothing") == []


def test_same_bytes_give_the_same_document(library: LibraryUnderTest) -> None:
    first, second = library.upload("a.md", HERON), library.upload("b.md", HERON)
    assert (first.status_code, second.status_code) == (200, 200)
    assert second.headers["carrel-document"] == "existing"
    assert second.json()["id"] == first.json()["id"]
    assert second.json()["name"] == "a.md"
    elsewhere = new_library(library.http).upload("a.md", HERON)
    assert elsewhere.headers["carrel-document"] == "created"


def test_parallel_uploads_of_the_same_bytes_make_one_document(library: LibraryUnderTest) -> None:
    data = HERON + library.id.encode()
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda number: library.upload(f"{number}.md", data), range(32)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert sorted(answer.headers["carrel-document"] for answer in answers) == [
        "created",
        *["existing"] * 31,
    ]
    library.finished(answers[0].json()["id"])
    assert library.documents()["pagination"]["total_items"] == 1
    assert len(library.marked("heron")) == 1


def test_names_from_outside_are_kept_as_text(library: LibraryUnderTest) -> None:
    id = library.add("../../invoice [final].md", HERON)
    assert library.document(id)["name"] == "invoice [final].md"


def test_a_truncated_upload_leaves_nothing(library: LibraryUnderTest) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\nhalf'
    answer = library.http.post(
        f"{library.path}/documents",
        content=body,
        headers={"content-type": "multipart/form-data; boundary=x"},
    )
    assert answer.status_code == 400
    assert library.documents()["data"] == []


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_change(library: LibraryUnderTest, method: str) -> None:
    id = library.add("a.md", HERON)
    path = f"{library.path}/documents/{id}"
    change = {"name": "b.md", "attributes": {"year": 2026, "tags": ["bird"]}}
    changed = library.http.request(method, path, json=change)
    assert changed.status_code == 200
    assert changed.json()["name"] == "b.md"
    assert changed.json()["attributes"] == change["attributes"]
    untouched = library.http.request(method, path, json={})
    assert untouched.json()["name"] == "b.md"
    assert untouched.json()["attributes"] == change["attributes"]


def test_an_expired_document_is_gone(library: LibraryUnderTest) -> None:
    id = library.processed("a.md", HERON)
    path = f"{library.path}/documents/{id}"
    library.http.patch(path, json={"expires_at": "2020-01-01T00:00:00Z"})
    assert library.http.get(path).status_code == 404
    assert library.documents()["data"] == []
    figures = library.http.get(library.path).json()
    assert (figures["nb_documents"], figures["total_size"]) == (0, 0)
    assert library.search("heron") == []
    assert library.upload("a.md", HERON).headers["carrel-document"] == "created"


def test_delete_takes_a_document_out_of_everything(library: LibraryUnderTest) -> None:
    id = library.processed("a.md", HERON)
    path = f"{library.path}/documents/{id}"
    address = library.http.get(f"{path}/signed-url").json()
    text_address = library.http.get(f"{path}/extracted-text-signed-url").json()
    gone = library.http.delete(path)
    assert (gone.status_code, gone.content) == (204, b"")
    assert library.search("heron") == []
    assert httpx.get(address).status_code == 404
    assert httpx.get(text_address).status_code == 404
    for suffix in ("", "/status", "/text_content", "/signed-url"):
        assert library.http.get(path + suffix).status_code == 404
    assert library.http.delete(path).status_code == 404
    again = library.upload("a.md", HERON)
    assert again.headers["carrel-document"] == "created"
    library.finished(again.json()["id"])
    assert len(library.marked("heron")) == 1


def test_signed_addresses_need_no_key(library: LibraryUnderTest) -> None:
    id = library.processed("a.md", HERON)
    path = f"{library.path}/documents/{id}"
    original = httpx.get(library.http.get(f"{path}/signed-url").json())
    assert (original.status_code, original.content) == (200, HERON)
    text = httpx.get(library.http.get(f"{path}/extracted-text-signed-url").json())
    assert text.status_code == 200
    assert text.headers["content-type"].startswith("text/markdown")
    assert text.text == library.text(id)


@pytest.mark.parametrize(
    ("name", "make"),
    [("scan.pdf", scanned_pdf), ("a.pdf", partial(digital_pdf, pages=1)), ("a.docx", docx)],
)
def test_extracted_text_of_what_is_no_text_is_its_ocr_result(
    library: LibraryUnderTest, tmp_path: Path, name: str, make: Callable[[Path], Path]
) -> None:
    id = library.processed(name, make(tmp_path / name).read_bytes())
    path = f"{library.path}/documents/{id}/extracted-text-signed-url"
    answer = httpx.get(library.http.get(path).json())
    assert answer.headers["content-type"] == "application/json"
    result = answer.json()
    assert [page["index"] for page in result["pages"]] == [0]
    assert result["usage_info"]["pages_processed"] == 1
    assert "carrel" in result["pages"][0]["markdown"]
    assert library.marked("carrel")[0]["page"] == 0


@storage.only_alone
def test_what_was_read_of_the_same_bytes_is_not_read_again(
    library: LibraryUnderTest, server: RunningServer
) -> None:
    http, text = library.http, b"An egret, read once."
    id = library.processed("egret.md", text)
    with closing(sqlite3.connect(server.data / "pages.db")) as pages, pages:
        page = b'{"index":0,"markdown":"An egret, remembered.","dimensions":null,"images":[]}'
        query = "UPDATE pages SET content = ? WHERE hash = ?"
        pages.execute(query, (zlib.compress(page), hashlib.sha256(text).hexdigest()))
    http.post(f"{library.path}/documents/{id}/reprocess").raise_for_status()
    library.finished(id)
    assert library.text(id) == "An egret, remembered."

    file = http.post("/v1/files", files={"file": ("egret.md", text)}).json()
    named = {"model": "carrel-ocr", "document": {"type": "file", "file_id": file["id"]}}
    for blocks, read in ((True, "An egret, remembered."), (False, "An egret, read once.")):
        answer = http.post("/v1/ocr", json={**named, "include_blocks": blocks})
        assert answer.json()["pages"][0]["markdown"] == read


def test_reprocessing_keeps_the_text_until_the_new_is_there(library: LibraryUnderTest) -> None:
    id = library.processed("a.md", HERON)
    first = library.document(id)
    before = first["last_processed_at"]
    answer = library.http.post(f"{library.path}/documents/{id}/reprocess")
    assert (answer.status_code, answer.content) == (204, b"")
    while library.document(id)["process_status"] != "done":
        assert len(library.marked("heron")) == 1
        assert "heron" in library.text(id)
    again = library.document(id)
    assert again["last_processed_at"] > before
    assert len(library.marked("heron")) == 1
    # What it cost is added to what it has cost before.
    tokens = first["tokens_processing_total"]
    assert again["tokens_processing_main_content"] == tokens > 0
    assert again["tokens_processing_total"] == 2 * tokens


def test_a_failed_document_can_be_processed_again(library: LibraryUnderTest) -> None:
    id = library.add("broken.pdf", b"%PDF-1.7 broken")
    first = library.finished(id)
    library.http.post(f"{library.path}/documents/{id}/reprocess")
    assert library.document(id)["process_status"] in ("todo", "in_progress", "error")
    second = library.finished(id)
    assert second["last_processed_at"] >= first["last_processed_at"]
    assert second["process_status"] == "error"


def test_list_sorts_searches_filters_and_pages(library: LibraryUnderTest) -> None:
    ids = {name: library.add(name, name.encode() * size) for name, size in _THREE.items()}
    attributes = {"beta.md": {"year": 2026}, "alpha.txt": {"tags": ["blue", "red"]}}
    for name, values in attributes.items():
        path = f"{library.path}/documents/{ids[name]}"
        library.http.patch(path, json={"attributes": values})

    def names(**query: str | int) -> list[str]:
        return [document["name"] for document in library.documents(**query)["data"]]

    assert names() == ["gamma.txt", "alpha.txt", "beta.md"]
    assert names(sort_by="name", sort_order="asc") == ["alpha.txt", "beta.md", "gamma.txt"]
    assert names(sort_by="size") == ["beta.md", "alpha.txt", "gamma.txt"]
    assert names(search="MM") == ["gamma.txt"]
    assert names(search="%") == []
    assert names(filters_attributes=json.dumps({"year": 2026})) == ["beta.md"]
    assert names(filters_attributes=json.dumps({"tags": "red"})) == ["alpha.txt"]
    assert names(filters_attributes=json.dumps({"tags": ["green", "blue"]})) == ["alpha.txt"]
    assert names(filters_attributes=json.dumps({"year": 1999})) == []
    assert names(page=1, page_size=2) == ["beta.md"]
    assert library.documents(page=0, page_size=2)["pagination"] == {
        "total_items": 3,
        "total_pages": 2,
        "current_page": 0,
        "page_size": 2,
        "has_more": True,
    }
    for wrong in ({"sort_by": "colour"}, {"filters_attributes": "[1]"}, {"page_size": "101"}):
        answer = library.http.get(f"{library.path}/documents", params=wrong)
        assert answer.status_code == 422
        assert answer.json()["detail"][0]["loc"] == ["query", next(iter(wrong))]


@pytest.mark.parametrize("filters", ["[" * 20_000, '{"a": "\\ud800"}', "nonsense", "[1]"])
def test_a_filter_that_is_no_object_is_refused(library: LibraryUnderTest, filters: str) -> None:
    answer = library.http.get(f"{library.path}/documents", params={"filters_attributes": filters})
    assert answer.status_code == 422


def test_extreme_values_break_no_filter(library: LibraryUnderTest) -> None:
    id = library.add("a.md", HERON)
    path = f"{library.path}/documents/{id}"
    headers = {"content-type": "application/json"}
    for number in ("1e999", "-1e999", "NaN", "1" + "0" * 30):
        body = f'{{"attributes": {{"n": {number}}}}}'
        answer = library.http.patch(path, content=body, headers=headers)
        assert answer.status_code in (200, 422)
    for value in ("1" + "0" * 30, "1e999", "null", "{}", "true"):
        found = library.documents(filters_attributes=f'{{"n": {value}}}')
        assert found["pagination"]["total_items"] in (0, 1)


_THREE = {"beta.md": 300, "alpha.txt": 200, "gamma.txt": 100}


def test_chunks_are_as_long_as_the_library_says(http: httpx.Client) -> None:
    library = new_library(http, chunk_size=256)
    library.processed("long.txt", (TEXT * 20).encode())
    hits = library.search("carrel", 100)
    assert len(hits) > 5
    assert all(len(hit["snippet"].replace("«", "").replace("»", "")) <= 258 for hit in hits)


def test_tokens_are_those_of_the_language_model(http: httpx.Client) -> None:
    text = "Die Monatsmiete beträgt 950 €, fällig am dritten Werktag; Kündigungsfrist: drei Monate."

    def prompt_tokens(question: str) -> int:
        messages = [{"role": "user", "content": question}]
        body = {"model": "smollm2", "messages": messages, "max_tokens": 0}
        answer = http.post("/v1/chat/completions", json=body, timeout=60)
        return int(answer.json()["usage"]["prompt_tokens"])

    library = new_library(http)
    document = library.document(library.processed("lease.txt", text.encode()))
    assert document["tokens_processing_main_content"] == prompt_tokens(text) - prompt_tokens("")


def test_a_plain_text_is_to_a_library_what_it_is_to_ocr(
    http: httpx.Client, library: LibraryUnderTest
) -> None:
    lines = " one  \r\n\ttwo\rthree \n\n\n\n \n# *four*\n\nfünf | <b>\n".encode("utf-8-sig")
    sent = http.post("/v1/files", files={"file": ("a.txt", lines)}, data={"purpose": "ocr"})
    document = {"type": "file", "file_id": sent.json()["id"]}
    asked = {"model": None, "document": document}
    [page] = http.post("/v1/ocr", json=asked).json()["pages"]
    text = library.text(library.processed("a.txt", lines))
    assert text == page["markdown"] != ""


def test_the_text_of_a_pdf_is_that_of_its_ocr_result(
    library: LibraryUnderTest, tmp_path: Path
) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    # A sentence that goes on on the next page.
    for text in ("The reading room is open to every reader who brings books", "back in time."):
        canvas.drawString(72, 700, text)
        canvas.showPage()
    canvas.save()
    data = (tmp_path / "a.pdf").read_bytes()
    id = library.processed("a.pdf", data)
    url = f"data:application/pdf;base64,{base64.b64encode(data).decode()}"
    asked = {"model": None, "document": {"type": "document_url", "document_url": url}}
    pages = library.http.post("/v1/ocr", json=asked).json()["pages"]
    assert len(pages) == 2
    assert library.text(id) == "\n\n".join(page["markdown"] for page in pages)
    assert library.text(id, page_start=1) == pages[1]["markdown"]
