"""The connection to the service: start or find it, watch it, reconnect."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING

from carrel.client.http.errors import ClientError, NotFound, ServiceError, Unauthorized, Unreachable
from carrel.config.profiles import Profile, on_this_machine
from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.session.state import READ_ONLY, Connection, SessionState

if TYPE_CHECKING:
    from carrel.client import Call, Client
    from carrel.local import Lease
    from carrel.wire.models import ModelCard

logger = logging.getLogger(__name__)

LOCAL_CHECK, HOSTED_CHECK = 2.0, 30.0
"""Seconds between checks of an answering service: on this machine, hosted."""
LOST_CHECK, LOST_HOSTED_CHECK = 1.0, 5.0
"""Seconds between checks after a missing answer: on this machine, hosted."""
LOOK_AGAIN = 0.2
"""Poll interval in seconds while a call waits for a server of this machine."""
SLOW = 1.5
"""Seconds after which an answer counts as slow."""
CHECK_TIMEOUT = 5.0
"""Timeout of a check in seconds; longer than a connection may take, so that a dead host counts as
lost."""


class SessionService(Service[SessionState]):
    """Connects in the background and reconnects; the other services get their client here."""

    def __init__(
        self, loop: OwnerLoop, profile: Profile, on_call: Callable[[Call], None] | None = None
    ) -> None:
        """Begin unconnected. `on_call` is called with every call to the service."""
        super().__init__(
            loop,
            SessionState(
                profile.name,
                hosted=not on_this_machine(profile.url),
                read_only=profile.read_only,
                colour=profile.colour,
                detail="connecting" if not profile.local else "starting the server",
                since=time.time(),
            ),
        )
        self.profile = profile
        self._report = on_call
        self._client: Client | None = None
        self._address: tuple[str, str | None] = ("", None)
        self._lease: Lease | None = None
        self._cards: tuple[ModelCard, ...] | None = None  # not loaded yet
        self._settled = asyncio.Event()  # connected or failed: callers need not wait
        self._look = asyncio.Event()  # check the service now
        self._keeper: asyncio.Task[None] | None = None
        self._late = 0  # consecutive checks that timed out
        self.refused = False
        """Whether the service refused the key."""
        self._answered = 0.0

    @action(Policy.QUEUE)
    async def ready(self) -> None:
        """Wait until the service has answered; raise the reason if it cannot."""
        await self.client()

    @instant
    def retry(self) -> None:
        """Try to connect again now."""
        if self.slice.value.connection == "failed":
            self._settled.clear()
            self._enter("starting")
        self._look.set()

    @instant
    def allow_changes(self) -> None:
        """Allow changes to a read-only profile until the program ends."""
        self.slice.set(read_only=False)

    @property
    def answered(self) -> bool:
        """Whether the service has answered once."""
        return self._answered > 0

    async def client(self) -> Client:
        """Return the client, after the service has answered for the first time."""
        await self._settled.wait()
        state = self.slice.value
        if self._client is None or state.connection == "failed":
            raise ProblemError(state.error or Problem("Not connected", state.detail))
        return self._client

    async def wait_until_back(self) -> None:
        """Wait for a lost server of this machine, which is soon started again.

        Raises:
            ProblemError: the server cannot be started, or refuses the key.
        """
        while not self.slice.value.hosted:
            client = await self.client()
            if await client.health():
                return
            self._look.set()
            await asyncio.sleep(LOOK_AGAIN)

    async def load_models(self) -> None:
        """Load the list of models."""
        await self.client()
        await self._load_models()

    async def another_client(self) -> Client:
        """Return a separate client, for another event loop. The caller closes it."""
        from carrel.client import Client

        await self.client()
        return Client(*self._address, on_call=self._on_call)

    def card(self, model: str) -> ModelCard | None:
        """Return the service's card of a model, or None."""
        return next((card for card in self._cards or () if card.answers_to(model)), None)

    def lists(self, model: str) -> bool:
        """Return whether the service lists a model, or lists no models at all."""
        return not self._cards or self.card(model) is not None

    @property
    def offline(self) -> bool:
        """Whether the service is unreachable; a slow service still counts as reachable."""
        out = self.slice.value.connection in ("lost", "failed")
        return out and not self.refused and not self._late

    def check_allowed(self) -> None:
        """Raise ProblemError if the profile is read-only."""
        if self.slice.value.read_only:
            raise ProblemError(READ_ONLY)

    def check_connection(self) -> None:
        """Check the connection now, after a request that did not reach the service."""
        self._look.set()

    def _on_call(self, call: Call) -> None:
        """Report a call. The key is checked after one that it was refused."""
        if self._report is not None:
            self._report(call)
        if call.status == HTTPStatus.UNAUTHORIZED:
            self._loop.call(self._doubt_key)

    def _doubt_key(self) -> None:
        if self._cards is not None:
            # The next check lists the models, which needs the key.
            self._cards = None
            self._look.set()

    async def start(self) -> None:
        """Begin to connect; return at once."""
        self._keeper = asyncio.create_task(self._keep(), name="carrel-session")

    async def close(self) -> None:
        """Close the connection and release the lease."""
        await super().close()
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()
        await self._drop_lease()

    async def _keep(self) -> None:
        """Connect, check periodically, and reconnect when the service is lost."""
        while True:
            self._look.clear()
            await self._attempt()
            self._settled.set()
            with contextlib.suppress(TimeoutError):
                # Not wait_for: Python 3.11's may swallow a cancellation.
                async with asyncio.timeout(self._pause()):
                    await self._look.wait()

    async def _attempt(self) -> None:
        """Check the service once, after connecting if needed."""
        # Off the loop: this import is slow, and the face should paint first.
        await asyncio.to_thread(importlib.import_module, "carrel.client.client")
        state = self.slice.value
        try:
            if self._client is None or (self.profile.local and state.connection == "lost"):
                await self._connect()
            await self._check()
        except TimeoutError:
            self._late += 1
            self._enter("slow" if self._late < 3 else "lost")
        except Unauthorized as error:
            self.refused = True
            self._fail(error)
        except (Unreachable, ServiceError) as error:
            logger.info("the service was not reached: %s", error)
            self._late = 0
            self._enter("lost")
        except Exception as error:
            # The local server did not start, the key is invalid, or our code failed.
            if state.connection == "lost":
                logger.warning("the server could not be started again: %s", error)
            else:
                self._fail(error)

    async def _connect(self) -> None:
        if self.profile.url is not None:
            self._use(self.profile.url, self.profile.api_key)
            return
        from carrel.local import Lease, ensure

        address = await ensure(self.profile.folders.server)
        if self._lease is None or address.url != self.slice.value.url:
            await self._drop_lease()
            self._lease = Lease(address)
            await self._lease.start()
            self._use(address.url, address.api_key)

    def _use(self, url: str, api_key: str | None) -> None:
        from carrel.client import Client

        if self._client is None:
            self._client = Client(url, api_key, on_call=self._on_call)
        else:
            # Moved, not replaced: running actions hold the client and continue at the new address.
            self._client.move(url, api_key)
        self._address = (url, api_key)
        self._cards = None
        self.slice.set(url=url)

    async def _check(self) -> None:
        assert self._client is not None
        began = time.monotonic()
        async with asyncio.timeout(CHECK_TIMEOUT):
            if not await self._client.health():
                raise Unreachable("The service does not answer.")
        self.slice.set(trash_days=self._client.trash_days)
        if self._cards is None:
            await self._load_models()
        self._late = 0
        self.refused = False
        self._answered = time.time()
        self._enter("slow" if time.monotonic() - began > SLOW else "ready")

    async def _load_models(self) -> None:
        assert self._client is not None
        try:
            async with asyncio.timeout(CHECK_TIMEOUT):
                listed = await self._client.models.list()
                self._cards, readers = tuple(listed.chat_models), tuple(listed.ocr_models)
        except Unauthorized:
            raise
        except NotFound:
            self._cards, readers = (), ()  # a service need not list its models
        except (ClientError, TimeoutError) as error:
            logger.info("the models are not known yet: %s", error)  # retried at the next check
            return
        first = next(iter(self._cards), None)
        self.slice.set(
            models=tuple(card.id for card in self._cards),
            ocr_models=readers,
            model=model_words(first) if first and not self.slice.value.hosted else None,
            context_length=first.max_context_length if first else None,
        )

    def _enter(self, connection: Connection) -> None:
        state = self.slice.value
        detail = {
            "starting": "trying again",
            "slow": "the server answers slowly",
            "lost": "the server does not answer, retrying",
        }.get(connection, "")
        since = state.since if state.connection == connection else time.time()
        if connection == "lost":
            since = self._answered
        self.slice.set(connection=connection, detail=detail, since=since, error=None)

    def _fail(self, error: Exception) -> None:
        problem = Problem.of(error)
        self.slice.set(connection="failed", detail=problem.title, since=time.time(), error=problem)

    def _pause(self) -> float | None:
        """Return the seconds until the next check, or None to check only on request."""
        state = self.slice.value
        match state.connection:
            case "failed":
                return None
            case "slow" if self._late:
                return LOST_CHECK
            case "starting" | "lost":
                return LOST_HOSTED_CHECK if state.hosted else LOST_CHECK
            case _:
                return HOSTED_CHECK if state.hosted else LOCAL_CHECK

    async def _drop_lease(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            await lease.stop()


def model_words(card: ModelCard) -> str:
    """Return a model's name, with a note on a test model."""
    test = "test model" in (card.description or "")
    return f"{card.id} (test model)" if test else card.id
