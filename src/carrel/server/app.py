"""The application: every route, one shape for every error."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib.metadata import version

from fastapi import FastAPI
from starlette.routing import Route

from carrel.server.assembly import Server
from carrel.server.batches.calls import call
from carrel.server.errors import install_error_handlers
from carrel.server.http.middleware import Authenticate, BodyGuard, RequestLogging, is_open
from carrel.server.http.openapi import ERRORS, KEYED_ERRORS, describe
from carrel.server.http.ratelimit import RateLimit
from carrel.server.routes import (
    absent,
    agents,
    batches,
    completions,
    conversations,
    docs,
    documents,
    embeddings,
    files,
    health,
    leases,
    libraries,
    mcp,
    models,
    ocr,
    responses,
    signed,
    trash,
    users,
)

_KEYED = [
    area.router
    for area in (
        files,
        agents,
        completions,
        responses,
        embeddings,
        models,
        ocr,
        libraries,
        documents,
        batches,
        conversations,
        leases,
        trash,
        users,
        absent,
    )
]
_OPEN = [area.router for area in (signed, health, docs)]


def create_app(server: Server) -> FastAPI:
    """The application over a server's parts; its lifespan starts and stops them."""

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
        title="Carrel", version=version("carrel"), lifespan=lifespan, docs_url=None, redoc_url=None
    )
    app.state.server = server
    app.router.routes.append(Route(mcp.PATH, door))
    for router in _KEYED:
        app.include_router(router, responses=KEYED_ERRORS)
    for router in _OPEN:
        app.include_router(router, responses=ERRORS)
    app.openapi = cache(partial(describe, app, (*_KEYED, *_OPEN), is_open))  # type: ignore[method-assign]
    install_error_handlers(app)
    server.batches.answer_with(partial(call, _operations(server)))
    # The last one added is the outermost.
    app.add_middleware(RateLimit, limits=lambda: server.settings.limits)
    app.add_middleware(Authenticate, access=server.access)
    app.add_middleware(BodyGuard, limit=lambda: server.settings.limits.body_bytes)
    app.add_middleware(RequestLogging)
    return app


def _operations(server: Server) -> FastAPI:
    """The operations that a batch may call: without keys and limits, which its maker has passed."""
    app = FastAPI(openapi_url=None)
    app.state.server = server
    for area in (completions, embeddings, ocr):
        app.include_router(area.router)
    install_error_handlers(app)
    return app
