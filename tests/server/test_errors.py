"""Every error has one of the shapes that clients know, and an id to ask about."""

import re

import httpx
import pytest


def test_a_missing_thing_is_a_404_in_the_shape_of_errors(http: httpx.Client) -> None:
    answer = http.get("/v1/files/none")
    assert answer.status_code == 404
    assert answer.json() == {
        "object": "error",
        "message": "There is no file 'none'.",
        "type": "not_found_error",
        "param": None,
        "code": None,
        "request_id": answer.headers["x-request-id"],
    }


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/nothing", "/v1/files/a/b/c"])
def test_an_unknown_path_is_not_found(http: httpx.Client, path: str) -> None:
    answer = http.get(path)
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


def test_a_wrong_field_is_named(http: httpx.Client) -> None:
    answer = http.post("/v1/agents", json={"name": "n", "temperature": 1})
    assert answer.status_code == 422
    found = {(tuple(item["loc"]), item["type"], item["msg"]) for item in answer.json()["detail"]}
    assert found == {
        (("body", "model"), "missing", "Field required"),
        (("body", "temperature"), "extra_forbidden", "Extra inputs are not permitted"),
    }


def test_a_large_wrong_input_is_not_sent_back(http: httpx.Client) -> None:
    answer = http.post("/v1/agents", json={"model": "m", "name": "n", "tools": "x" * 100_000})
    assert answer.status_code == 422
    assert len(answer.content) < 1000


@pytest.mark.parametrize("body", [b"{", b"", b"[]", b"null", b"\xff\xfe", b'{"name": "\xff"}'])
def test_a_body_that_is_not_the_json_asked_for_is_refused(http: httpx.Client, body: bytes) -> None:
    answer = http.post("/v1/agents", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert "detail" in answer.json() or answer.json()["object"] == "error"


def test_a_body_beyond_the_limit_is_refused(http: httpx.Client) -> None:
    head = b'{"model": "m", "name": "'
    pieces = (head if number == 0 else b"x" * 2**20 for number in range(100))
    answer = http.post("/v1/agents", content=pieces, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["object"] == "error"


def test_every_answer_has_an_id(http: httpx.Client) -> None:
    ids = {http.get(path).headers["x-request-id"] for path in ("/v1/files", "/healthz", "/no")}
    assert len(ids) == 3


@pytest.mark.parametrize(("given", "kept"), [("my-id.1", True), ("a b", False), ("x" * 65, False)])
def test_a_harmless_id_is_taken_over(http: httpx.Client, given: str, kept: bool) -> None:
    answered = http.get("/healthz", headers={"x-request-id": given}).headers["x-request-id"]
    assert (answered == given) is kept
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", answered)
