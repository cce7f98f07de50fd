"""The trash over a real socket."""

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support import storage
from support.crashes import named_blobs, rows, storm
from support.documents import digital_pdf
from support.libraries import LibraryUnderTest, connect, new_library
from support.process import RunningServer, serve
from support.rounds import rounds


@pytest.fixture
def http(server: RunningServer) -> Iterator[httpx.Client]:
    """A client with an empty trash."""
    with connect(server) as client:
        client.delete("/v1/trash").raise_for_status()
        yield client


def upload(http: httpx.Client, name: str = "a.txt", **fields: str) -> str:
    answer = http.post("/v1/files", files={"file": (name, b"text")}, data=fields)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def deleted(http: httpx.Client) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = http.get("/v1/trash").json()["data"]
    return items


def restore(http: httpx.Client, id: str) -> httpx.Response:
    return http.post(f"/v1/trash/{id}/restore")


def test_the_server_says_that_it_has_a_trash(http: httpx.Client) -> None:
    assert http.get("/healthz").json()["trash_days"] == 7


def test_a_file_comes_back_as_it_was_and_its_signed_address_works_only_then(
    http: httpx.Client,
) -> None:
    id = upload(http, "notes.txt", visibility="user")
    before = http.get(f"/v1/files/{id}").json()
    address = http.get(f"/v1/files/{id}/url").json()["url"]
    assert httpx.get(address).content == b"text"

    assert http.delete(f"/v1/files/{id}").json()["deleted"] is True
    assert http.get(f"/v1/files/{id}").status_code == 404
    assert http.delete(f"/v1/files/{id}").status_code == 404
    assert id not in [file["id"] for file in http.get("/v1/files").json()["data"]]
    assert httpx.get(address).status_code == 404
    [item] = deleted(http)
    assert (item["id"], item["kind"], item["name"]) == (id, "file", "notes.txt")

    assert http.get(f"/v1/trash/{id}").json() == item
    assert restore(http, id).json() == item
    assert http.get(f"/v1/files/{id}").json() == before
    assert httpx.get(address).content == b"text"
    assert deleted(http) == []
    assert restore(http, id).status_code == 404


def test_a_document_comes_back_with_its_text_and_is_found(
    http: httpx.Client, tmp_path: Path
) -> None:
    library = new_library(http)
    pdf = digital_pdf(tmp_path / "a.pdf", 2, "A quokka at dawn").read_bytes()
    ids = [library.processed("a.pdf", pdf), library.processed("b.txt", b"a wombat")]
    before = [library.document(id) for id in ids]
    texts = [library.text(id) for id in ids]
    for id in ids:
        assert http.delete(f"{library.path}/documents/{id}").status_code == 204
    assert not library.marked("quokka")
    assert library.documents()["data"] == []
    assert http.get(library.path).json()["total_size"] == 0

    for id in ids:
        assert restore(http, id).status_code == 200
    after = [library.finished(id) for id in ids]
    for document in (*before, *after):
        document.pop("last_processed_at")
    assert after == before
    assert [library.text(id) for id in ids] == texts
    assert {hit["document_id"] for hit in library.marked("quokka")} == {ids[0]}


def test_a_library_comes_back_with_documents_and_shares(http: httpx.Client) -> None:
    library = new_library(http)
    id = library.processed("a.txt", b"a numbat at dusk")
    organisation = http.get("/v1/users/me").json()["organization"]["id"]
    share = {"level": "Viewer", "share_with_uuid": organisation, "share_with_type": "Org"}
    http.put(f"{library.path}/share", json=share).raise_for_status()
    before, shares = http.get(library.path).json(), http.get(f"{library.path}/share").json()
    http.delete(library.path).raise_for_status()
    newer = new_library(http)  # it takes the number that the other one had

    assert restore(http, library.id).status_code == 200
    library.finished(id)
    assert http.get(library.path).json() == before
    assert http.get(f"{library.path}/share").json() == shares
    assert library.marked("numbat")
    assert not newer.marked("numbat")


def test_an_agent_comes_back_with_versions_and_aliases(http: httpx.Client) -> None:
    agent = http.post("/v1/agents", json={"model": "smollm2", "name": "clerk"}).json()
    path = f"/v1/agents/{agent['id']}"
    http.patch(path, json={"name": "teller"}).raise_for_status()
    http.put(f"{path}/aliases", params={"alias": "prod", "version": 0}).raise_for_status()
    before = [http.get(each).json() for each in (path, f"{path}/versions", f"{path}/aliases")]
    assert http.delete(path).status_code == 204
    assert http.get(path).status_code == 404
    assert restore(http, agent["id"]).json()["name"] == "teller"
    after = [http.get(each).json() for each in (path, f"{path}/versions", f"{path}/aliases")]
    assert after == before


def test_where_it_was_is_gone_or_taken(http: httpx.Client) -> None:
    library = new_library(http)
    id = library.processed("a.txt", b"a bilby")
    http.delete(f"{library.path}/documents/{id}").raise_for_status()
    again = library.add("b.txt", b"a bilby")
    refused = restore(http, id)
    assert (refused.status_code, refused.json()["message"]) == (
        409,
        "The library has this document again, as 'b.txt'.",
    )
    http.delete(f"{library.path}/documents/{again}").raise_for_status()

    http.delete(library.path).raise_for_status()
    refused = restore(http, id)
    assert refused.status_code == 409
    assert refused.json()["message"].endswith("Restore the library first.")
    assert [item["kind"] for item in deleted(http)] == ["library", "document", "document"]
    http.delete(f"/v1/trash/{library.id}").raise_for_status()
    assert restore(http, id).json()["message"].endswith("It cannot be restored.")


def test_each_item_or_all_of_them_can_be_deleted_for_ever(http: httpx.Client) -> None:
    ids = [upload(http, f"{number}.txt") for number in range(3)]
    for id in ids:
        http.delete(f"/v1/files/{id}").raise_for_status()
    assert [item["id"] for item in deleted(http)] == ids[::-1]
    page = http.get("/v1/trash", params={"page": 1, "page_size": 2}).json()
    assert ([item["id"] for item in page["data"]], page["total"]) == (ids[:1], 3)
    assert http.delete(f"/v1/trash/{ids[0]}").status_code == 204
    assert restore(http, ids[0]).status_code == 404
    assert http.delete("/v1/trash").json() == {"deleted": 2}
    assert deleted(http) == []
    assert restore(http, ids[1]).status_code == 404


@pytest.mark.parametrize("own", [True, False])
def test_only_who_deleted_it_sees_it(server: RunningServer, http: httpx.Client, own: bool) -> None:
    organisation = "own" if own else f"other-{own}"
    _, key = storage.key_chain(server.data).add(
        f"key-{own}", organisation=organisation, user="colleague"
    )
    id = upload(http)
    http.delete(f"/v1/files/{id}").raise_for_status()
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=server.url, headers=headers) as other:
        assert deleted(other) == []
        assert other.get(f"/v1/trash/{id}").status_code == 404
        assert restore(other, id).status_code == 404
        assert other.delete(f"/v1/trash/{id}").status_code == 404
        assert other.delete("/v1/trash").json() == {"deleted": 0}
    assert restore(http, id).status_code == 200


def test_an_id_that_is_used_again_leaves_the_trash(
    server: RunningServer, http: httpx.Client
) -> None:
    path, chat = "/v1/conversations/chat-1", {"agent_id": "a", "entries": []}
    for _ in range(2):
        assert http.put(path, json=chat).status_code == 200
        assert http.delete(path).status_code == 204
    assert [item["id"] for item in deleted(http)] == ["chat-1"]
    _, key = storage.key_chain(server.data).add(
        "stranger", organisation="stranger", user="stranger"
    )
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=server.url, headers=headers) as stranger:
        assert stranger.put(path, json=chat).status_code == 404
    assert http.put(path, json=chat).status_code == 200
    assert deleted(http) == []


def test_bytes_stay_until_the_time_is_over(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text("[limits]\ndeleted_seconds = 1\n")

    with serve(data) as server, connect(server) as http:
        id = upload(http)
        [kept] = named_blobs(data)
        http.delete(f"/v1/files/{id}").raise_for_status()
        # Two rounds of the housekeeping.
        gone = http.post("/v1/files", files={"file": ("b.txt", b"other")}).json()["id"]
        [other] = named_blobs(data) - {kept}
        http.delete(f"/v1/files/{gone}").raise_for_status()
        http.delete(f"/v1/trash/{gone}").raise_for_status()
        _until(lambda: other not in storage.blobs(data))
        assert kept in storage.blobs(data)
        with storage.connected(data) as connection:
            connection.exec_driver_sql("UPDATE trash SET expires_at = 1")
        assert restore(http, id).status_code == 404
        _until(lambda: not storage.blobs(data))
        assert rows(data, "SELECT * FROM trash_rows") == []


def test_without_days_there_is_no_trash(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text("[limits]\ntrash_days = 0\n")
    with serve(data) as server, connect(server) as http:
        assert http.get("/healthz").json()["trash_days"] is None
        id = upload(http)
        http.delete(f"/v1/files/{id}").raise_for_status()
        assert deleted(http) == []
        assert restore(http, id).status_code == 404


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_kill_during_deletes_and_restores(tmp_path: Path) -> None:
    data = tmp_path / "data"

    def work(http: httpx.Client, chance: random.Random) -> None:
        text = f"{chance.getrandbits(60):x}".encode()
        library = new_library(http)
        library.add("a.md", text)
        for _ in range(3):
            assert http.delete(library.path).status_code == 200
            assert restore(http, library.id).status_code == 200

    storm(data, rounds(2, 30), work)
    with serve(data) as server, connect(server) as http:
        in_trash = {item["id"] for item in http.get("/v1/trash?page_size=1000").json()["data"]}
        live = {id for (id,) in rows(data, "SELECT id FROM libraries")}
        kept = rows(data, "SELECT DISTINCT item_id FROM trash_rows")
        assert not in_trash & live
        assert in_trash == {id for (id,) in kept}
        for id in in_trash:
            assert restore(http, id).status_code == 200
            assert http.get(f"/v1/libraries/{id}").json()["nb_documents"] <= 1
        for id in live | in_trash:
            library = LibraryUnderTest(http, id)
            for document in library.documents()["data"]:
                assert library.finished(document["id"])["process_status"] == "done"


def _until(condition: Any) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
