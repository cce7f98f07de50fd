"""Liveness and readiness, without a key."""

import asyncio
import logging
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from importlib.metadata import version

import sqlalchemy as sa
from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from carrel.server.assembly import Server
from carrel.server.datadir.reserve import RESERVE_BYTES
from carrel.server.http.openapi import EXTENSION
from carrel.server.routes.dependencies import CurrentServer
from carrel.wire.health import Health, UploadLimits

log = logging.getLogger(__name__)

SILENT_SECONDS = 300
"""Seconds without a heartbeat after which the worker counts as failing."""

_VERSION = version("carrel")

router = APIRouter()


@router.get("/healthz", openapi_extra=EXTENSION)
async def healthz(server: CurrentServer) -> Health:
    """Answer that the server runs, with the limits of uploads and the days of the trash."""
    limits = server.settings.limits
    return Health(
        limits=UploadLimits(file_bytes=limits.file_bytes, document_bytes=limits.bytes_of_document),
        trash_days=limits.trash_days or None,
        version=_VERSION,
    )


@router.get("/readyz", openapi_extra=EXTENSION, responses={503: {}})
async def readyz(server: CurrentServer) -> Response:
    """Tell whether the server can do its work; 503 names the parts that cannot.

    `worker` processes documents: the seconds since its last heartbeat, which comes
    every minute, and the numbers of running and waiting documents.
    """
    failing = []
    for name, check in _CHECKS.items():
        try:
            await check(server)
        except Exception:
            log.exception("%s does not work", name)
            failing.append(name)
    if failing:
        return JSONResponse({"status": "failing", "failing": failing}, 503)
    worker = await server.library.worker()
    return JSONResponse(
        {
            "status": "ok",
            "worker": {**asdict(worker), "silent_seconds": round(worker.silent_seconds)},
        }
    )


async def _worker(server: Server) -> None:
    silent = (await server.library.worker()).silent_seconds
    if silent > SILENT_SECONDS:
        raise RuntimeError(f"the worker gave no sign of life for {silent:.0f} s")
    if server.jobs.lost:
        raise RuntimeError(f"{server.jobs.lost} jobs are taken, and nothing is at them")


async def _disk(server: Server) -> None:
    free = await asyncio.to_thread(shutil.disk_usage, server.folder.path)
    if free.free < RESERVE_BYTES:
        raise RuntimeError(f"{free.free} bytes of disk are left")


_CHECKS: dict[str, Callable[[Server], Awaitable[object]]] = {
    "database": lambda server: server.database.write(lambda it: it.execute(sa.text("SELECT 1"))),
    "blobs": lambda server: server.blobs.check(),
    "worker": _worker,
    "disk": _disk,
}
