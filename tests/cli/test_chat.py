"""`carrel chat`: the answer as it comes, its sources beside it."""

import asyncio
import json
import signal
from typing import Any

from support import hostile
from support.command import carrel, start
from support.hostile import ANSWER, LONG, UNSAFE
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
    assert ended.out == "Three[ months [1]\n"
    assert ended.err == "[1] lease.pdf p.7\n"
    sent = json.loads(odd.requests[1].body)
    assert sent["agent_id"] == AGENT["id"]
    assert sent["messages"] == [{"role": "user", "content": "How long?"}]


async def test_a_hostile_answer_steers_no_terminal() -> None:
    answer = streaming(event(ANSWER), event(LONG), event("", "stop", sources=hostile.SOURCES))
    async with service(reply([AGENT]), answer) as odd:
        ended = await carrel("chat", "support", "How long?", CARREL_URL=odd.url)
    assert ended.code == 0
    assert LONG.strip() in ended.out
    for printed in (ended.out, ended.err):
        assert not UNSAFE.search(printed.replace("\n", "")), ascii(UNSAFE.findall(printed))


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


async def test_a_library_that_is_gone_is_said_beside_the_output() -> None:
    gone = {"message": "The library l1 is to be searched, but it was deleted.", "object": "error"}
    async with service(reply([AGENT]), reply(gone, 404)) as odd:
        ended = await carrel("chat", "support", "?", CARREL_URL=odd.url)
    assert (ended.code, ended.out) == (1, "")
    assert "The library l1 is to be searched, but it was deleted." in ended.err


async def test_nobody_of_that_name() -> None:
    async with service(reply([])) as odd:
        ended = await carrel("chat", "support", "?", CARREL_URL=odd.url)
    assert ended.code == 1
    assert "There is no agent “support”. See: carrel agents list" in ended.err


async def test_versions_answer_one_after_the_other_with_their_figures() -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}
    end = event("", "stop").replace(
        b'"choices"', f'"usage": {json.dumps(usage)}, "choices"'.encode()
    )
    agent = {**AGENT, "version": 1, "versions": [1, 0]}
    old = {**AGENT, "instructions": "Be brief."}
    answers = (
        reply([agent]), reply(old), streaming(event("Three months."), end),
        reply({**old, "id": "trial"}), streaming(event("Three."), end), reply({}), reply({}),
    )  # fmt: skip
    asked = ("chat", "support", "How long?", "--version", "1", "--version", "0", "--seed", "7")
    async with service(*answers) as odd:
        ended = await carrel(*asked, CARREL_URL=odd.url)
    assert ended.code == 0
    assert ended.out == "## support v1\n\nThree months.\n\n## support v0\n\nThree.\n\n"
    assert ended.err.count("23 tokens") == 2
    sent = [json.loads(one.body) for one in odd.requests if b"random_seed" in one.body]
    assert [(one["agent_id"], one["random_seed"]) for one in sent] == [
        (AGENT["id"], 7),
        ("trial", 7),
    ]
    assert any(one.method == "DELETE" and "trial" in one.target for one in odd.requests)


async def test_a_version_that_fails_does_not_hold_up_the_next() -> None:
    agent = {**AGENT, "version": 1, "versions": [1, 0]}
    broken = streaming(event("Thr"), b'data: {"error": {"message": "Out of memory."}}\n\n')
    answers = (
        reply([agent]), reply(AGENT), broken, reply({**AGENT, "id": "trial"}),
        streaming(event("Three.", "stop")), reply({}), reply({}),
    )  # fmt: skip
    async with service(*answers) as odd:
        ended = await carrel(
            *("chat", "support", "?", "--version", "1", "--version", "0", "--json"),
            CARREL_URL=odd.url,
        )
    assert ended.code == 1
    failed, good = ended.json
    assert failed["error"] and failed["answer"] is None
    assert (good["version"], good["answer"], good["error"]) == (0, "Three.", None)


async def test_a_version_that_is_missing_costs_no_answer() -> None:
    for command in (
        ("chat", "support", "?", "--version", "9"),
        ("agents", "show", "support", "--version", "v9"),
        ("agents", "diff", "support", "9"),
        ("agents", "switch", "support", "9"),
    ):
        async with service(reply([AGENT])) as odd:
            ended = await carrel(*command, CARREL_URL=odd.url)
        assert ended.code == 1
        assert ended.err == "carrel: support has version 0; there is no version 9.\n"
        assert len(odd.requests) == 1
