"""Every error has one of the shapes that clients know, and an id to ask about."""

import re
from typing import Any

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


@pytest.mark.parametrize("path", ["fim/completions", "moderations", "chat/moderations"])
def test_what_this_server_does_not_have_is_refused_in_a_sentence(
    http: httpx.Client, path: str
) -> None:
    answer = http.post(f"/v1/{path}", json={})
    assert (answer.status_code, answer.json()["object"]) == (501, "error")
    assert answer.json()["message"].startswith("This server ")


def test_a_wrong_field_is_named(http: httpx.Client) -> None:
    answer = http.post("/v1/agents", json={"name": "n", "temperature": 1})
    assert answer.status_code == 422
    found = {(tuple(item["loc"]), item["type"], item["msg"]) for item in answer.json()["detail"]}
    assert found == {
        (("body", "model"), "missing", "Field required"),
        (("body", "temperature"), "extra_forbidden", "Extra inputs are not permitted"),
    }


MESSAGES = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
DOCUMENT = {"model": "m", "document": {"file_id": "x"}}


@pytest.mark.parametrize(
    ("path", "body", "loc", "sent"),
    [
        ("ocr", {**DOCUMENT, "pages": True}, ["pages"], True),
        ("ocr", {**DOCUMENT, "pages": [True]}, ["pages", 0], True),
        ("ocr", {**DOCUMENT, "pages": "3-1"}, ["pages"], "3-1"),
        ("ocr", {**DOCUMENT, "image_limit": 1.5}, ["image_limit"], 1.5),
        ("ocr", {"model": "m", "document": {"document_url": 3}}, ["document", "document_url"], 3),
        (
            "chat/completions",
            {"model": "m", "messages": [{"role": "user", "content": [{"type": "frog"}]}]},
            ["messages", 0, "content", 0, "type"],
            "frog",
        ),
        (
            "chat/completions",
            {**MESSAGES, "tool_choice": {"type": "function", "function": {}}},
            ["tool_choice", "function", "name"],
            None,
        ),
        (
            "agents",
            {"model": "m", "name": "n", "completion_args": {"stop": {"a": 1}}},
            ["completion_args", "stop"],
            {"a": 1},
        ),
    ],
)
def test_a_wrong_field_is_named_as_it_was_sent_and_shown(
    http: httpx.Client, path: str, body: dict[str, Any], loc: list[str | int], sent: Any
) -> None:
    answer = http.post(f"/v1/{path}", json=body)
    assert answer.status_code == 422
    found = [(item["loc"], item["input"]) for item in answer.json()["detail"]]
    assert (["body", *loc], sent) in found
    for way, _ in found:
        named: Any = body
        for part in way[1:-1]:
            named = named[part]
        assert isinstance(named, dict | list)


def test_a_large_wrong_input_is_not_sent_back(http: httpx.Client) -> None:
    answer = http.post("/v1/agents", json={"model": "m", "name": "n", "tools": "x" * 100_000})
    assert answer.status_code == 422
    assert len(answer.content) < 1000


HUGE = 10**400

WRONG: list[tuple[str, str, Any]] = [
    ("GET", "/v1/files?page=99999999999999999999", None),
    ("GET", "/v1/files?page=-1", None),
    ("GET", "/v1/files?page_size=1e3", None),
    ("GET", "/v1/files?search=%00", None),
    ("GET", "/v1/files?sample_type=%00", None),
    ("GET", "/v1/files/%00", None),
    ("GET", "/v1/files/x/url?expiry=169", None),
    ("GET", "/v1/agents/x/versions/%00", None),
    ("GET", "/v1/agents/x/versions/99999999999999999999", None),
    ("GET", "/v1/agents/x?agent_version=99999999999999999999", None),
    ("GET", "/v1/agents?page=99999999999999999999", None),
    ("GET", "/v1/agents/pages?page_token=%00", None),
    ("PATCH", "/v1/agents/x/version?version=99999999999999999999", None),
    ("PATCH", "/v1/agents/x/version", {"version": HUGE}),
    ("PUT", "/v1/agents/x/aliases?alias=a&version=99999999999999999999", None),
    ("POST", "/v1/agents", {"model": "m", "name": "a\x00b"}),
    ("POST", "/v1/agents", {"model": "m", "name": ["n"]}),
    ("POST", "/v1/agents", {"model": "m", "name": "n", "nme": 1}),
    ("POST", "/v1/agents", {"model": "m", "name": "n", "completion_args": {"max_tokens": HUGE}}),
    ("POST", "/v1/agents", {"model": "m", "name": "n", "completion_args": {"top": 1}}),
    ("POST", "/v1/libraries", {"name": "l", "chunk_size": HUGE}),
    ("POST", "/v1/libraries", {"name": ""}),
    ("GET", "/v1/libraries?page_token=99999999999999999999", None),
    ("GET", "/v1/libraries/x/documents?filters_attributes=%00", None),
    ("PATCH", "/v1/libraries/x/documents/y", {"expires_at": "99999-01-01"}),
    ("PATCH", "/v1/libraries/x/documents/y", {"attributes": {"a": {"b": 1}}}),
    ("POST", "/v1/ocr", {"model": None, "document": {"type": "file", "file_id": "\x00"}}),
    ("POST", "/v1/ocr", {"document": {"type": "file", "file_id": "x"}}),
    ("POST", "/v1/agents/completions", {"agent_id": "x", "messages": []}),
    ("PUT", "/leases/%00", None),
]


@pytest.mark.parametrize(("method", "path", "body"), WRONG)
def test_what_cannot_be_is_refused_in_a_shape_of_errors(
    http: httpx.Client, method: str, path: str, body: Any
) -> None:
    answer = http.request(method, path, json=body)
    assert answer.status_code in (400, 404, 422), answer.text
    if answer.status_code == 422:
        detail = answer.json()["detail"]
        assert detail
        assert all(item.keys() >= {"type", "loc", "msg"} for item in detail)
    else:
        assert answer.json()["object"] == "error"
    assert len(answer.content) < 2000


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
