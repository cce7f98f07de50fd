"""Background answers: requested now, read later."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from carrel.server.errors import ApiError
from carrel.server.records import responses
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import NotFound, RecordError
from carrel.server.records.responses import UNFINISHED, KeptResponse
from carrel.server.records.sql.database import Database
from carrel.wire.generation.responses import ResponseEvent

log = logging.getLogger(__name__)

_BEAT_SECONDS = 5.0
"""Interval of the looks at the record of an answer: another server may change it."""
_SILENT = timedelta(seconds=60)
"""After so long without a sign of life an answer is given up: its server is gone."""
_MOST = 64
"""Answers under way at once."""

_LAST = frozenset(("response.completed", "response.incomplete", "response.failed"))

Answered = dict[str, Any]
"""An answer, or an event of it, as it is sent."""


class BackgroundResponses:
    """The answers that this server writes in the background."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._news: WeakValueDictionary[str, asyncio.Event] = WeakValueDictionary()
        """Events that wake the readers of an answer when it goes on or ends."""

    def check_room(self) -> None:
        """Refuse one more answer where too many are under way.

        Raises:
            ApiError: 429.
        """
        if len(self._tasks) >= _MOST:
            message = f"{_MOST} answers are written in the background. Ask again when one is done."
            raise ApiError(429, message, headers={"retry-after": "5"})

    def begin(self, caller: Caller, id: str, answer: Coroutine[Any, Any, Answered]) -> None:
        """Start writing an answer that is stored as queued."""
        task = asyncio.create_task(self._write(caller, id, answer))
        self._tasks[id] = task
        task.add_done_callback(lambda _: self._tasks.pop(id, None))

    async def cancel(self, caller: Caller, id: str) -> Answered:
        """End an answer that is under way, here or on another server.

        Raises:
            NotFound: there is none.
            ApiError: 400, it was not asked for in the background.
        """
        kept = await self._database.read(responses.get, caller, id)
        if not kept.response.get("background"):
            raise ApiError(400, "Only an answer in the background can be cancelled.")
        change = partial(responses.replace_unfinished, changes={"status": "cancelled"})
        await self._database.write(change, caller=caller, id=id)
        if task := self._tasks.get(id):
            task.cancel()
        self.tell(id)
        return (await self._database.read(responses.get, caller, id)).response

    async def delete(self, caller: Caller, id: str) -> None:
        """Delete an answer for ever, and end it if it is under way here.

        Raises:
            NotFound: there is none.
        """
        await self._database.write(responses.delete, caller, id)
        if task := self._tasks.get(id):
            task.cancel()
        self.tell(id)

    async def note(self, caller: Caller, id: str, events: Iterable[ResponseEvent]) -> None:
        """Store the next events of an answer for its readers.

        Raises:
            NotFound: the answer was deleted meanwhile.
        """
        told = [event.model_dump(mode="json") for event in events]
        await self._database.write(responses.add_events, caller, id, told)
        self.tell(id)

    async def events(self, caller: Caller, id: str, after: int) -> AsyncGenerator[Answered]:
        """Yield the events of an answer after a given one, future events included.

        Raises:
            NotFound: there is no such answer.
            ApiError: 400, its events are not kept.
        """
        begun = False
        while True:
            news = self._news.setdefault(id, asyncio.Event())
            try:
                kept, events = await self._database.read(responses.events_after, caller, id, after)
            except NotFound as error:
                if not begun:
                    raise
                gone = {"type": "error", "code": "not_found", "message": error.message}
                yield {**gone, "param": None, "sequence_number": after + 1}
                return
            begun = True
            if not kept.streamed:
                message = "Only an answer with background and stream is read as events."
                raise ApiError(400, message, param="stream")
            for event in events:
                yield event
                if event["type"] in _LAST:
                    return
                after = event["sequence_number"]
            if events:
                continue
            answer = current_state(kept)
            if answer["status"] not in UNFINISHED:
                type = f"response.{answer['status']}"
                yield {"type": type, "sequence_number": after + 1, "response": answer}
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(_BEAT_SECONDS):
                    await news.wait()

    def tell(self, id: str) -> None:
        """Wake the readers of an answer, in other servers by NOTIFY."""
        if news := self._news.pop(id, None):
            news.set()

    async def stop(self) -> None:
        """End all answers; they are kept as failed."""
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _write(self, caller: Caller, id: str, answer: Coroutine[Any, Any, Answered]) -> None:
        work = asyncio.ensure_future(answer)
        change = partial(responses.replace_unfinished, caller=caller, id=id)
        ended = failure("The server stopped before it had answered. Ask again.")
        try:
            while not work.done():
                if not await self._goes_on(caller, id):
                    return
                await asyncio.wait({work}, timeout=_BEAT_SECONDS)
            ended = await work
        except (ApiError, RecordError) as error:
            ended = failure(error.message)
        except Exception:
            log.exception("an answer in the background failed")
            ended = failure("The server failed; its log says why. Ask again.")
        finally:
            # What was cancelled or deleted meanwhile stays so.
            work.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await work
            with suppress(NotFound):
                # A stop cancels this task, but the row must not stay unfinished.
                await asyncio.shield(self._database.write(change, changes=ended))
            self.tell(id)

    async def _goes_on(self, caller: Caller, id: str) -> bool:
        """Write a heartbeat; return False if the answer was cancelled or deleted elsewhere."""
        change = partial(responses.replace_unfinished, changes={"status": "in_progress"})
        try:
            return await self._database.write(change, caller=caller, id=id)
        except NotFound:
            return False


def failure(message: str) -> Answered:
    """Return a failed answer's final state."""
    return {"status": "failed", "error": {"code": "server_error", "message": message}}


def current_state(kept: KeptResponse) -> Answered:
    """Return an answer in its present state. It has failed if its server is gone."""
    silent = datetime.now(UTC) - kept.updated_at > _SILENT
    if kept.response["status"] in UNFINISHED and silent:
        return {**kept.response, **failure("The server stopped before it had answered. Ask again.")}
    return kept.response
