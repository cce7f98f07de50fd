"""The request log: what it lists, and the calls as something to run again."""

import json
import shlex
import subprocess
import sys
from dataclasses import replace

import pytest

from carrel.client import Call
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.requests.formatting import (
    answer_text,
    as_command,
    as_curl,
    as_python,
    details,
    request_rows,
    request_text,
    title,
)
from carrel.store.requests.service import KEPT, RequestsService
from carrel.store.store import Store
from support.process import RunningServer
from support.slices import until

LIST = Call("GET", "/v1/files", "page=0&search=a+lease", 200, 0.0123, 1204, "", "", '{"data": []}')
ASK = Call(
    "POST",
    "/v1/agents/completions",
    "",
    404,
    1.5,
    30,
    json.dumps({"agent_id": "a1", "messages": [{"role": "user", "content": "it's “when”?"}]}),
)
URL = "https://api.example.com"


async def test_the_newest_call_comes_first_and_what_looks_again_is_counted() -> None:
    log = RequestsService(OwnerLoop.running())
    for call in (LIST, ASK, LIST, ASK, replace(LIST, status=500), LIST):
        log.log(call)
    rows = request_rows(log.slice.value)
    assert [(row.method, str(row.status), row.times) for row in rows] == [
        ("GET", "● 200", "×3"),
        ("GET", "✕ 500", ""),
        ("POST", "✕ 404", ""),
        ("POST", "✕ 404", ""),
    ]
    assert (rows[0].target, rows[0].took, rows[0].size) == (
        "/v1/files?page=0&search=a+lease",
        "12 ms",
        "1.2 kB",
    )
    assert title(log.slice.value) == "Requests · 6"


async def test_only_so_many_stay() -> None:
    log = RequestsService(OwnerLoop.running())
    for number in range(KEPT + 5):
        log.log(replace(ASK, path=f"/v1/{number}"))
    items = log.slice.value.items
    assert (len(items), items[0].call.path) == (KEPT, f"/v1/{KEPT + 4}")
    log.clear()
    assert log.slice.value.items == ()


def test_a_call_that_got_no_answer_says_so() -> None:
    lost = replace(LIST, status=None, bytes=0, received="")
    rows = request_rows_of(lost)
    assert str(rows.status) == "○ no answer"


def request_rows_of(call: Call):  # type: ignore[no-untyped-def]
    from carrel.store.requests.service import LoggedCall, RequestsState

    return request_rows(RequestsState((LoggedCall(1, call, 0.0),)))[0]


def test_an_answer_is_read_as_far_as_it_is_kept() -> None:
    assert answer_text(LIST) == '{\n  "data": []\n}'
    assert answer_text(replace(LIST, received='{"data": [1, 2')) == '{"data": [1, 2'
    assert answer_text(replace(LIST, received="")) == "1.2 kB, not kept."
    signed = replace(LIST, path="/v1/files/f/url", received="")
    assert "signed address" in answer_text(signed)
    assert request_text(replace(LIST, upload="a b.pdf")) == "The file a b.pdf"


def test_as_curl_a_shell_gives_the_same_request() -> None:
    curl = as_curl(ASK, URL)
    assert curl is not None
    words = shlex.split(curl.replace("\\\n", " "))
    assert words[:4] == ["curl", "-X", "POST", f"{URL}/v1/agents/completions"]
    assert "Authorization: Bearer $CARREL_API_KEY" in words
    assert words[words.index("-d") + 1] == ASK.sent


def test_as_python_runs_and_sends_the_same_request() -> None:
    code = as_python(replace(ASK, query="a=1&b=x+y"), URL)
    assert code is not None
    fake = (
        "import sys, types, os, json\n"
        "os.environ['CARREL_API_KEY'] = 'k'\n"
        "def request(*a, **k): print(json.dumps([a, k])); return types.SimpleNamespace("
        "status_code=1, text='')\n"
        "sys.modules['httpx'] = types.SimpleNamespace(request=request)\n"
    )
    ran = subprocess.run([sys.executable, "-c", fake + code], capture_output=True, text=True)
    arguments, named = json.loads(ran.stdout.splitlines()[0])
    assert arguments == ["POST", f"{URL}/v1/agents/completions"]
    assert named["json"] == json.loads(ASK.sent)
    assert named["params"] == [["a", "1"], ["b", "x y"]]
    assert named["headers"] == {"Authorization": "Bearer k"}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (LIST, ["files", "list", "--search", "a lease"]),
        (replace(LIST, query=""), ["files", "list"]),
        (replace(LIST, method="POST", upload="a b.pdf"), ["files", "upload", "a b.pdf"]),
        (ASK, ["chat", "a1", "it's “when”?"]),
        (replace(LIST, path="/v1/libraries/l%2F1/documents"), None),
        (replace(LIST, path="/healthz"), None),
    ],
)
def test_as_a_command(call: Call, words: list[str] | None) -> None:
    command = as_command(call, "my work")
    if words is None and "documents" in call.path:
        words = ["libraries", "documents", "l/1", "--search", "a lease"]
    if words is None:
        assert command is None
    else:
        assert command is not None
        assert shlex.split(command) == ["carrel", "--profile", "my work", *words]


def test_a_signed_address_cannot_be_copied() -> None:
    signed = replace(LIST, path="(signed address)", query="")
    assert (as_curl(signed, URL), as_python(signed, URL), as_command(signed, "p")) == (None,) * 3


async def test_the_calls_of_a_store_are_logged_without_its_key(
    store: Store, server: RunningServer
) -> None:
    await store.files.load()
    state = await until(
        store.requests.slice,
        lambda state: any(item.call.path == "/v1/files" for item in state.items),
    )
    item = next(item for item in state.items if item.call.path == "/v1/files")
    assert details(item).startswith("200 OK · ")
    for item in state.items:
        told = f"{as_curl(item.call, server.url)}{as_python(item.call, server.url)}{item}"
        assert server.api_key not in told + answer_text(item.call)
