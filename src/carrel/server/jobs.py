"""Durable jobs: DBOS on the server's own database.

A job is enqueued in the transaction that writes its row: neither exists without the other. Its
finished steps are recorded: after a crash it continues with the interrupted step. Nothing outside
this module knows DBOS.
"""

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future, wait
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import sqlalchemy as sa

from carrel.server import wakes
from carrel.server.records.sql.database import call_after_commit
from carrel.server.records.sql.queues import address_of, table_of
from carrel.server.spans import from_origin, origin, span

if TYPE_CHECKING:
    from dbos import DBOSClient

log = logging.getLogger(__name__)

T = TypeVar("T")

_APPLICATION = "carrel"
# Recovery sees only jobs of its own version, so it is a constant.
_VERSION = "1"
_CONNECTIONS = 4
_UNFINISHED = ["ENQUEUED", "DELAYED", "PENDING"]
_STATES = {"ENQUEUED": "waiting", "DELAYED": "delayed", "PENDING": "taken"}

_LISTENER_SECONDS = 0.5
_DELAYED = "dbos-background-jobs"
"""The thread that enqueues delayed jobs."""
_LATE_SECONDS = 0.05
"""Time after a job's delay, so that a look finds the job due."""
# A poll takes more jobs than can run at once, so that the interval does not bound the rate; the
# next is due when so few wait for a slot.
_CLAIMED = 24
_SPARE = 2
_BETWEEN_SECONDS = 1.0
"""Time after which a taken job has its thread, or has ended."""
STOP_SECONDS = 3.0
"""Grace period of a stop before it interrupts running steps."""


class RunStep(Protocol):
    """Runs a coroutine function on the server's loop, and waits for it."""

    def __call__(self, step: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T: ...


class Interrupted(BaseException):
    """The server is stopping. A BaseException, so the job stays unfinished and is resumed."""


JobKey = tuple[str | int, ...]
"""The row of a job: its id, and what else identifies the run. No part has a dot."""

Work = Callable[[JobKey, RunStep, RunStep], None]
"""A job's work, called in a thread with two functions that run a step.

What the first one runs is durable: its outcome is remembered until the job ends, which
costs a few milliseconds. The second is for what may as well be repeated.
"""


@dataclass(frozen=True)
class QueueState:
    """The unfinished jobs of a queue that are in one state.

    Jobs wait, are delayed, or were taken by a process, which runs a few at a time.
    """

    name: str
    state: str
    count: int
    oldest_seconds: float


class Queue:
    """The jobs of one kind."""

    def __init__(self, jobs: "Jobs", name: str, workflow: str, work: Work, running: int) -> None:
        self.name = name
        self.workflow = workflow
        self.work = work
        self.slots = threading.Semaphore(running)
        self.few = running + _SPARE
        self.running = 0
        """Number of running jobs."""
        self.taken = 0
        """Number of jobs that run or wait for a slot in this process."""
        self._jobs = jobs

    def enqueue(self, connection: sa.Connection, key: JobKey, *, delay: float = 0) -> None:
        """Add a job within the caller's transaction, to be run in `delay` seconds or later."""
        from dbos import EnqueueOptions

        name = ".".join(map(str, key))
        # The origin follows a slash: its log lines and spans name the request.
        options: EnqueueOptions = {
            "workflow_name": self.workflow,
            "queue_name": self.name,
            "workflow_id": f"{name}.{secrets.token_hex(4)}/{origin()}",
            "app_version": _VERSION,
        }
        if delay:
            options["delay_seconds"] = delay
        self._jobs.client.enqueue_in_transaction(connection, options, *key)
        wakes.notify(connection, wakes.JOBS, self.name)
        call_after_commit(connection, self._jobs.wake, self.name, delay)

    def unfinished(self) -> set[tuple[str, ...]]:
        """Return the keys of the waiting and running jobs, as text; blocking."""
        found = self._jobs.client.list_workflows(
            name=self.workflow, status=_UNFINISHED, load_input=False, load_output=False
        )
        names = (status.workflow_id.partition("/")[0] for status in found)
        return {tuple(name.split(".")[:-1]) for name in names}


class Jobs:
    """The queues of a process, of which there is one.

    `executor` names it for ever: after a crash it goes on with the jobs of that name. With
    `takes_jobs` off it only enqueues, and others of the same database work.
    """

    def __init__(
        self, engine: sa.Engine, executor: str = "server", *, takes_jobs: bool = True
    ) -> None:
        self._engine = engine
        self.executor = executor
        self.takes_jobs = takes_jobs
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: DBOSClient | None = None
        self._queues: list[Queue] = []
        self._stopping = False
        self._taking = threading.Event()
        self._taking.set()
        self._steps: set[Future[Any]] = set()
        self._listening: asyncio.Task[None] | None = None
        self._held: set[str] = set()
        """Jobs that threads of this process run, or hold until a slot is free."""
        self._idle: set[str] = set()
        self._lock = threading.Lock()

    @property
    def active(self) -> int:
        """Number of running jobs."""
        return sum(queue.running for queue in self._queues)

    @property
    def client(self) -> "DBOSClient":
        """The DBOS client that enqueues jobs."""
        assert self._client is not None, "not started"
        return self._client

    def queue(self, name: str, workflow: str, work: Work, *, running: int) -> Queue:
        """Add a kind of job of which at most `running` run at once; call it before the start."""
        queue = Queue(self, name, workflow, work, running)
        self._queues.append(queue)
        return queue

    async def start(self) -> None:
        """Start to take jobs, unfinished ones of the last run first."""
        self._loop = asyncio.get_running_loop()
        if self.takes_jobs:
            await asyncio.to_thread(self._launch)
            if self._engine.dialect.name == "postgresql":
                self._listening = asyncio.create_task(
                    wakes.listen(address_of(self._engine), wakes.JOBS, self.wake)
                )
        await asyncio.to_thread(self._connect)

    def wake(self, queue: str, delay: float = 0) -> None:
        """Let a queue look for jobs soon, or some seconds later; safe from any thread."""
        if delay and self._loop is not None:
            # DBOS enqueues a delayed job up to a second late.
            later = partial(self._loop.call_later, delay + _LATE_SECONDS, self._wake_delayed, queue)
            self._loop.call_soon_threadsafe(later)
        else:
            wakes.wake(f"queue-worker-{queue}")

    def _wake_delayed(self, queue: str) -> None:
        wakes.wake(_DELAYED)
        self.wake(queue)

    def pause(self) -> None:
        """Start no more jobs; running ones continue."""
        self._taking.clear()

    def resume(self) -> None:
        """Start jobs again."""
        self._taking.set()

    async def stop(self) -> None:
        """Wait for running steps, then interrupt them; the next start resumes."""
        self._stopping = True
        if self._listening is not None:
            self._listening.cancel()
        self._taking.set()
        for queue in self._queues:
            # Tasks that wait for a slot go on, and see that the server stops.
            queue.slots.release(_CLAIMED)
        await asyncio.to_thread(self._finish)

    def unfinished(self, connection: sa.Connection) -> list[QueueState]:
        """Return the unfinished jobs by queue and state, of every process of the database."""
        jobs = table_of(connection, "workflow_status", "queue_name", "status", "created_at")
        query = (
            sa.select(
                jobs.c.queue_name, jobs.c.status, sa.func.count(), sa.func.min(jobs.c.created_at)
            )
            .where(jobs.c.status.in_(_UNFINISHED))
            .group_by(jobs.c.queue_name, jobs.c.status)
        )
        now = time.time()
        found = {(row[0], row[1]): (row[2], row[3]) for row in connection.execute(query)}
        none = (0, now * 1000)
        return [
            QueueState(queue.name, state, count, max(0.0, now - oldest / 1000))
            for queue in self._queues
            for status, state in _STATES.items()
            for count, oldest in [found.get((queue.name, status), none)]
        ]

    @property
    def lost(self) -> int:
        """Number of jobs that this process took but did not run at its last look."""
        return len(self._idle)

    def cancel_lost(self) -> None:
        """Cancel jobs that this process lost, so that others can start; blocking.

        A job whose last write fails, as on a full disk, stays behind like that. It is lost if the
        call before this one found it so, too.
        """
        if not self.takes_jobs:
            return
        idle = self._find_idle()
        if idle:
            # A job has no thread just before it runs and just after.
            time.sleep(_BETWEEN_SECONDS)
            idle &= self._find_idle()
        if lost := idle & self._idle:
            log.warning("%d jobs were left behind: they are enqueued again", len(lost))
            self.client.cancel_workflows(sorted(lost))
        self._idle = idle - lost

    def _find_idle(self) -> set[str]:
        taken = self.client.list_workflows(
            status="PENDING", executor_id=self.executor, load_input=False, load_output=False
        )
        with self._lock:
            # With as many, some may have no thread yet.
            if len(self._held) >= _CLAIMED:
                return set()
            return {status.workflow_id for status in taken} - self._held

    def take_over(self, executors: Sequence[str]) -> int:
        """Enqueue the running jobs of dead processes again and return their number; blocking.

        Only a process that takes jobs can. A job that another has taken over stays with it.
        """
        from dbos import DBOS

        taken = DBOS._recover_pending_workflows(list(executors))
        for queue in self._queues:
            self.wake(queue.name)
        return len(taken)

    def _launch(self) -> None:
        began = time.perf_counter()
        # Without this, DBOS adds a handler that writes to standard error.
        logging.getLogger("dbos").addHandler(logging.NullHandler())
        from dbos import DBOS

        dbos = DBOS(
            config={
                "name": _APPLICATION,
                "system_database_url": address_of(self._engine),
                "application_version": _VERSION,
                "executor_id": self.executor,
                "log_level": "WARNING",
                "use_listen_notify": False,
                # A stop waits for its sleep.
                "notification_listener_polling_interval_sec": _LISTENER_SECONDS,
                "sys_db_pool_size": _CONNECTIONS,
                # Those of a shared database are made by `make_tables`.
                "run_migrations": self._engine.dialect.name == "sqlite",
            }
        )
        for queue in self._queues:
            self._register(queue)
        DBOS.listen_queues([queue.name for queue in self._queues])
        DBOS.launch()
        # The events that its threads wait for.
        for event in (*dbos.background_thread_stop_events, dbos._background_jobs_stop_event):
            event.__class__ = wakes.WakeableEvent
        for queue in self._queues:
            DBOS.register_queue(
                queue.name, worker_concurrency=_CLAIMED, polling_interval_sec=wakes.SELDOM_SECONDS
            )
            self.wake(queue.name)
        log.info("job queues started in %.2f s", time.perf_counter() - began)

    def _connect(self) -> None:
        from dbos import DBOSClient

        self._client = DBOSClient(
            system_database_engine=self._engine, application_name=_APPLICATION, lazy=True
        )

    def _register(self, queue: Queue) -> None:
        from dbos import DBOS

        @DBOS.workflow(name=queue.workflow)
        def run(*key: str | int) -> None:
            self._run(queue, key)

    def _finish(self) -> None:
        from dbos import DBOS

        wait(self._open_steps(), timeout=STOP_SECONDS)
        deadline = time.monotonic() + STOP_SECONDS
        while self.active and time.monotonic() < deadline:
            for step in self._open_steps():
                step.cancel()
            time.sleep(0.01)
        if self.takes_jobs:
            DBOS.destroy(destroy_registry=True)

    def _open_steps(self) -> list[Future[Any]]:
        with self._lock:
            return list(self._steps)

    def _run(self, queue: Queue, key: JobKey) -> None:
        from dbos import DBOS

        name = DBOS.workflow_id or ""
        with self._lock:
            self._held.add(name)
            queue.taken += 1
        try:
            self._run_in_slot(queue, key)
        finally:
            with self._lock:
                self._held.discard(name)
                queue.taken -= 1
            if queue.taken <= queue.few:
                self.wake(queue.name)

    def _run_in_slot(self, queue: Queue, key: JobKey) -> None:
        with queue.slots:
            self._taking.wait()
            if self._stopping:
                raise Interrupted
            with self._lock:
                queue.running += 1
            try:
                copy_context().run(self._work, queue, key)
            finally:
                with self._lock:
                    queue.running -= 1

    def _work(self, queue: Queue, key: JobKey) -> None:
        from dbos import DBOS

        word = (DBOS.workflow_id or "").partition("/")[2]
        with (
            from_origin(word) as parent,
            span("job", parent=parent, queue=queue.name, key=str(key[0])),
        ):
            queue.work(key, self._durable_step, self._step)

    def _durable_step(self, step: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        from dbos import DBOS

        return DBOS.run_step({"name": step.__name__}, lambda: self._step(step, *args))

    def _step(self, step: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        assert self._loop is not None
        if self._stopping:
            raise Interrupted
        future = asyncio.run_coroutine_threadsafe(step(*args), self._loop)
        with self._lock:
            self._steps.add(future)
        try:
            return future.result()
        except CancelledError:
            raise Interrupted from None
        finally:
            with self._lock:
                self._steps.discard(future)
