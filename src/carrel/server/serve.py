"""Runs a server until it is told to stop."""

import asyncio
import errno
import gc
import ipaddress
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType

import uvicorn

from carrel.server.app import create_app
from carrel.server.assembly import Server
from carrel.server.blobs.store import BlobsUnavailable
from carrel.server.datadir.folder import DataFolder, FolderError, FolderInUse
from carrel.server.datadir.logs import log_to
from carrel.server.http.protocol import Protocol
from carrel.server.monitoring.enable import WatchingError, monitor
from carrel.server.records.cluster.shared import SharedDatabaseError, join
from carrel.server.records.sql.migrate import migrate
from carrel.server.settings import FolderSettings, ServerSettings, ServerSettingsError
from carrel.system.atomic import write_private

log = logging.getLogger(__name__)

EXIT_FAILED = 1
EXIT_IN_USE = 3
"""Another server has the data folder."""
_GRACE_SECONDS = 5
"""Time for running requests at a stop."""
_TICK_SECONDS = 1
"""Seconds that the `Date` of an answer may be late."""


def run(settings: ServerSettings) -> int:
    """Serve until SIGTERM or SIGINT and return the exit code of the process."""

    def serve(server: Server) -> None:
        with _listen_again(settings.host, settings.port, server.folder) as listener:
            asyncio.run(_serve(server, listener))

    return _run("carrel serve", settings, serve)


def work(settings: ServerSettings) -> int:
    """Take jobs of a shared database until SIGTERM or SIGINT and return the exit code."""
    return _run("carrel worker", settings, lambda server: asyncio.run(_work(server)))


def _run(command: str, settings: ServerSettings, run: Callable[[Server], None]) -> int:
    # Set before numpy loads: a search is one small product, whose threads would spin.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.umask(0o077)
    try:
        with DataFolder(settings.data) as folder:
            log_to(folder, settings.log_format, stdout=settings.log_stdout)
            _prepare_records(settings, folder)
            run(Server(settings, folder))
    except (
        FolderError,
        ListenError,
        ServerSettingsError,
        SharedDatabaseError,
        WatchingError,
    ) as error:
        print(f"{command}: {error}", file=sys.stderr)
        return EXIT_IN_USE if isinstance(error, FolderInUse) else EXIT_FAILED
    return 0


def _prepare_records(given: ServerSettings, folder: DataFolder) -> None:
    settings = given.with_folder(FolderSettings.load(folder.settings_file))
    if settings.database is None:
        if settings.no_worker:
            raise ServerSettingsError("--no-worker leaves the work to others: add --database.")
        migrate(folder)
    elif settings.blobs is None:
        raise ServerSettingsError(
            "The servers of a database share the bytes of files, too. Add --blobs s3://BUCKET/PREFIX."
        )
    else:
        join(folder, settings.database)


class ListenError(Exception):
    """Listening on the address failed."""


def _listen_again(host: str, port: int, folder: DataFolder) -> socket.socket:
    """Listen on the port; without one, on the last port if it is free."""
    last = folder.port
    if port == 0 and last:
        with suppress(ListenError):
            return _listen(host, last)
    listener = _listen(host, port)
    folder.port = listener.getsockname()[1]
    return listener


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=512)
    except (OSError, OverflowError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).partition(" (")[0]
        # create_server raises an OSError with the number of a gaierror, which is negative.
        number = getattr(error, "errno", None) or 0
        wrong_host = number < 0 or number == errno.EADDRNOTAVAIL
        other = "--host of this machine" if wrong_host else "--port, or 0 for a free one"
        raise ListenError(
            f"cannot listen on {host}:{port}: {reason}. Choose another {other}."
        ) from error
    listener.set_inheritable(False)
    # Inherited by connections. asyncio sets it on its own listeners only; without it the end of
    # an answer waits up to 40 ms for the acknowledgement of its beginning.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


async def _refuse_strangers(server: Server, listener: socket.socket) -> None:
    """Refuse to serve other machines while no API key exists."""
    address = listener.getsockname()[0]
    if ipaddress.ip_address(address).is_loopback or await server.access.has_own_keys():
        return
    # An address of a database may hold a password.
    where = "--database URL" if server.database.shared else f"--data {server.folder.path}"
    raise ListenError(
        f"{address} can be reached from other machines, and no key was made for anybody there."
        f" Make one first: carrel keys add NAME {where}"
    )


async def _check_blobs(server: Server) -> None:
    """Check the object store's address and key at start, not with the first upload."""
    try:
        await server.blobs.check()
    except BlobsUnavailable as error:
        raise ServerSettingsError(
            f"{server.settings.blobs} cannot be written to. Check the address, AWS_ENDPOINT_URL"
            f" and the AWS_* credentials; the log in {server.folder.log_folder} says more."
        ) from error


async def _serve(server: Server, listener: socket.socket) -> None:
    await _refuse_strangers(server, listener)
    await _check_blobs(server)
    with monitor(server):
        config = uvicorn.Config(
            create_app(server),
            http=Protocol,
            ws="none",
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=_GRACE_SECONDS,
            server_header=False,
            proxy_headers=bool(server.settings.proxies),
            forwarded_allow_ips=list(server.settings.proxies),
        )
        announce = partial(_announce, server, listener)
        await _Uvicorn(config, announce).serve(sockets=[listener])
    log.info("stopped")


async def _work(server: Server) -> None:
    await _check_blobs(server)
    # Its operations answer the requests of batches.
    create_app(server)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    with monitor(server):
        async with server.running():
            _collect_garbage_seldom()
            log.info("working as %s", server.folder.name)
            print(f"Carrel works as {server.folder.name}", file=sys.stderr)
            await stop.wait()
    log.info("stopped")


def _announce(server: Server, listener: socket.socket) -> None:
    _collect_garbage_seldom()
    host, port = listener.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    address = server.folder.announce(url)
    if server.settings.ready_file is not None:
        ready = {"url": url, "api_key": address["api_key"]}
        write_private(server.settings.ready_file, json.dumps(ready))
    log.info("serving %s at %s", server.folder.path, url)
    print(f"Carrel serves {server.folder.path} at {url}", file=sys.stderr)


def _collect_garbage_seldom() -> None:
    """Begin garbage collection less often: by default it takes a third of a busy server's time."""
    # gc.freeze(): exempt start-up objects from collection.
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


class _Uvicorn(uvicorn.Server):
    """Uvicorn that announces itself, and exits with 0 after a signal."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce
        self._signalled = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()

    async def main_loop(self) -> None:
        # The original looks for its end ten times a second, also on an idle server.
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._signalled.wait(), _TICK_SECONDS)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        # The original raises the signal again after a clean stop, which kills the process.
        def stop(number: int, frame: FrameType | None) -> None:
            self.handle_exit(number, frame)
            loop.call_soon_threadsafe(self._signalled.set)

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
