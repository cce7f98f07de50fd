"""Answers in the background: asked for now, read later."""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from carrel.server.errors import ApiError
from carrel.server.records import responses
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import NotFound, RecordError
from carrel.server.records.responses import UNFINISHED, KeptResponse
from carrel.server.records.sql.database import Database

log = logging.getLogger(__name__)

_BEAT_SECONDS = 5.0
_SILENT = timedelta(seconds=60)
"""After so long without a sign of life an answer is given up: its server is gone."""
_MOST = 64
"""Answers under way at once."""

Answered = dict[str, Any]
"""An answer as it is sent."""


class BackgroundResponses:
    """The answers that this server writes in the background."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def check_room(self) -> None:
        """Refuse one more answer where too many are under way.

        Raises:
            ApiError: 429.
        """
        if len(self._tasks) >= _MOST:
            message = f"{_MOST} answers are written in the background. Ask again when one is done."
            raise ApiError(429, message, headers={"retry-after": "5"})

    def begin(self, caller: Caller, id: str, answer: Coroutine[Any, Any, Answered]) -> None:
        """Has an answer written that is kept as queued."""
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
        return (await self._database.read(responses.get, caller, id)).response

    async def stop(self) -> None:
        """End all answers; they are kept as failed."""
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _write(self, caller: Caller, id: str, answer: Coroutine[Any, Any, Answered]) -> None:
        work = asyncio.ensure_future(answer)
        change = partial(responses.replace_unfinished, caller=caller, id=id)
        ended = failed("The server stopped before it had answered. Ask again.")
        try:
            while not work.done():
                if not await self._goes_on(caller, id):
                    return
                await asyncio.wait({work}, timeout=_BEAT_SECONDS)
            ended = await work
        except (ApiError, RecordError) as error:
            ended = failed(error.message)
        except Exception:
            log.exception("an answer in the background failed")
            ended = failed("The server failed; its log says why. Ask again.")
        finally:
            # What was cancelled or deleted meanwhile stays so.
            work.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await work
            with suppress(NotFound):
                await asyncio.shield(self._database.write(change, changes=ended))

    async def _goes_on(self, caller: Caller, id: str) -> bool:
        """Give a sign of life; False for an answer that was cancelled or deleted elsewhere."""
        change = partial(responses.replace_unfinished, changes={"status": "in_progress"})
        try:
            return await self._database.write(change, caller=caller, id=id)
        except NotFound:
            return False


def failed(message: str) -> Answered:
    """Return the end of an answer that failed."""
    return {"status": "failed", "error": {"code": "server_error", "message": message}}


def shown(kept: KeptResponse) -> Answered:
    """Return an answer as it stands; one whose server is gone has failed."""
    silent = datetime.now(UTC) - kept.updated_at > _SILENT
    if kept.response["status"] in UNFINISHED and silent:
        return {**kept.response, **failed("The server stopped before it had answered. Ask again.")}
    return kept.response
