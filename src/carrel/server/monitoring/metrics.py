"""Prometheus metrics at an address of their own.

A process's own work is counted as it happens. Figures of the records are read from the database, at
most once in `_KEEP_SECONDS`; they are the same from every server of one database.
"""

import asyncio
import errno
import logging
import shutil
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import sqlalchemy as sa
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    start_http_server,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.pool import QueuePool

from carrel.server.assembly import Server
from carrel.server.housekeeping.heartbeat import SILENT_SECONDS
from carrel.server.jobs import Jobs
from carrel.server.records import processing
from carrel.server.records.cluster import workers
from carrel.server.records.sql.database import Database
from carrel.server.records.sql.tables import documents, files
from carrel.server.spans import FAILED_STEP, Span, observe_with

log = logging.getLogger(__name__)

_KEEP_SECONDS = 30
"""Age at which the figures are read from the database again."""
_PARTS_SECONDS = 10
"""The most time for a look at the parts of the server."""
_STATUSES = ("todo", "in_progress", "waiting_for_capacity", "done", "error")
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class MetricsError(Exception):
    """The metrics cannot be served; the message says what to do."""


@contextmanager
def serve_metrics(address: str, server: Server) -> Iterator[str]:
    """Serve the metrics of a server at `HOST:PORT`, from its loop; yield their address.

    Raises:
        MetricsError: the address cannot be used.
    """
    # Beside each counter the library would give the time at which it was made.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    registry.register(_Records(server.database, server.jobs))
    registry.register(_Parts(server, asyncio.get_running_loop()))
    registry.register(_Process(server.database, server.folder.path))
    ProcessCollector(registry=registry)
    host, _, port = address.rpartition(":")
    try:
        http, thread = start_http_server(int(port), host.strip("[]"), registry)
    except (OSError, ValueError, OverflowError) as error:
        taken = getattr(error, "errno", None) == errno.EADDRINUSE
        reason = "another process has it" if taken else "this machine has no such HOST:PORT"
        raise MetricsError(f"--metrics {address}: {reason}. Choose another.") from error
    try:
        with observe_with(_Counters(registry)):
            yield f"http://{host}:{http.server_port}/metrics"
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


class _Counters:
    """Counts spans."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, help: str, *labels: str) -> Counter:
            return Counter(f"carrel_{name}", help, labels, registry=registry)

        def histogram(name: str, help: str, *labels: str) -> Histogram:
            return Histogram(
                f"carrel_{name}_seconds", help, labels, buckets=_BUCKETS, registry=registry
            )

        self._present = Gauge(
            "carrel_in_progress", "Work in progress, by kind.", ("work",), registry=registry
        )
        for work in ("request", "stream", "job", "reading", "recognition", "model", "embedding"):
            self._present.labels(work)
        self._requests = counter("requests", "Requests answered.", "method", "route", "status")
        self._request = histogram(
            "request", "From a request to the end of its answer.", "method", "route"
        )
        self._jobs = counter("jobs_ended", "Jobs that this process ended.", "queue", "outcome")
        self._job = histogram("job", "Time in which a job ran.", "queue")
        self._pages = counter("pages_read", "Pages read, by the way they were read.", "by")
        for by in ("text", "ocr"):
            self._pages.labels(by)
        self._failed_steps = counter(
            "reading_steps_failed", "Steps of reading that failed and were left out.", "step"
        )
        self._reading = histogram("reading", "Time to read a document.")
        self._answers = counter("model_answers", "Answers of models.", "model", "outcome")
        self._answer = histogram("model_answer", "From a question to the last token.", "model")
        self._first = histogram("model_first_token", "From a question to the first token.", "model")
        self._tokens = counter("model_tokens", "Tokens read and written.", "model", "kind")
        self._unknown = counter(
            "unknown_citations", "Citations of passages that a model was not given.", "model"
        )
        self._ended: dict[str, Callable[[Span], None]] = {
            "request": self._request_ended,
            "job": self._job_ended,
            "reading": self._observe_reading,
            "model": self._model_ended,
        }

    def begin(self, span: Span, parent: str | None, inner: bool) -> None:
        """Count a span as present."""
        self._present.labels(span.name).inc()

    def end(self, span: Span) -> None:
        """Count a finished span."""
        self._present.labels(span.name).dec()
        if count := self._ended.get(span.name):
            count(span)

    def trace_context(self) -> str:
        """Return nothing: counters have no traces."""
        return ""

    def _request_ended(self, span: Span) -> None:
        method, route = str(span.attributes["method"]), str(span.attributes["route"])
        self._requests.labels(method, route, span.attributes["status"]).inc()
        self._request.labels(method, route).observe(span.seconds)

    def _job_ended(self, span: Span) -> None:
        queue = span.attributes["queue"]
        self._jobs.labels(queue, span.error or "done").inc()
        self._job.labels(queue).observe(span.seconds)

    def _observe_reading(self, span: Span) -> None:
        self._reading.observe(span.seconds)
        for by in ("text", "ocr"):
            self._pages.labels(by).inc(float(span.attributes.get(f"pages_by_{by}", 0)))
        for name, count in span.attributes.items():
            if name.startswith(FAILED_STEP):
                self._failed_steps.labels(name.removeprefix(FAILED_STEP)).inc(float(count))

    def _model_ended(self, span: Span) -> None:
        model = span.attributes["model"]
        self._answers.labels(model, span.error or "done").inc()
        self._answer.labels(model).observe(span.seconds)
        if "first_token_seconds" in span.attributes:
            self._first.labels(model).observe(float(span.attributes["first_token_seconds"]))
        self._unknown.labels(model).inc(float(span.attributes.get("unknown_citations", 0)))
        for kind in ("prompt", "completion"):
            count = float(span.attributes.get(f"{kind}_tokens", 0))
            self._tokens.labels(model, kind).inc(count)


class _Unannounced(Collector):
    """Figures that scrapes alone ask for."""

    def describe(self) -> Iterable[Metric]:
        """Name no metric in advance."""
        return ()


class _Records(_Unannounced):
    """Figures of the records, cached."""

    def __init__(self, database: Database, jobs: Jobs) -> None:
        self._database = database
        self._jobs = jobs
        self._lock = threading.Lock()
        self._known: list[Metric] = []
        self._asked = -float("inf")

    def collect(self) -> Iterable[Metric]:
        """Yield the figures; none while the database is away."""
        with self._lock:
            if time.monotonic() - self._asked > _KEEP_SECONDS:
                try:
                    with self._database.engine.connect() as connection:
                        self._known = [*self._documents(connection), *self._queues(connection)]
                    self._asked = time.monotonic()
                except sa.exc.SQLAlchemyError as error:
                    log.warning("metrics: the database does not answer: %s", type(error).__name__)
                    self._known = []
            return self._known

    def _documents(self, connection: sa.Connection) -> Iterator[Metric]:
        query = sa.select(documents.c.process_status, sa.func.count())
        found = connection.execute(query.group_by(documents.c.process_status))
        numbers = dict.fromkeys(_STATUSES, 0) | {row[0]: row[1] for row in found}
        yield _gauge("documents", "Documents of libraries by status.", numbers, "status")
        sizes = {
            table.name: connection.scalar(sa.select(sa.func.sum(column))) or 0
            for table, column in ((files, files.c.bytes), (documents, documents.c.size))
        }
        yield _gauge("stored_bytes", "Bytes that records name.", sizes, "records")
        yield _gauge(
            "oldest_unfinished_document_seconds",
            "Age of the document that waits longest; 0 without one.",
            processing.oldest_unfinished_seconds(connection),
        )
        if self._database.shared:
            alive = workers.count_alive(connection, SILENT_SECONDS)
            yield _gauge("workers", "Processes that take jobs, alive.", alive)

    def _queues(self, connection: sa.Connection) -> Iterator[Metric]:
        labels = ("queue", "state")
        count = GaugeMetricFamily("carrel_jobs", "Unfinished jobs by state.", labels=labels)
        age = GaugeMetricFamily(
            "carrel_oldest_job_seconds", "Age of the oldest unfinished job.", labels=labels
        )
        for queue in self._jobs.unfinished(connection):
            count.add_metric((queue.name, queue.state), queue.count)
            age.add_metric((queue.name, queue.state), queue.oldest_seconds)
        yield count
        yield age


class _Parts(_Unannounced):
    """The state of each part that the server needs."""

    def __init__(self, server: Server, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop

    def collect(self) -> Iterable[Metric]:
        """Return the reachable parts and model addresses."""
        future = asyncio.run_coroutine_threadsafe(self._look(), self._loop)
        return future.result(_PARTS_SECONDS)

    async def _look(self) -> list[Metric]:
        server = self._server
        database, blobs, models = await asyncio.gather(
            _answers(server.database.read(lambda connection: connection.scalar(sa.select(1)))),
            _answers(server.blobs.check()),
            server.engine.health(),
        )
        parts = {
            "database": database,
            "blobs": blobs,
            "model": any(models.values()),
            "ocr": not server.reader.ocr_failed,
        }
        return [
            _gauge("up", "1 if this part works.", parts, "part"),
            _gauge("model_up", "1 if this address of models answers.", models, "address"),
        ]


async def _answers(asked: Awaitable[object]) -> float:
    try:
        async with asyncio.timeout(_PARTS_SECONDS / 2):
            await asked
    except Exception as failure:
        log.warning("metrics: a part does not answer: %s", type(failure).__name__)
        return 0.0
    return 1.0


class _Process(Collector):
    """The connections, disk space and version of this process."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder

    def collect(self) -> Iterable[Metric]:
        """Yield the connections, the disk and the version."""
        yield _gauge("build_info", "The version.", {version("carrel"): 1}, "version")
        pool = self._database.engine.pool
        assert isinstance(pool, QueuePool)
        connections = {"used": pool.checkedout(), "most": pool.size()}
        yield _gauge("database_connections", "Connections of the pool.", connections, "state")
        free = shutil.disk_usage(self._folder).free
        yield _gauge("disk_free_bytes", "Free space of the data folder's disk.", free)


def _gauge(
    name: str, help: str, value: float | Mapping[str, float], label: str | None = None
) -> Metric:
    """Return a gauge, with one value or one for each value of a label."""
    family = GaugeMetricFamily(f"carrel_{name}", help, labels=(label,) if label else ())
    for key, number in value.items() if isinstance(value, Mapping) else [("", value)]:
        family.add_metric((key,) if label else (), float(number))
    return family
