"""Wake the threads of the job queues when a job is enqueued, so that they rarely poll.

DBOS only polls, at 3 ms of processor a time. The commit that enqueues a job wakes this process, and
the other servers of a database by NOTIFY. So does one that carries an answer on.
"""

import asyncio
import logging
import threading
from collections import Counter, defaultdict
from collections.abc import Callable

import psycopg
import sqlalchemy as sa

log = logging.getLogger(__name__)

SELDOM_SECONDS = 10.0
"""Seconds between two polls that no wake shortens; they find jobs whose wake was lost."""

JOBS, ANSWERS = "carrel_jobs", "carrel_answers"
"""The channels: of queues by their names, and of answers in the background by their ids."""

_AGAIN_SECONDS = 2.0
"""Time after which a lost connection is made again."""
# The first wait collects the jobs of a burst; the second is for a job that ended meanwhile, which
# DBOS counts as running a moment longer.
_AFTER_WAKE = (0.02, 0.25)

# By the names of threads.
_bells: defaultdict[str, threading.Condition] = defaultdict(threading.Condition)
_wakes = Counter[str]()
_seen = threading.local()


class WakeableEvent(threading.Event):
    """An event that ends threads; it can also wake the threads of one name early."""

    def set(self) -> None:
        """End the threads."""
        super().set()
        for bell in list(_bells.values()):
            with bell:
                bell.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end or a wake; return True at the end."""
        if timeout == 0:
            return self.is_set()
        name = threading.current_thread().name
        bell = _bells[name]
        with bell:
            if getattr(_seen, "wakes", -1) != _wakes[name]:
                _seen.wakes, _seen.left = _wakes[name], list(_AFTER_WAKE)
            if _seen.left:
                bell.wait_for(self.is_set, _seen.left.pop(0))
            else:
                # Also where DBOS looks every second for queues that are new.
                seldom = max(timeout or 0, SELDOM_SECONDS)
                bell.wait_for(lambda: self.is_set() or _seen.wakes != _wakes[name], seldom)
        return self.is_set()


def wake(thread: str) -> None:
    """Wake the thread of a name, now or in its next wait."""
    bell = _bells[thread]
    with bell:
        _wakes[thread] += 1
        bell.notify_all()


def notify(connection: sa.Connection, channel: str, name: str) -> None:
    """Tell the servers of a database of a change, once the transaction is committed."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_notify(channel, name)))


async def listen(address: str, channel: str, woken: Callable[[str], None]) -> None:
    """Call `woken` with each name that a server of the database tells on a channel.

    Without a connection, changes are found by the polls.
    """
    while True:
        try:
            connection = await psycopg.AsyncConnection.connect(address, autocommit=True)
            async with connection:
                await connection.execute(f"LISTEN {channel}")
                async for told in connection.notifies():
                    woken(told.payload)
        except psycopg.OperationalError:
            log.info("the database sends no notifications: polling every %d s", SELDOM_SECONDS)
        await asyncio.sleep(_AGAIN_SECONDS)
