"""Libraries under the name that clients of the chat dialect know."""

import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.documents import scanned_pdf
from support.libraries import connect
from support.process import RunningServer


def _file(http: httpx.Client, name: str, text: str) -> str:
    upload = http.post(
        "/v1/files", files={"file": (name, text.encode())}, data={"purpose": "assistants"}
    )
    id: str = upload.json()["id"]
    return id


def _processed(http: httpx.Client, store: str, file: str) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while True:
        found: dict[str, Any] = http.get(f"/v1/vector_stores/{store}/files/{file}").json()
        if found["status"] != "in_progress":
            return found
        assert time.monotonic() < deadline, "it is processed"
        time.sleep(0.1)


def test_a_store_is_filled_with_files_and_searched(http: httpx.Client) -> None:
    rent = _file(http, "rent.txt", "The rent is 900 euros.")
    made = http.post("/v1/vector_stores", json={"name": "leases", "file_ids": [rent]})
    store = made.json()
    assert (made.status_code, store["object"], store["name"]) == (200, "vector_store", "leases")
    pets = _file(http, "pets.txt", "Cats are allowed.")
    path = f"/v1/vector_stores/{store['id']}"
    added = http.post(f"{path}/files", json={"file_id": pets, "attributes": {"year": 2024}}).json()
    assert (added["id"], added["object"]) == (pets, "vector_store.file")
    for file in (rent, pets):
        assert _processed(http, store["id"], file)["status"] == "completed"
    counts = http.get(path).json()["file_counts"]
    assert (counts["completed"], counts["total"]) == (2, 2)
    found = http.post(f"{path}/search", json={"query": "Are cats allowed?"}).json()
    assert found["data"][0]["filename"] == "pets.txt"
    assert found["data"][0]["content"] == [{"type": "text", "text": "Cats are allowed."}]
    only = {"type": "and", "filters": [{"type": "eq", "key": "year", "value": 2024}]}
    hits = http.post(f"{path}/search", json={"query": ["cats", "allowed"], "filters": only}).json()
    assert {one["filename"] for one in hits["data"]} == {"pets.txt"}
    assert hits["data"][0]["attributes"] == {"year": 2024}
    for query in ("", " ", [], ["cats", ""], "c" * 2001, ["c" * 1001, "c" * 1001]):
        assert http.post(f"{path}/search", json={"query": query}).status_code == 422
    refused = http.post(f"{path}/search", json={"query": "rent", "filters": {"type": "gt"}})
    assert refused.status_code == 422
    assert http.get(f"/v1/libraries/{store['id']}").json()["name"] == "leases"


@pytest.fixture(scope="module")
def three(server: RunningServer) -> str:
    """The search of a store with three documents, of which one has no attributes."""
    with connect(server) as http:
        store = http.post("/v1/vector_stores", json={"name": "cats"}).json()["id"]
        for name, attributes in (
            ("old", {"year": 1999, "tags": ["a", "b"], "word": "ant"}),
            ("new", {"year": 2024, "tags": ["b"], "word": "bee", "open": True}),
            ("bare", None),
        ):
            file = _file(http, f"{name}.txt", f"Cats of the {name} kind.")
            body = {"file_id": file, "attributes": attributes}
            http.post(f"/v1/vector_stores/{store}/files", json=body)
            _processed(http, store, file)
    return f"/v1/vector_stores/{store}/search"


def _compared(type: str, key: str, value: Any) -> dict[str, Any]:
    return {"type": type, "key": key, "value": value}


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        (_compared("eq", "year", 2024), {"new"}),
        (_compared("ne", "year", 2024), {"old", "bare"}),
        (_compared("gt", "year", 1999), {"new"}),
        (_compared("gte", "year", 1999), {"old", "new"}),
        (_compared("lt", "year", 2024), {"old"}),
        (_compared("lte", "word", "bee"), {"old", "new"}),
        (_compared("gt", "word", 3), set()),
        (_compared("in", "year", [1999, 2000]), {"old"}),
        (_compared("nin", "tags", ["a"]), {"new", "bare"}),
        (_compared("eq", "tags", "a"), {"old"}),
        (_compared("eq", "open", True), {"new"}),
        (_compared("eq", "open", 1), set()),
        (
            {
                "type": "or",
                "filters": [
                    _compared("eq", "word", "ant"),
                    {"type": "and", "filters": [_compared("ne", "year", 1999)]},
                ],
            },
            {"old", "new", "bare"},
        ),
        (
            {
                "type": "and",
                "filters": [_compared("eq", "tags", "b"), _compared("lt", "year", 2e3)],
            },
            {"old"},
        ),
    ],
)
def test_a_search_is_restricted_by_attributes(
    http: httpx.Client, three: str, filters: dict[str, Any], names: set[str]
) -> None:
    hits = http.post(three, json={"query": "cats", "filters": filters}).json()["data"]
    assert {one["filename"].removesuffix(".txt") for one in hits} == names


def test_lists_go_on_after_an_id(http: httpx.Client) -> None:
    stores = [http.post("/v1/vector_stores", json={"name": f"s{n}"}).json()["id"] for n in "ab"]
    first = http.get("/v1/vector_stores", params={"limit": 1}).json()
    assert ([one["id"] for one in first["data"]], first["has_more"]) == ([stores[1]], True)
    rest = http.get("/v1/vector_stores", params={"limit": 1, "after": first["last_id"]}).json()
    assert rest["data"][0]["id"] == stores[0]
    oldest = {"order": "asc", "limit": 1, "after": stores[0]}
    assert http.get("/v1/vector_stores", params=oldest).json()["data"][0]["id"] == stores[1]
    end = {"order": "asc", "after": stores[1]}
    assert http.get("/v1/vector_stores", params=end).json()["has_more"] is False
    assert http.get("/v1/vector_stores", params={"after": "nobody"}).status_code == 404
    path = f"/v1/vector_stores/{stores[0]}"
    for text in ("one", "two"):
        http.post(f"{path}/files", json={"file_id": _file(http, f"{text}.txt", text)})
    page = http.get(f"{path}/files", params={"limit": 1}).json()
    assert (len(page["data"]), page["has_more"]) == (1, True)
    after = http.get(f"{path}/files", params={"after": page["last_id"]}).json()
    assert len(after["data"]) == 1 and not after["has_more"]


def test_files_are_added_together_and_listed_by_their_batch(http: httpx.Client) -> None:
    store = http.post("/v1/vector_stores", json={"name": "batches"}).json()["id"]
    path = f"/v1/vector_stores/{store}"
    http.post(f"{path}/files", json={"file_id": _file(http, "other.txt", "not in the batch")})
    files = [_file(http, f"{name}.txt", f"Cats of {name}.") for name in ("Bern", "Basel")]
    made = http.post(
        f"{path}/file_batches",
        json={"file_ids": files, "attributes": {"year": 2024}, "chunking_strategy": {"a": 1}},
    )
    assert "chunking_strategy" in made.headers["warning"]
    batch = made.json()
    assert (batch["object"], batch["vector_store_id"]) == ("vector_store.files_batch", store)
    assert batch["file_counts"]["total"] == 2
    for file in files:
        assert _processed(http, store, file)["attributes"] == {"year": 2024}
    one = f"{path}/file_batches/{batch['id']}"
    ended = http.get(one).json()
    assert (ended["status"], ended["file_counts"]["completed"]) == ("completed", 2)
    listed = http.get(f"{one}/files", params={"order": "asc"}).json()
    assert [(file["id"], file["status"]) for file in listed["data"]] == [
        (file, "completed") for file in files
    ]
    assert http.get(f"{path}/files").json()["data"][-1]["id"] not in files
    # What is over is not cancelled any more.
    assert http.post(f"{one}/cancel").json() == ended
    own = [{"file_id": _file(http, "Bonn.txt", "Cats of Bonn."), "attributes": {"year": 1}}]
    second = http.post(f"{path}/file_batches", json={"files": own}).json()
    [file] = http.get(f"{path}/file_batches/{second['id']}/files").json()["data"]
    assert file["attributes"] == {"year": 1}
    missing = http.post(f"{path}/file_batches", json={"file_ids": [files[0], "nobody"]})
    assert missing.status_code == http.get(f"{path}/file_batches/nobody").status_code == 404
    before = len(http.get("/v1/vector_stores", params={"limit": 100}).json()["data"])
    assert http.post("/v1/vector_stores", json={"file_ids": ["nobody"]}).status_code == 404
    after = http.get("/v1/vector_stores", params={"limit": 100}).json()["data"]
    assert len(after) == before, "no store is made without its files"


def test_a_cancelled_batch_leaves_documents_without_text(
    http: httpx.Client, tmp_path: Path
) -> None:
    store = http.post("/v1/vector_stores", json={"name": "cancelled"}).json()["id"]
    path = f"/v1/vector_stores/{store}"
    scan = scanned_pdf(tmp_path / "scan.pdf").read_bytes()
    upload = http.post("/v1/files", files={"file": ("scan.pdf", scan)}).json()["id"]
    batch = http.post(f"{path}/file_batches", json={"file_ids": [upload]}).json()["id"]
    assert http.get(f"{path}/files", params={"filter": "in_progress"}).json()["data"]
    cancelled = http.post(f"{path}/file_batches/{batch}/cancel").json()
    assert (cancelled["status"], cancelled["file_counts"]["cancelled"]) == ("cancelled", 1)
    [file] = http.get(f"{path}/files", params={"filter": "cancelled"}).json()["data"]
    document = http.get(f"/v1/libraries/{store}/documents/{file['id']}").json()
    assert document["processing_status"] == "Error" and "cancelled" in document["error"]
    assert http.get(f"/v1/libraries/{store}/documents/{file['id']}/text_content").status_code == 409
    again = f"/v1/libraries/{store}/documents/{file['id']}/reprocess"
    assert http.post(again).status_code == 204
    assert _processed(http, store, upload)["status"] == "completed"
    ended = http.get(f"{path}/file_batches/{batch}").json()
    assert (ended["status"], ended["file_counts"]["completed"]) == ("completed", 1)


def test_what_is_removed_is_gone_and_the_file_stays(http: httpx.Client) -> None:
    file = _file(http, "kept.txt", "kept")
    id = http.post("/v1/vector_stores", json={"file_ids": [file]}).json()["id"]
    path = f"/v1/vector_stores/{id}"
    renamed = http.post(path, json={"name": "renamed", "metadata": {"k": "v"}})
    assert renamed.json()["name"] == "renamed" and "metadata" in renamed.headers["warning"]
    assert http.post(f"{path}/files/{file}", json={"attributes": {"a": "b"}}).json()[
        "attributes"
    ] == {"a": "b"}
    gone = http.delete(f"{path}/files/{file}").json()
    assert (gone["object"], gone["deleted"]) == ("vector_store.file.deleted", True)
    assert http.get(f"{path}/files/{file}").status_code == 404
    assert http.get(f"/v1/files/{file}").status_code == 200
    assert http.delete(path).json()["object"] == "vector_store.deleted"
    assert http.get(path).status_code == 404
