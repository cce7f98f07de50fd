"""A full disk: requests that write are answered with 507, but deletes work."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from carrel.server.errors import ApiError
from carrel.server.records.cluster.reserve import Reserve
from carrel.server.records.sql.database import is_full


class FullDisk:
    """Answers 507 where the disk is full; a delete is tried once more with the reserve."""

    def __init__(self, app: ASGIApp, reserve: Reserve) -> None:
        self._app = app
        self._reserve = reserve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # The second attempt of a delete reads the same body.
        received: list[Message] = []
        begun = False

        async def receive_on() -> Message:
            message = await receive()
            if scope["method"] == "DELETE":
                received.append(message)
            return message

        async def receive_again() -> Message:
            return received.pop(0) if received else await receive()

        async def send_on(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            try:
                await self._app(scope, receive_on, send_on)
            except Exception as failure:
                if begun or scope["method"] != "DELETE" or not is_full(failure):
                    raise
                if not await asyncio.to_thread(self._reserve.release):
                    raise
                await self._app(scope, receive_again, send_on)
        except Exception as failure:
            if begun or not is_full(failure):
                raise
            error = ApiError(507, "The server's disk is full. Delete something, or make room.")
            await error.answer(scope)(scope, receive, send)
