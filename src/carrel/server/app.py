"""The application: every route, one shape for every error."""

import math
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.routing import Route
from starlette.types import Scope

from carrel.server.assembly import Server
from carrel.server.batches.calls import call
from carrel.server.http.cors import Cors
from carrel.server.http.errors import install_handlers
from carrel.server.http.full_disk import FullDisk
from carrel.server.http.hosts import AllowedHosts
from carrel.server.http.large_bodies import LargeBodies
from carrel.server.http.middleware import Authenticate, BodyGuard, RequestLogging, is_open
from carrel.server.http.openapi import describe
from carrel.server.http.ratelimit import RateLimit
from carrel.server.routes import (
    documents,
    files,
    libraries,
    ocr,
    signed,
    trash,
    users,
    vector_stores,
)
from carrel.server.routes.generation import (
    agents,
    batches,
    chat_batches,
    completions,
    conversations,
    models,
    passed_on,
    responses,
)
from carrel.server.routes.service import docs, health, leases, mcp

# The most asked first: a request tries one route after another.
_KEYED = [
    area.router
    for area in (
        completions,
        files,
        libraries,
        documents,
        agents,
        responses,
        models,
        ocr,
        vector_stores,
        batches,
        chat_batches,
        conversations,
        leases,
        trash,
        users,
        passed_on,
    )
]
_UPLOADS = re.compile(r"/v1/files|/v1/libraries/[^/]+/documents")
_OPEN = [area.router for area in (signed, health, docs)]
# The spans and metrics of requests are the middleware's own.
_UNWATCHED: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False}


def create_app(server: Server) -> FastAPI:
    """Return the application over a server's parts; its lifespan starts and stops them."""

    door = mcp.McpDoor(server)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with server.running():
            try:
                yield
            finally:
                await door.close()

    # FastAPI's own documentation pages load scripts from a CDN.
    app = FastAPI(
        title="Carrel",
        version=version("carrel"),
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        telemetry=_UNWATCHED,
    )
    app.state.server = server
    app.router.routes.append(Route(mcp.PATH, door))
    _add_routes(app, (*_KEYED, *_OPEN))
    app.openapi = cache(partial(describe, app.version, _KEYED, _OPEN, is_open))  # type: ignore[method-assign]
    install_handlers(app)
    server.batches.answer_with(partial(call, _operations(server)))
    # The last one added is the outermost.
    app.add_middleware(FullDisk, reserve=server.reserve)
    app.add_middleware(LargeBodies)
    app.add_middleware(RateLimit, limits=lambda: server.settings.limits)
    app.add_middleware(Authenticate, access=server.access)
    app.add_middleware(BodyGuard, limit=partial(_body_limit, server))
    app.add_middleware(Cors, settings=lambda: server.settings)
    app.add_middleware(AllowedHosts, settings=lambda: server.settings)
    app.add_middleware(RequestLogging)
    return app


def _add_routes(app: FastAPI, routers: Iterable[APIRouter]) -> None:
    """Add the routes without their routers: FastAPI matches a request twice in an included one."""
    app.router.routes.extend(route for router in routers for route in router.routes)


def _body_limit(server: Server, scope: Scope) -> float:
    """Return the most bytes that a request's body may have; uploads limit their file themselves."""
    if scope["method"] == "POST" and _UPLOADS.fullmatch(scope["path"]):
        return math.inf
    return server.settings.limits.body_bytes


def _operations(server: Server) -> FastAPI:
    """Return the operations that a batch calls. They need no key: the batch's creator had one."""
    app = FastAPI(openapi_url=None, telemetry=_UNWATCHED)
    app.state.server = server
    _add_routes(app, (completions.router, models.router, ocr.router))
    install_handlers(app)
    return app
