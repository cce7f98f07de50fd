"""Libraries over HTTP."""

import httpx
import pytest

from support import storage
from support.crashes import rows
from support.libraries import LibraryUnderTest, new_library
from support.process import RunningServer


def test_create_get_list(http: httpx.Client) -> None:
    body = {"name": "Contracts", "description": "Signed ones", "chunk_size": 512}
    created = http.post("/v1/libraries", json=body)
    assert created.status_code == 201
    library = created.json()
    assert {key: library[key] for key in body} == body
    assert (library["nb_documents"], library["total_size"]) == (0, 0)
    assert library["owner_type"] == "User"
    assert http.get(f"/v1/libraries/{library['id']}").json() == library
    listed = http.get("/v1/libraries").json()
    assert listed["data"][0] == library


def test_figures_count_documents(library: LibraryUnderTest) -> None:
    library.add("a.txt", b"four")
    library.add("b.txt", b"sixsix")
    figures = library.http.get(library.path).json()
    assert (figures["nb_documents"], figures["total_size"]) == (2, 10)


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_change(library: LibraryUnderTest, method: str) -> None:
    changed = library.http.request(method, library.path, json={"name": "New", "description": None})
    assert (changed.status_code, changed.json()["name"]) == (200, "New")
    same = library.http.request(method, library.path, json={})
    assert same.json() == changed.json()


def test_null_clears_the_description_alone(library: LibraryUnderTest) -> None:
    library.http.put(library.path, json={"name": "Kept", "description": "Signed ones"})
    named = library.http.put(library.path, json={"name": "Kept"}).json()
    assert named["description"] == "Signed ones"
    cleared = library.http.put(library.path, json={"name": None, "description": None}).json()
    assert (cleared["name"], cleared["description"]) == ("Kept", None)


def test_delete_takes_the_documents_along(library: LibraryUnderTest) -> None:
    id = library.processed("a.txt", b"a heron at dawn")
    address = library.http.get(f"{library.path}/documents/{id}/signed-url").json()
    gone = library.http.delete(library.path)
    assert (gone.status_code, gone.json()["id"]) == (200, library.id)
    assert library.http.get(library.path).status_code == 404
    assert library.http.get(f"{library.path}/documents").status_code == 404
    assert library.http.get(f"{library.path}/search", params={"query": "heron"}).status_code == 404
    assert httpx.get(address).status_code == 404


def test_nothing_of_a_deleted_library_stays_in_the_index(
    server: RunningServer, library: LibraryUnderTest
) -> None:
    id = library.processed("a.txt", b"a quokkaesque heron at dawn")
    indexed = (
        "FROM chunks WHERE search @@ to_tsquery('carrel', 'quokkaesque')"
        if storage.SHARED
        else "FROM chunks_fts WHERE chunks_fts MATCH 'quokkaesque'"
    )
    queries = [
        f"SELECT count(*) FROM documents WHERE library_id = '{library.id}'",
        f"SELECT count(*) FROM document_pages WHERE document_id = '{id}'",
        f"SELECT count(*) FROM chunks WHERE document_id = '{id}'",
        "SELECT count(*) FROM words WHERE word = 'quokkaesque'",
        f"SELECT count(*) {indexed}",
    ]

    def counts() -> list[int]:
        return [rows(server.data, query)[0][0] for query in queries]

    assert counts() == [1, 1, 1, 1, 1]
    library.http.delete(library.path)
    assert counts() == [0, 0, 0, 0, 0]


def test_list_pages_and_searches(http: httpx.Client) -> None:
    names = [f"Shelf {number} of 50%" for number in range(3)]
    ids = [new_library(http, name=name).id for name in names]
    first = http.get("/v1/libraries", params={"search": "of 50%", "page_size": 2}).json()
    assert [library["id"] for library in first["data"]] == ids[:0:-1]
    assert first["pagination"] == {
        "total_items": 3,
        "total_pages": 2,
        "current_page": 0,
        "page_size": 2,
        "has_more": True,
    }
    rest = {"search": "of 50%", "page_size": 2, "page_token": first["next_page_token"]}
    second = http.get("/v1/libraries", params=rest).json()
    assert [library["id"] for library in second["data"]] == ids[:1]
    assert second["next_page_token"] is None
    mine = http.get("/v1/libraries", params={"search": "of 50%", "filter_owned_by_me": "false"})
    assert mine.json()["data"] == []


@pytest.mark.parametrize(
    "body",
    [{}, {"name": ""}, {"name": "x", "chunk_size": 255}, {"name": "x", "colour": "red"}],
)
def test_a_wrong_library_is_refused(http: httpx.Client, body: dict[str, object]) -> None:
    answer = http.post("/v1/libraries", json=body)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"][0] == "body"


def test_a_wrong_page_token_is_refused(http: httpx.Client) -> None:
    answer = http.get("/v1/libraries", params={"page_token": "x"})
    assert answer.status_code == 422


@pytest.mark.parametrize("path", ["", "/share", "/search?query=x", "/documents", "/documents/y"])
def test_a_missing_library_is_a_404(http: httpx.Client, path: str) -> None:
    answer = http.get(f"/v1/libraries/01a1f7c3-0000-7000-8000-000000000000{path}")
    assert answer.status_code == 404
    assert answer.json()["object"] == "error"


def test_upload_into_a_missing_library_is_a_404(http: httpx.Client) -> None:
    answer = http.post("/v1/libraries/nowhere/documents", files={"file": ("a.txt", b"text")})
    assert answer.status_code == 404


def test_the_owner_is_listed_and_cannot_be_changed(library: LibraryUnderTest) -> None:
    owner = library.http.get(library.path).json()["owner_id"]
    shares = library.http.get(f"{library.path}/share").json()["data"]
    assert [(share["role"], share["share_with_uuid"]) for share in shares] == [("Owner", owner)]
    own = {"share_with_uuid": owner, "share_with_type": "User"}
    change = library.http.put(f"{library.path}/share", json={**own, "level": "Viewer"})
    assert change.status_code == 400
    removal = library.http.request("DELETE", f"{library.path}/share", json=own)
    assert removal.status_code == 400


def test_sharing_with_the_organisation(library: LibraryUnderTest) -> None:
    organisation = library.http.get(f"{library.path}/share").json()["data"][0]["org_id"]
    other = {"share_with_uuid": organisation, "share_with_type": "Org"}
    shared = library.http.put(f"{library.path}/share", json={**other, "level": "Viewer"})
    assert (shared.status_code, shared.json()["role"]) == (200, "Viewer")
    again = library.http.put(f"{library.path}/share", json={**other, "level": "Editor"})
    assert again.json()["role"] == "Editor"
    assert len(library.http.get(f"{library.path}/share").json()["data"]) == 2
    assert library.http.get(library.path).json()["org_sharing_role"] == "Editor"
    ended = library.http.request("DELETE", f"{library.path}/share", json=other)
    assert (ended.status_code, ended.json()["share_with_uuid"]) == (200, organisation)
    assert library.http.get(library.path).json()["org_sharing_role"] is None
    assert library.http.request("DELETE", f"{library.path}/share", json=other).status_code == 404
