"""Metrics and traces for an operator, each as an option.

Their libraries are extras, imported only where they are asked for.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from carrel.server.assembly import Server

log = logging.getLogger(__name__)


class WatchingError(Exception):
    """Metrics or traces cannot be had; the message says what to do."""


@contextmanager
def monitor(server: Server) -> Iterator[None]:
    """Serve metrics and send traces as the settings say.

    Raises:
        WatchingError: an extra is missing, or the address of the metrics cannot be used.
    """
    given = server.given
    with ExitStack() as stack:
        if given.metrics is not None:
            with _extra("metrics"):
                from carrel.server.monitoring.metrics import MetricsError, serve_metrics
            try:
                address = stack.enter_context(serve_metrics(given.metrics, server))
            except MetricsError as error:
                raise WatchingError(str(error)) from error
            log.info("metrics at %s", address)
            print(f"Metrics are at {address}", file=sys.stderr)
        if given.traces is not None:
            with _extra("traces"):
                from carrel.server.monitoring.traces import export_traces
            stack.enter_context(export_traces(given.traces, server.jobs.executor))
        yield


@contextmanager
def _extra(name: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise WatchingError(
            f"--{name} needs more packages. Install them: pip install 'carrel[server,{name}]'"
        ) from error
