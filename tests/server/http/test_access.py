"""Keys: without a good one there is nothing to be had, whatever is asked for, and with another
organisation's no more than that."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from support import storage
from support.batches import ended
from support.libraries import new_library
from support.process import RunningServer

OPEN = {"/healthz", "/readyz", "/signed/{token}"}
SHARED = {"/v1/models/{model_id}"}
"""What belongs to nobody: everyone with a key sees the same."""

BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("patch", "/v1/agents/{agent_id}"): {"json": {"name": "mine now"}},
    ("patch", "/v1/agents/{agent_id}/version"): {"json": {"version": 0}},
    ("put", "/v1/agents/{agent_id}/aliases"): {"params": {"alias": "a", "version": 0}},
    ("delete", "/v1/agents/{agent_id}/aliases"): {"params": {"alias": "prod"}},
    ("put", "/v1/libraries/{library_id}"): {"json": {"name": "mine now"}},
    ("patch", "/v1/libraries/{library_id}"): {"json": {"name": "mine now"}},
    ("put", "/v1/libraries/{library_id}/embeddings"): {"json": {"model": "carrel-embed"}},
    ("get", "/v1/libraries/{library_id}/search"): {"params": {"query": "lanterns"}},
    ("put", "/v1/libraries/{library_id}/share"): {
        "json": {"level": "Viewer", "share_with_uuid": "x", "share_with_type": "User"}
    },
    ("delete", "/v1/libraries/{library_id}/share"): {
        "json": {"share_with_uuid": "x", "share_with_type": "User"}
    },
    ("post", "/v1/libraries/{library_id}/documents"): {"files": {"file": ("b.txt", b"b")}},
    ("put", "/v1/libraries/{library_id}/documents/{document_id}"): {"json": {"name": "mine"}},
    ("patch", "/v1/libraries/{library_id}/documents/{document_id}"): {"json": {"name": "mine"}},
    ("post", "/v1/vector_stores/{store_id}"): {"json": {"name": "mine now"}},
    ("post", "/v1/vector_stores/{store_id}/search"): {"json": {"query": "lanterns"}},
    ("post", "/v1/vector_stores/{store_id}/files/{file_id}"): {"json": {"attributes": {}}},
}
"""What makes a request good in every respect but whose it is."""


def operations(http: httpx.Client) -> list[tuple[str, str]]:
    paths: dict[str, Any] = http.get("/openapi.json").json()["paths"]
    return [(method, path) for path in paths for method in paths[path]]


@pytest.fixture
def stranger(server: RunningServer, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    """A client with a good key of another organisation."""
    chain = storage.key_chain(server.data)
    name = request.node.name
    _, key = chain.add(name, organisation="strangers", user="stranger")
    with httpx.Client(base_url=server.url, headers={"authorization": f"Bearer {key}"}) as client:
        yield client
    chain.revoke(name)


def test_a_key_that_was_good_a_moment_ago_is_refused_once_it_is_revoked(
    server: RunningServer,
) -> None:
    chain = storage.key_chain(server.data)
    _, key = chain.add("for a moment", organisation="moments", user="somebody")
    with httpx.Client(base_url=server.url, headers={"authorization": f"Bearer {key}"}) as client:
        assert [client.get("/v1/files").status_code for _ in range(3)] == [200] * 3
        chain.revoke("for a moment")
        assert client.get("/v1/files").status_code == 401


def test_a_key_that_was_good_a_moment_ago_is_refused_once_it_has_ended(
    server: RunningServer,
) -> None:
    chain = storage.key_chain(server.data)
    added, key = chain.add(
        "until soon",
        organisation="moments",
        user="somebody",
        days=3 / 86_400,  # type: ignore[arg-type]
    )
    ends = added.expires_at
    assert ends is not None
    with httpx.Client(base_url=server.url, headers={"authorization": f"Bearer {key}"}) as client:
        assert client.get("/v1/files").status_code == 200
        while datetime.now(UTC) < ends:
            client.get("/v1/files")
            time.sleep(0.2)
        assert client.get("/v1/files").status_code == 401


def test_every_operation_but_the_open_ones_asks_for_a_key(
    server: RunningServer, http: httpx.Client
) -> None:
    assert {path for _, path in operations(http)} > OPEN
    for method, path in operations(http):
        if path in OPEN:
            continue
        answer = httpx.request(method, server.url + re.sub(r"{[^}]*}", "x", path))
        assert answer.status_code == 401, (method, path)
        assert method == "head" or answer.json() == {"detail": "Unauthorized"}


def test_what_belongs_to_another_organisation_is_nowhere_to_be_found(
    http: httpx.Client, stranger: httpx.Client
) -> None:
    file = http.post("/v1/files", files={"file": ("a.txt", b"of lanterns")}).json()
    agent = http.post("/v1/agents", json={"model": "smollm2", "name": "a"}).json()
    http.put(f"/v1/agents/{agent['id']}/aliases", params={"alias": "prod", "version": 0})
    library = new_library(http)
    document = library.processed("a.txt", b"of lanterns")
    batch = {"endpoint": "/v1/embeddings", "requests": [{"body": {}}]}
    job = ended(http, http.post("/v1/batch/jobs", json=batch).json()["id"])
    talk = {"inputs": "Hello", "completion_args": {"max_tokens": 0}}
    made = http.post("/v1/conversations", json={"model": "smollm2", **talk}).json()
    store = {"name": "a store", "file_ids": [file["id"]]}
    question = {"model": "smollm2", "input": "Hello", "max_output_tokens": 16, "background": True}
    ids = {
        "conversation_id": made["conversation_id"],
        "store_id": http.post("/v1/vector_stores", json=store).json()["id"],
        "response_id": http.post("/v1/responses", json=question).json()["id"],
        "batch_id": job["id"],
        "job_id": job["id"],
        "file_id": file["id"],
        "agent_id": agent["id"],
        "library_id": library.id,
        "document_id": document,
        "version": "0",
    }
    added = {"file_ids": [file["id"]]}
    batches = f"/v1/vector_stores/{ids['store_id']}/file_batches"
    ids["file_batch_id"] = http.post(batches, json=added).json()["id"]
    talks = "/v1/conversations/{conversation_id}"
    bodies = {
        **BODIES,
        ("post", talks): {"json": talk},
        ("post", "/v1/vector_stores/{store_id}/files"): {"json": {"file_id": file["id"]}},
        ("post", "/v1/vector_stores/{store_id}/file_batches"): {"json": added},
        ("post", f"{talks}/restart"): {"json": {"from_entry_id": made["outputs"][0]["id"], **talk}},
    }
    whose = [
        (method, path)
        for method, path in operations(http)
        if "{" in path
        and path not in OPEN | SHARED
        and not path.startswith(("/leases/", "/v1/trash/"))  # test_trash.py
        and (method, path) != ("put", talks)  # test_conversations.py
    ]
    assert len(whose) > 25
    # What takes things away goes last and the inner before the outer, so that each is there
    # when it is asked for.
    for method, path in sorted(whose, key=lambda it: (it[0] == "delete", -len(it[1]))):
        arguments = bodies.get((method, path), {})
        answer = stranger.request(method, path.format(**ids), **arguments)
        assert answer.status_code == 404, (method, path, answer.text)
        assert method == "head" or answer.json()["type"] == "not_found_error", (method, path)
        # The same request of the owner is good: it was the key that made the difference.
        answer = http.request(method, path.format(**ids), **arguments)
        assert answer.status_code < 300 or "share" in path, (method, path, answer.text)


def test_ids_of_another_organisation_in_a_body_lead_nowhere(
    http: httpx.Client, stranger: httpx.Client
) -> None:
    file = http.post("/v1/files", files={"file": ("a.txt", b"of lanterns")}).json()
    agent = http.post("/v1/agents", json={"model": "smollm2", "name": "a"}).json()
    completion = {"agent_id": agent["id"], "messages": [{"role": "user", "content": "Hello"}]}
    document = {"type": "file", "file_id": file["id"]}
    part = {"type": "input_file", "file_id": file["id"]}
    for path, body in (
        ("/v1/agents/completions", completion),
        ("/v1/ocr", {"model": None, "document": document}),
        ("/v1/responses", {"model": "smollm2", "input": [{"role": "user", "content": [part]}]}),
        ("/v1/batch/jobs", {"endpoint": "/v1/ocr", "input_files": [file["id"]]}),
        ("/v1/conversations", {"agent_id": agent["id"], "inputs": "Hello"}),
    ):
        answer = stranger.post(path, json=body)
        assert answer.status_code == 404, (path, answer.text)


def test_lists_hold_nothing_of_another_organisation(
    http: httpx.Client, stranger: httpx.Client
) -> None:
    http.post("/v1/files", files={"file": ("a.txt", b"a")})
    http.post("/v1/agents", json={"model": "smollm2", "name": "a"})
    new_library(http)
    nothing = {"data": [], "object": "list", "total": 0, "has_more": False}
    assert stranger.get("/v1/files").json() == nothing
    assert stranger.get("/v1/agents").json() == []
    assert stranger.get("/v1/agents/pages").json()["data"] == []
    assert stranger.get("/v1/libraries").json()["data"] == []
    own = http.get("/v1/users/me").json()["organization"]["id"]
    for path in ("users/me", "users/me/organizations", "users/me/workspaces", "whoami"):
        assert own not in stranger.get(f"/v1/{path}").text
    batch = {"endpoint": "/v1/embeddings", "requests": [{"body": {}}]}
    assert http.post("/v1/batch/jobs", json=batch).status_code == 200
    assert stranger.get("/v1/batch/jobs").json()["data"] == []
    assert stranger.get("/v1/trash").json()["data"] == []
    talk = {"model": "smollm2", "inputs": "Hello", "completion_args": {"max_tokens": 0}}
    assert http.post("/v1/conversations", json=talk).status_code == 200
    assert stranger.get("/v1/conversations").json() == []


def test_the_files_of_a_batch_and_their_signed_addresses_are_its_organisation_s(
    http: httpx.Client, stranger: httpx.Client
) -> None:
    vectors = {"body": {"model": "mistral-embed", "input": "of lanterns"}}
    batch = {"endpoint": "/v1/embeddings", "requests": [vectors, {"body": {}}]}
    job = ended(http, http.post("/v1/batch/jobs", json=batch).json()["id"])
    for id in (job["output_file"], job["error_file"]):
        address = http.get(f"/v1/files/{id}/url").json()["url"]
        assert httpx.get(address).status_code == 200
        for path in (f"/v1/files/{id}", f"/v1/files/{id}/url", f"/v1/files/{id}/content"):
            assert stranger.get(path).status_code == 404, path
        assert http.delete(f"/v1/files/{id}").status_code == 200
        assert httpx.get(address).status_code == 404


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer wrong", "Bearer \xff", "Basic {key}", "{key}", "Bearer {key}x"]
)
def test_no_other_header_than_the_bearer_key_is_good(server: RunningServer, header: str) -> None:
    headers = {b"authorization": header.format(key=server.api_key).encode("latin-1")}
    answer = httpx.get(f"{server.url}/v1/files", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


def test_the_key_may_come_in_a_header_of_its_own(server: RunningServer) -> None:
    for key, status in ((server.api_key, 200), ("wrong", 401), ("", 401)):
        answer = httpx.get(f"{server.url}/v1/users/me", headers={"x-api-key": key})
        assert answer.status_code == status
    both = {"x-api-key": server.api_key, "authorization": "Bearer wrong"}
    assert httpx.get(f"{server.url}/v1/users/me", headers=both).status_code == 401


def test_the_scheme_may_be_written_in_any_case(server: RunningServer) -> None:
    headers = {"authorization": f"bearer {server.api_key}"}
    assert httpx.get(f"{server.url}/v1/files", headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_asks_for_no_key(server: RunningServer, path: str) -> None:
    answer = httpx.get(server.url + path)
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"
