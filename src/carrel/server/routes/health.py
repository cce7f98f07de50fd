"""Is the server there, and can it work. Neither asks for a key."""

import logging
from collections.abc import Awaitable, Callable

import sqlalchemy as sa
from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from carrel.server.openapi import EXTENSION
from carrel.server.parts import Server
from carrel.server.routes.dependencies import CurrentServer

log = logging.getLogger(__name__)

router = APIRouter()


@router.get("/healthz", openapi_extra=EXTENSION)
async def healthz() -> dict[str, str]:
    """The server answers."""
    return {"status": "ok"}


@router.get("/readyz", openapi_extra=EXTENSION, responses={503: {}})
async def readyz(server: CurrentServer) -> Response:
    """The server can write what it must; 503 names the parts that cannot."""
    failing = []
    for name, check in _CHECKS.items():
        try:
            await check(server)
        except Exception:
            log.exception("%s does not work", name)
            failing.append(name)
    if failing:
        return JSONResponse({"status": "failing", "failing": failing}, 503)
    return JSONResponse({"status": "ok"})


async def _database(server: Server) -> None:
    await server.database.write(lambda connection: connection.execute(sa.text("SELECT 1")))


async def _blobs(server: Server) -> None:
    await server.blobs.check()


_CHECKS: dict[str, Callable[[Server], Awaitable[None]]] = {"database": _database, "blobs": _blobs}
