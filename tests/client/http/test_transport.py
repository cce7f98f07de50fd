"""Requests and answers: what goes out, and what odd answers become."""

import asyncio
import contextlib
import dataclasses
import gzip
import json
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest

from carrel.client import (
    Call,
    Client,
    ClientError,
    Invalid,
    NotFound,
    ServiceError,
    Unauthorized,
    UnexpectedAnswer,
    Unreachable,
)
from carrel.client.http import transport
from carrel.wire.files import FileQuery
from carrel.wire.generation.agents import AgentCreate
from carrel.wire.generation.completions import CompletionRequest
from carrel.wire.libraries import LibraryCreate
from carrel.wire.ocr import OCRRequest
from support.service import Request, listen, reply, service

KEY = "sk-very-secret"
EMPTY = {"object": "list", "data": [], "total": 0}


async def refused(answer: bytes) -> ClientError:
    """What the client makes of an answer to a plain request."""
    async with service(answer) as odd, Client(odd.url, KEY) as client:
        with pytest.raises(ClientError) as error:
            await client.files.get("f1")
    assert KEY not in str(error.value)
    assert "\x1b" not in str(error.value)
    return error.value


async def test_the_key_travels_as_a_bearer() -> None:
    async with service(reply(EMPTY)) as odd, Client(odd.url, f" {KEY}\n") as client:
        await client.files.list()
    assert odd.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_text_with_the_key_is_not_sent() -> None:
    key = "ThisIsTheKey4OfTheService"
    async with service(reply(EMPTY)) as odd, Client(odd.url, key) as client:
        for sending in (
            client.libraries.create(LibraryCreate(name=f"my {key}")),
            client.files.list(FileQuery(search=key)),
            client.agents.get(key),
        ):
            with pytest.raises(ClientError, match="holds the API key") as error:
                await sending
            assert key not in str(error.value)
    assert odd.requests == []


async def test_without_a_key_there_is_no_such_header() -> None:
    async with service(reply(EMPTY)) as odd, Client(odd.url, None) as client:
        await client.files.list()
    assert "authorization" not in odd.requests[0].headers


async def test_a_key_that_is_none_is_refused_without_being_shown() -> None:
    with pytest.raises(ClientError) as error:
        Client("http://127.0.0.1:1", "sk-é\nX-Header: 1")
    assert "sk-" not in str(error.value)


async def test_lists_repeat_their_key_and_numbers_and_truth_are_plain() -> None:
    async with service(reply(EMPTY)) as odd, Client(odd.url, KEY) as client:
        await client.files.list(page=2, include_total=False, source=["upload", "repository"])
    assert odd.requests[0].target == (
        "/v1/files?page=2&page_size=100&include_total=false&source=upload&source=repository"
    )


async def test_metadata_travels_as_one_json_object() -> None:
    async with service(reply([])) as odd, Client(odd.url, KEY) as client:
        await client.agents.list(metadata={"a": 1})
    query = dict(httpx.URL(odd.url + odd.requests[0].target).params.multi_items())
    assert json.loads(query["metadata"]) == {"a": 1}


async def test_an_id_stays_one_segment_of_the_path() -> None:
    file: dict[str, Any] = {
        "id": "x", "bytes": 1, "created_at": 0, "filename": "x", "purpose": "ocr",
        "sample_type": "ocr_input", "source": "upload", "deleted": False,
    }  # fmt: skip
    async with service(reply(file)) as odd, Client(odd.url + "/base/", KEY) as client:
        await client.files.get("../a b?c/%2e#d")
        for wrong in ("", ".", ".."):
            with pytest.raises(ClientError, match="is not an id"):
                await client.files.delete(wrong)
    assert [it.target for it in odd.requests] == ["/base/v1/files/..%2Fa%20b%3Fc%2F%252e%23d"]


async def test_answers_are_cleaned_of_control_characters() -> None:
    answer = reply(b'{"data": [{"id": "m\\u001b]0;x\\u0007", "name": "a\\nb\\u009b"}]}')
    async with service(answer) as odd, Client(odd.url, KEY) as client:
        card = (await client.models.list()).data[0]
    assert (card.id, card.name) == ("m]0;x", "a\nb")


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (
            reply({"detail": "Unauthorized"}, 401),
            Unauthorized,
            "did not accept the API key: it may be wrong, revoked or at its end.",
        ),
        (reply({"message": f"bad key {KEY}"}, 403), ServiceError, "bad key …"),
        (reply({"detail": "Not Found"}, 404), NotFound, "has nothing at /v1/files/f1"),
        (reply({"message": "No file f1\u001b[2J."}, 404), NotFound, "No file f1[2J."),
        (reply({"message": "Rate"}, 429, retry_after="7"), ServiceError, "Try again in 7 s."),
        (reply({"message": "Rate"}, 429, retry_after="soon"), ServiceError, "a little later"),
        (reply(b"<html>", 502, content_type="text/html"), ServiceError, "failed with status 502"),
        (reply({"error": {"message": "Overloaded"}}, 503), ServiceError, "Overloaded."),
        (reply({"error": "No"}, 400), ServiceError, "No."),
        (reply(b"", 413), ServiceError, "larger than the service accepts"),
        (reply(b"\xff\xfe", 400), ServiceError, "refused with status 400"),
        (reply(b"[" * 100_000, 400), ServiceError, "refused with status 400"),
        (reply({"message": "m" * 9000}, 400), ServiceError, "mmm"),
        (reply([], 400), ServiceError, "refused with status 400"),
    ],
)
async def test_a_refusal_is_told_in_plain_english(
    answer: bytes, kind: type[ServiceError], says: str
) -> None:
    error = await refused(answer)
    assert type(error) is kind
    assert says in str(error)
    assert len(str(error)) < 600


async def test_wrong_fields_are_named() -> None:
    detail = [
        {"type": "missing", "loc": ["body", "model"], "msg": "Field required"},
        {"type": "x", "loc": ["query", "tools", 0], "msg": f"Not {KEY}"},
        "odd",
    ]
    error = await refused(reply({"detail": detail}, 422))
    assert isinstance(error, Invalid)
    assert error.fields == (("model", "Field required"), ("tools.0", "Not …"))
    assert str(error) == "The service did not accept this: model: Field required; tools.0: Not …"


@pytest.mark.parametrize("detail", ["a text", [], None, [{"loc": 3}]])
async def test_a_422_of_another_shape_is_still_invalid(detail: object) -> None:
    assert isinstance(await refused(reply({"detail": detail}, 422)), Invalid)


async def test_what_support_asks_for_is_kept() -> None:
    error = await refused(reply({"message": "M", "code": "3740"}, 400, x_request_id="r-1"))
    assert isinstance(error, ServiceError)
    assert (error.status, error.code, error.request_id) == (400, "3740", "r-1")


@pytest.mark.parametrize(
    "answer",
    [
        reply(b""),
        reply(b"<html>ok</html>"),
        reply(b"[" * 100_000),
        reply([]),
        reply({"id": 3}),
        reply(b"not gzip", content_encoding="gzip"),
    ],
)
async def test_an_answer_that_is_none_is_said_to_be_so(answer: bytes) -> None:
    assert isinstance(await refused(answer), UnexpectedAnswer)


@pytest.mark.parametrize(
    "answer", [b"", b"SSH-2.0-OpenSSH_9\r\n", reply(EMPTY)[:-5], b"HTTP/1.1 200 X\r\n"]
)
async def test_a_connection_that_breaks_off_is_lost(answer: bytes) -> None:
    assert isinstance(await refused(answer), Unreachable)


async def test_a_compressed_answer_is_read() -> None:
    answer = reply(gzip.compress(json.dumps(EMPTY).encode()), content_encoding="gzip")
    async with service(answer) as odd, Client(odd.url, KEY) as client:
        assert (await client.files.list()).total == 0


async def test_an_endless_error_is_not_read_to_its_end() -> None:
    async def endless(request: Request) -> None:
        await request.write(b"HTTP/1.1 500 X\r\nconnection: close\r\n\r\n")
        while True:
            await request.write(b"x" * 65536)

    async with service(endless) as odd, Client(odd.url, KEY) as client:
        with pytest.raises(ServiceError, match="failed with status 500"):
            await asyncio.wait_for(client.files.list(), 10)


async def test_no_server_at_the_address() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{unused.getsockname()[1]}"
        async with Client(f"http://{host}", KEY) as client:
            with pytest.raises(Unreachable, match=f"No server answers at {host}"):
                await client.files.list()


async def test_a_server_that_only_speaks_http_asked_for_https() -> None:
    async def bad_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(b"", 400))

    async with listen(bad_request) as url, Client(url.replace("http:", "https:"), KEY) as client:
        with pytest.raises(Unreachable, match="does not speak https"):
            await client.files.list()


async def test_a_server_that_never_answers() -> None:
    hurried = httpx.Timeout(0.1)
    async with service(Request.closed) as odd, Client(odd.url, KEY, timeout=hurried) as client:
        with pytest.raises(Unreachable, match="took too long"):
            await client.files.list()


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    async with service(reply(EMPTY)) as elsewhere:
        moved = reply(b"", 307, location=f"{elsewhere.url}/v1/files")
        async with service(moved) as odd, Client(odd.url, KEY) as client:
            with pytest.raises(ServiceError, match="points to another address"):
                await client.files.list()
    assert elsewhere.requests == []


async def test_a_proxy_of_the_environment_does_not_see_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with service(reply(EMPTY)) as odd, service(reply(EMPTY)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        async with Client(odd.url, KEY) as client:
            await client.files.list()
    assert (len(odd.requests), proxy.requests) == (1, [])


async def test_every_call_is_told() -> None:
    calls: list[Call] = []
    async with (
        service(reply({"data": []}), reply({"message": "x"}, 500)) as odd,
        Client(odd.url, KEY, on_call=calls.append) as client,
    ):
        await client.libraries.search("l", "a secret question")
        with pytest.raises(ServiceError):
            await client.agents.get("a", version="prod")
    assert [(it.method, it.path, it.status) for it in calls] == [
        ("GET", "/v1/libraries/l/search", 200),
        ("GET", "/v1/agents/a", 500),
    ]
    assert calls[0].bytes == len(b'{"data": []}')
    assert (calls[0].query, calls[0].received) == (
        "query=a+secret+question&limit=10",
        '{"data": []}',
    )
    assert calls[1].received == '{"message": "x"}'
    assert 0 <= calls[0].seconds < 5


async def test_what_is_told_of_a_call_holds_neither_the_key_nor_a_signed_address() -> None:
    calls: list[Call] = []
    signed = "https://store.example.com/signed/token-of-it?sig=abc"
    answers = [
        reply({"url": signed}),
        reply({"message": f"the key {KEY} at {signed}"}, 400),
        reply({"pages": [], "model": "m", "usage_info": {"pages_processed": 0}}),
    ]
    async with service(*answers) as odd, Client(odd.url, KEY, on_call=calls.append) as client:
        await client.files.url("f")
        with pytest.raises(ServiceError):
            await client.files.get("f")
        document: Any = {
            "type": "document_url",
            "document_url": "https://store.example.com/token-of-it",
        }
        with contextlib.suppress(UnexpectedAnswer):
            await client.ocr.process(
                OCRRequest.model_validate({"model": "m", "document": document})
            )
    assert [call.status for call in calls] == [200, 400, 200]
    assert "store.example.com" in calls[1].received
    for call in calls:
        told = str(dataclasses.asdict(call))
        assert KEY not in told and "token-of-it" not in told and "sig=abc" not in told


async def test_what_is_told_holds_no_secret_of_others_and_stays_json() -> None:
    calls: list[Call] = []
    connector: Any = {"type": "connector", "connector_id": "mail"}
    connector["authorization"] = {"type": "api-key", "value": "of-the-mail"}
    said = 'Say "bearer of-the-house\\"", see HTTPS://h/p?of=the-shed\\"'
    asked = {"model": "m", "name": "a", "instructions": said, "tools": [connector]}
    async with (
        service(reply({"tools": [connector]})) as odd,
        Client(odd.url, KEY, on_call=calls.append) as client,
    ):
        with contextlib.suppress(UnexpectedAnswer):
            await client.agents.create(AgentCreate.model_validate(asked))
    sent = json.loads(calls[0].sent)
    assert sent["tools"] == [{**connector, "authorization": "…"}]
    assert json.loads(calls[0].received)["tools"] == sent["tools"]
    told = str(dataclasses.asdict(calls[0]))
    assert not any(secret in told for secret in ("of-the-mail", "of-the-house", "the-shed"))


async def test_a_long_text_in_a_request_is_told_cut_and_a_stream_from_its_beginning() -> None:
    calls: list[Call] = []
    data = "data:application/pdf;base64," + "A" * 100_000
    body: Any = {"type": "document_url", "document_url": data}
    async with (
        service(reply({}), reply(b"x" * 50_000, content_type="text/plain")) as odd,
        Client(odd.url, KEY, on_call=calls.append) as client,
    ):
        with contextlib.suppress(UnexpectedAnswer):
            await client.ocr.process(OCRRequest(model="m", document=body))
        async with client.files.content("f") as pieces:
            async for _ in pieces:
                pass
    assert len(calls[0].sent) < 3000 and "100,028 characters" in calls[0].sent
    assert (calls[1].bytes, len(calls[1].received)) == (50_000, 16_384)


async def test_a_call_that_never_was_answered_is_told_too() -> None:
    calls: list[Call] = []
    async with Client("http://127.0.0.1:1", KEY, on_call=calls.append) as client:
        assert not await client.health()
    assert [(it.path, it.status) for it in calls] == [("/healthz", None)]


async def test_health_asks_a_hosted_service_for_its_models() -> None:
    answers = [reply({"detail": "Not Found"}, 404), reply({"data": []})]
    async with service(*answers) as odd, Client(odd.url, KEY) as client:
        assert await client.health()
        assert await client.health()
    assert [it.target for it in odd.requests] == ["/healthz", "/v1/models", "/v1/models"]
    assert "authorization" not in odd.requests[0].headers


async def test_health_tells_a_wrong_key_from_a_missing_server() -> None:
    answers = [reply({}, 404), reply({"detail": "Unauthorized"}, 401)]
    async with service(*answers) as odd, Client(odd.url, KEY) as client:
        with pytest.raises(Unauthorized):
            await client.health()
    async with service(reply({}, 503)) as odd, Client(odd.url, KEY) as client:
        assert not await client.health()


async def test_an_answer_that_unpacks_without_end_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport, "_ANSWER_BYTES", 1 << 20)
    bomb = gzip.compress(b'{"data": "' + b"x" * (8 << 20))
    error = await refused(reply(bomb, content_encoding="gzip"))
    assert isinstance(error, UnexpectedAnswer)
    assert "sent more than 1 MiB" in str(error)


async def test_an_answer_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_ANSWER_BYTES", 1 << 20)
    endless = b"data: " + b"x" * (2 << 20)
    request = CompletionRequest.model_validate(
        {"agent_id": "a", "messages": [{"role": "user", "content": "Hello"}]}
    )
    answer = reply(endless, content_type="text/event-stream")
    async with service(answer) as odd, Client(odd.url, KEY) as client:
        with pytest.raises(UnexpectedAnswer, match="sent more than 1 MiB"):
            async with client.completions.stream(request) as chunks:
                async for _ in chunks:
                    pass


async def test_a_compressed_download_is_refused(tmp_path: Path) -> None:
    body = gzip.compress(b"x" * 1000)
    async with service(reply(body, content_encoding="gzip")) as odd, Client(odd.url, KEY) as client:
        with pytest.raises(UnexpectedAnswer, match="compressed its answer"):
            await client.files.download("f1", tmp_path / "file")
    assert odd.requests[0].headers["accept-encoding"] == "identity"
    assert not await asyncio.to_thread((tmp_path / "file").exists)
