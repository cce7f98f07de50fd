"""Large bodies of an organisation take turns, and leave the thread to others in between."""

import asyncio
import time
from types import SimpleNamespace

from starlette.types import Message, Receive, Scope, Send

from carrel.server.http.large_bodies import LargeBodies


async def _read(scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    until = time.thread_time() + 0.05
    while time.thread_time() < until:
        pass


async def _send(message: Message) -> None:
    raise AssertionError("nothing is answered")


async def _asked(app: LargeBodies, organisation: str, size: int) -> float:
    """Seconds from now until a body of this size was read."""

    async def receive() -> Message:
        return {"type": "http.request", "body": bytes(size), "more_body": False}

    began = time.monotonic()
    caller = SimpleNamespace(organisation_id=organisation)
    await app({"type": "http", "state": {"caller": caller}}, receive, _send)
    return time.monotonic() - began


async def test_an_organisation_waits_forty_times_as_long_and_no_other_does() -> None:
    app = LargeBodies(_read)
    await _asked(app, "friendly", 2_000)
    await _asked(app, "hostile", 2_000_000)
    large, small, others = await asyncio.gather(
        _asked(app, "hostile", 2_000_000),
        _asked(app, "hostile", 2_000),
        _asked(app, "friendly", 2_000_000),
    )
    assert large > 0.05 * 40
    assert max(small, others) < large / 2


async def test_the_only_organisation_waits_for_nobody() -> None:
    app = LargeBodies(_read)
    await _asked(app, "alone", 2_000_000)
    assert await _asked(app, "alone", 2_000_000) < 0.05 * 40


async def test_a_waiting_request_that_is_cancelled_holds_nobody_up() -> None:
    app = LargeBodies(_read)
    await _asked(app, "other", 2_000)
    await _asked(app, "one", 2_000_000)
    waiting = asyncio.create_task(_asked(app, "one", 2_000_000))
    await asyncio.sleep(0.01)
    waiting.cancel()
    assert await asyncio.wait_for(_asked(app, "one", 2_000_000), 20) > 0
