"""`carrel chat`: the answer as it comes, its sources beside it."""

import asyncio
import json
import signal
from typing import Any

from support.command import carrel, start
from support.service import Request, reply, service

AGENT = {
    "id": "ag_" + "0" * 32, "name": "support", "model": "m", "version": 0, "versions": [0],
    "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z",
}  # fmt: skip
HEAD = b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
SOURCE = {
    "index": 1, "library_id": "l", "document_id": "d", "document_name": "le\x1base.pdf",
    "page": 6, "snippet": "…",
}  # fmt: skip


def event(content: Any, finish: str | None = None, **delta: Any) -> bytes:
    choice = {"index": 0, "delta": {"content": content, **delta}, "finish_reason": finish}
    return f"data: {json.dumps({'id': 'c', 'model': 'm', 'choices': [choice]})}\n\n".encode()


def streaming(*events: bytes) -> Any:
    async def answer(request: Request) -> None:
        await request.write(HEAD, *events)

    return answer


async def test_the_answer_goes_out_and_the_sources_beside_it() -> None:
    chunks = [{"type": "text", "text": " months"}, {"type": "reference", "reference_ids": [1]}]
    answer = streaming(event("Three\x1b["), event(chunks), event("", "stop", sources=[SOURCE]))
    async with service(reply([AGENT]), answer) as odd:
        ended = await carrel("chat", "support", "How long?", CARREL_URL=odd.url)
    assert ended.code == 0
    assert ended.out == "Three[ months\n"
    assert ended.err == "[1] lease.pdf p.7\n"
    sent = json.loads(odd.requests[1].body)
    assert sent["agent_id"] == AGENT["id"]
    assert sent["messages"] == [{"role": "user", "content": "How long?"}]


async def test_a_piped_question_is_read() -> None:
    async with service(reply([AGENT]), streaming(event("x", "stop"))) as odd:
        ended = await carrel("chat", "support", stdin="wie lang? ü".encode(), CARREL_URL=odd.url)
    assert ended.code == 0
    assert json.loads(odd.requests[1].body)["messages"][0]["content"] == "wie lang? ü"


async def test_tokens_are_printed_as_they_come_and_an_interrupt_ends_it() -> None:
    closed = asyncio.Event()

    async def endless(request: Request) -> None:
        await request.write(HEAD, event("first"))
        await request.closed()
        closed.set()

    async with service(reply([AGENT]), endless) as odd:
        process = await start("chat", "support", "How long?", CARREL_URL=odd.url)
        assert process.stdout
        assert await asyncio.wait_for(process.stdout.readexactly(5), 30) == b"first"
        process.send_signal(signal.SIGINT)
        await asyncio.wait_for(closed.wait(), 10)
        _, err = await process.communicate()
    assert (process.returncode, err) == (130, b"")


async def test_json_is_the_whole_completion() -> None:
    message = {"role": "assistant", "content": "Three", "sources": [SOURCE]}
    completion = {
        "id": "c", "model": "m", "created": 0, "usage": {"total_tokens": 7},
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }  # fmt: skip
    async with service(reply(AGENT), reply(completion)) as odd:
        ended = await carrel("chat", str(AGENT["id"]), "?", "--json", CARREL_URL=odd.url)
    assert ended.json["choices"][0]["message"]["sources"][0]["document_name"] == "lease.pdf"
    assert ended.json["usage"]["total_tokens"] == 7


async def test_an_answer_that_fails_ends_with_1() -> None:
    for last in (event("", "error"), b'data: {"error": {"message": "Out of memory."}}\n\n'):
        async with service(reply([AGENT]), streaming(event("Thr"), last)) as odd:
            ended = await carrel("chat", "support", "?", CARREL_URL=odd.url)
        assert ended.code == 1
        assert ended.out.startswith("Thr")
        assert "Traceback" not in ended.err


async def test_an_answer_that_was_cut_off_says_so() -> None:
    async with service(reply([AGENT]), streaming(event("Thr", "length"))) as odd:
        ended = await carrel("chat", "support", "?", CARREL_URL=odd.url)
    assert ended.code == 0
    assert "Cut off" in ended.err


async def test_nobody_of_that_name() -> None:
    async with service(reply([])) as odd:
        ended = await carrel("chat", "support", "?", CARREL_URL=odd.url)
    assert ended.code == 1
    assert "There is no agent “support”. See: carrel agents list" in ended.err
