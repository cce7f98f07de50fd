"""The connection to the service: found or started, watched, found again."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from carrel.store.action import Policy, Service, action
from carrel.store.loop import OwnerLoop
from carrel.store.problem import Problem, ProblemError

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.config import Profile
    from carrel.local import Lease
    from carrel.wire.models import ModelCard

logger = logging.getLogger(__name__)

LOCAL_CHECK, HOSTED_CHECK, LOST_CHECK = 2.0, 30.0, 1.0
"""Seconds between two looks at the service: this machine's, a hosted one, one that is lost."""
SLOW = 1.5
"""Seconds after which an answer counts as slow."""
CHECK_TIMEOUT = 5.0

Connection = Literal["starting", "ready", "slow", "lost", "failed"]


@dataclass(frozen=True, slots=True)
class SessionState:
    """Which service is talked to and whether it answers.

    `since` is when the connection came into this state (seconds since 1970), `error` why it is
    "failed", `model` the words for the service's model, `context_length` its tokens.
    """

    profile: str
    hosted: bool
    read_only: bool
    colour: str | None = None
    connection: Connection = "starting"
    detail: str = ""
    url: str | None = None
    model: str | None = None
    models: tuple[str, ...] = ()
    context_length: int | None = None
    since: float = 0.0
    error: Problem | None = None


class SessionService(Service[SessionState]):
    """Connects in the background and keeps the connection; the other services ask it for a client."""

    def __init__(self, loop: OwnerLoop, profile: Profile) -> None:
        super().__init__(
            loop,
            SessionState(
                profile.name,
                hosted=not profile.local,
                read_only=profile.read_only,
                colour=profile.colour,
                detail="connecting" if not profile.local else "starting the server",
                since=time.time(),
            ),
        )
        self._profile = profile
        self._client: Client | None = None
        self._lease: Lease | None = None
        self._cards: tuple[ModelCard, ...] = ()
        self._settled = asyncio.Event()  # connected or failed: nobody needs to wait
        self._look = asyncio.Event()  # look at the service now
        self._keeper: asyncio.Task[None] | None = None

    @action(Policy.QUEUE)
    async def ready(self) -> None:
        """Ends when the service has answered; fails with the reason when it cannot."""
        await self.client()

    @action(Policy.LATEST)
    async def retry(self) -> None:
        """Tries again now."""
        if self.slice.value.connection == "failed":
            self._settled.clear()
            self._enter("starting", "trying again")
        self._look.set()

    @action(Policy.QUEUE)
    async def allow_changes(self) -> None:
        """Turns changes on for a read-only profile, until the program ends."""
        self.slice.set(read_only=False)

    async def client(self) -> Client:
        """The client of the service, as soon as it has answered once."""
        await self._settled.wait()
        state = self.slice.value
        if self._client is None or state.connection == "failed":
            raise ProblemError(state.error or Problem("Not connected", state.detail))
        return self._client

    def card(self, model: str) -> ModelCard | None:
        """What the service says about a model."""
        return next(
            (card for card in self._cards if model in (card.id, *(card.aliases or ()))), None
        )

    def doubt(self) -> None:
        """Looks at the service now, because a request did not reach it."""
        self._look.set()

    async def start(self) -> None:
        """Begins to connect; returns at once."""
        self._keeper = asyncio.create_task(self._keep(), name="carrel-session")

    async def close(self) -> None:
        """Ends the connection and gives up the lease."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        await self._drop_client()
        await self._drop_lease()

    async def _keep(self) -> None:
        """Connects, looks again and again, and connects anew when the service is gone."""
        while True:
            try:
                if self._client is None:
                    await self._connect()
                await self._check()
            except Exception as error:
                self._not_reached(error)
            self._look.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._look.wait(), self._pause())

    def _pause(self) -> float | None:
        connection = self.slice.value.connection
        if connection == "failed":
            return None
        if connection in ("starting", "lost"):
            return LOST_CHECK
        return LOCAL_CHECK if self._profile.local else HOSTED_CHECK
