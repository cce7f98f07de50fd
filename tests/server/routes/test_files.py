"""The files routes over a real socket."""

import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from support import storage
from support.libraries import connect
from support.process import RunningServer, serve


def upload(
    http: httpx.Client, name: str = "a.txt", data: bytes = b"text", **fields: Any
) -> dict[str, Any]:
    answer = http.post("/v1/files", files={"file": (name, data)}, data=fields)
    assert answer.status_code == 200, answer.text
    file: dict[str, Any] = answer.json()
    return file


def test_an_upload_is_described_whole(http: httpx.Client) -> None:
    before = int(time.time())
    file = upload(http, "report.pdf", b"%PDF-1.7 content")
    assert before <= file.pop("created_at") <= time.time()
    assert http.get(f"/v1/files/{file.pop('id')}").json()["deleted"] is False
    assert file == {
        "object": "file",
        "bytes": 16,
        "filename": "report.pdf",
        "purpose": "ocr",
        "sample_type": "ocr_input",
        "source": "upload",
        "num_lines": None,
        "mimetype": "application/pdf",
        "signature": None,
        "expires_at": None,
        "visibility": "workspace",
    }


@pytest.mark.parametrize(
    ("name", "purpose", "data", "expected"),
    [
        ("a.jsonl", None, b'{"messages": []}\n', ("fine-tune", "instruct", 1)),
        ("a.jsonl", None, b'{"text": "x"}\n{"text": "y"}', ("fine-tune", "pretrain", 2)),
        ("a.jsonl", "batch", b"{}\n{}\n{}\n", ("batch", "batch_request", 3)),
        ("a.jsonl", "ocr", b"", ("ocr", "ocr_input", 0)),
        ("a.txt", None, b"x\ny", ("ocr", "ocr_input", None)),
        ("A.JSONL", None, b"not json", ("fine-tune", "instruct", 1)),
    ],
)
def test_the_purpose_follows_the_name_and_the_lines_are_counted(
    http: httpx.Client,
    name: str,
    purpose: str | None,
    data: bytes,
    expected: tuple[str, str, int | None],
) -> None:
    file = upload(http, name, data, **({"purpose": purpose} if purpose else {}))
    assert (file["purpose"], file["sample_type"], file["num_lines"]) == expected


@pytest.mark.parametrize("purpose", ["audio", "assistants", "user_data", "vision", "evals"])
def test_the_purposes_of_other_clients_are_kept(http: httpx.Client, purpose: str) -> None:
    file = upload(http, "notes.txt", purpose=purpose)
    assert file["purpose"] == purpose
    listed = http.get("/v1/files", params={"purpose": purpose}).json()["data"]
    assert [one["id"] for one in listed] == [file["id"]]


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"purpose": "fine-tune"}, "file"),
        ({"purpose": "anything"}, "purpose"),
        ({"expiry": "0"}, "expiry"),
        ({"expiry": "soon"}, "expiry"),
        ({"visibility": "world"}, "visibility"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_kept(
    http: httpx.Client, fields: dict[str, str], wrong: str
) -> None:
    total = http.get("/v1/files").json()["total"]
    answer = http.post("/v1/files", files={"file": ("a.txt", b"x")}, data=fields)
    assert answer.status_code == 422
    assert [item["loc"] for item in answer.json()["detail"]] == [["body", wrong]]
    assert http.get("/v1/files").json()["total"] == total


def test_empty_and_unknown_fields_are_ignored(http: httpx.Client) -> None:
    file = upload(http, purpose="", expiry="", custom_llm_provider="x")
    assert (file["purpose"], file["expires_at"]) == ("ocr", None)


def test_the_expiry_is_in_hours(http: httpx.Client) -> None:
    file = upload(http, expiry="3")
    assert file["expires_at"] == file["created_at"] + 3 * 3600


def test_the_list_is_paged_newest_first(http: httpx.Client) -> None:
    ids = [upload(http, f"page-me-{number}.txt")["id"] for number in range(5)]
    pages = [
        http.get("/v1/files", params={"search": "PAGE-me", "page": page, "page_size": 2}).json()
        for page in range(4)
    ]
    assert [file["id"] for page in pages for file in page["data"]] == ids[::-1]
    assert [len(page["data"]) for page in pages] == [2, 2, 1, 0]
    assert {page["total"] for page in pages} == {5}
    assert pages[0]["object"] == "list"
    assert [page["has_more"] for page in pages] == [True, True, False, False]


def test_the_list_goes_on_after_a_file_until_it_ends(http: httpx.Client) -> None:
    ids = [upload(http, f"go-on-{number}.txt")["id"] for number in range(5)]
    query: dict[str, str] = {"search": "go-on", "page_size": "2"}
    found: list[str] = []
    has_more = True
    while has_more:
        page = http.get("/v1/files", params=query).json()
        found += [file["id"] for file in page["data"]]
        query["after"], has_more = found[-1], page["has_more"]
    assert found == ids[::-1]
    assert http.get("/v1/files", params={"after": "nobody"}).status_code == 404


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, {"f.jsonl", "f.pdf", "f.png"}),
        ({"purpose": "batch"}, {"f.jsonl"}),
        ({"sample_type": ["batch_request", "pretrain"]}, {"f.jsonl"}),
        ({"sample_type": ["ocr_input", "batch_request"]}, {"f.jsonl", "f.pdf", "f.png"}),
        ({"source": "mistral"}, set()),
        ({"source": ["upload", "mistral"]}, {"f.jsonl", "f.pdf", "f.png"}),
        ({"mimetypes": ["application/pdf", "image/png"]}, {"f.pdf", "f.png"}),
        ({"search": "F.P"}, {"f.pdf", "f.png"}),
        ({"search": "%"}, set()),
        ({"search": "_"}, set()),
        ({"search": "", "purpose": ""}, {"f.jsonl", "f.pdf", "f.png"}),
        ({"newer_parameter": "x"}, {"f.jsonl", "f.pdf", "f.png"}),
    ],
)
def test_the_list_is_filtered(http: httpx.Client, query: dict[str, Any], names: set[str]) -> None:
    for file in http.get("/v1/files", params={"page_size": 1000}).json()["data"]:
        http.delete(f"/v1/files/{file['id']}")
    upload(http, "f.pdf", b"%PDF-1.7")
    upload(http, "f.png", b"\x89PNG\r\n\x1a\n")
    upload(http, "f.jsonl", b"{}", purpose="batch")
    found = http.get("/v1/files", params=query).json()
    assert {file["filename"] for file in found["data"]} == names
    assert found["total"] == len(names)


def test_the_total_may_be_left_out(http: httpx.Client) -> None:
    upload(http)
    assert http.get("/v1/files", params={"include_total": "false"}).json()["total"] is None


@pytest.mark.parametrize(
    "query", ["page=-1", "page=x", "page_size=0", "page_size=1001", "page=99999999999", "purpose=x"]
)
def test_an_impossible_query_is_refused(http: httpx.Client, query: str) -> None:
    answer = http.get(f"/v1/files?{query}")
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["query", query.partition("=")[0]]


def test_a_deleted_file_is_gone_everywhere(http: httpx.Client) -> None:
    id = upload(http)["id"]
    signed = http.get(f"/v1/files/{id}/url").json()["url"]
    assert http.delete(f"/v1/files/{id}").json() == {"id": id, "object": "file", "deleted": True}
    for path in ("", "/content", "/url"):
        assert http.get(f"/v1/files/{id}{path}").status_code == 404
    assert http.delete(f"/v1/files/{id}").status_code == 404
    assert httpx.get(signed).status_code == 404
    assert id not in {file["id"] for file in http.get("/v1/files").json()["data"]}


def test_the_same_bytes_twice_are_two_files(http: httpx.Client) -> None:
    first, second = upload(http, data=b"same"), upload(http, data=b"same")
    assert first["id"] != second["id"]
    http.delete(f"/v1/files/{first['id']}")
    assert http.get(f"/v1/files/{second['id']}/content").content == b"same"


def test_the_content_comes_whole_in_part_or_as_headers_only(http: httpx.Client) -> None:
    path = f"/v1/files/{upload(http, data=b'0123456789')['id']}/content"
    whole = http.get(path)
    assert (whole.status_code, whole.content) == (200, b"0123456789")
    assert whole.headers["content-type"] == "application/octet-stream"
    for asked, status, content in (
        ("bytes=2-4", 206, b"234"),
        ("bytes=-3", 206, b"789"),
        ("bytes=8-", 206, b"89"),
        ("bytes=20-", 416, None),
    ):
        part = http.get(path, headers={"range": asked})
        assert part.status_code == status
        assert content is None or part.content == content
    head = http.head(path)
    assert (head.headers["content-length"], head.content) == ("10", b"")
    changed = http.get(path, headers={"range": "bytes=2-4", "if-range": '"other"'})
    assert changed.status_code == 200


def test_a_signed_address_needs_no_key_and_no_browser_runs_what_it_gives(
    http: httpx.Client,
) -> None:
    id = upload(http, "page.html", b"<!doctype html><script>1</script>")["id"]
    url = http.get(f"/v1/files/{id}/url", params={"expiry": 1}).json()["url"]
    answer = httpx.get(url)
    assert answer.content == b"<!doctype html><script>1</script>"
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert httpx.get(url, headers={"range": "bytes=0-1"}).content == b"<!"
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert httpx.request(method, url).status_code in (403, 405)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "private" in answer.headers["cache-control"]
    assert "sandbox" in answer.headers["content-security-policy"]
    assert httpx.head(url).status_code == 200


def test_a_changed_signed_address_is_refused(http: httpx.Client) -> None:
    url = http.get(f"/v1/files/{upload(http)['id']}/url").json()["url"]
    for other in (url[:-1] + ("A" if url[-1] != "A" else "B"), url + "x", url[:-10]):
        assert httpx.get(other).status_code == 403


@pytest.mark.parametrize("hours", ["0", "169", "-1", "x"])
def test_a_signed_address_lives_for_one_hour_to_seven_days(http: httpx.Client, hours: str) -> None:
    id = upload(http)["id"]
    assert http.get(f"/v1/files/{id}/url", params={"expiry": hours}).status_code == 422


@storage.only_alone
def test_the_signed_address_begins_as_the_server_was_addressed(
    server: RunningServer, http: httpx.Client
) -> None:
    id = upload(http)["id"]
    answer = http.get(f"/v1/files/{id}/url", headers={"host": "desk.localhost:8000"})
    assert answer.json()["url"].startswith("http://desk.localhost:8000/signed/")
    assert http.get(f"/v1/files/{id}/url").json()["url"].startswith(server.url)


def test_an_expired_file_is_gone_and_removed_at_the_next_start(tmp_path: Path) -> None:
    def rows() -> int:
        with storage.connected(tmp_path / "data") as connection:
            expired = "UPDATE files SET expires_at = 1 WHERE expires_at IS NOT NULL"
            connection.exec_driver_sql(expired)
            count: int = connection.exec_driver_sql("SELECT count(*) FROM files").scalar_one()
            return count

    with serve(tmp_path / "data") as server, connect(server) as http:
        parts = {"file": ("a.txt", b"text")}
        kept = http.post("/v1/files", files=parts).json()["id"]
        id = http.post("/v1/files", files=parts, data={"expiry": "1"}).json()["id"]
        address = http.get(f"/v1/files/{id}/url").json()["url"]
        assert httpx.get(address).content == b"text"
        assert rows() == 2
        for path in (f"/v1/files/{id}", f"/v1/files/{id}/content", f"/v1/files/{id}/url"):
            assert http.get(path).status_code == 404
        assert httpx.get(address).status_code == 404
        listed = http.get("/v1/files").json()
        assert ([file["id"] for file in listed["data"]], listed["total"]) == ([kept], 1)
    with serve(tmp_path / "data") as server, connect(server) as http:
        deadline = time.monotonic() + 20
        while rows() != 1:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert http.get(f"/v1/files/{kept}/content").content == b"text"
