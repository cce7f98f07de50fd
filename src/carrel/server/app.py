"""The application: every route, one shape for every error."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from carrel.server.errors import install_error_handlers
from carrel.server.middleware import Authenticate, BodyGuard, RequestLog
from carrel.server.parts import Server
from carrel.server.routes import (
    agents,
    completions,
    documents,
    files,
    health,
    leases,
    libraries,
    models,
    ocr,
    signed,
)


def create_app(server: Server) -> FastAPI:
    """The application over a server's parts; its lifespan starts and stops them."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with server.running():
            yield

    # No documentation pages: they would load their scripts from elsewhere.
    app = FastAPI(title="Carrel", lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.server = server
    for area in (
        files,
        agents,
        completions,
        models,
        ocr,
        libraries,
        documents,
        signed,
        leases,
        health,
    ):
        app.include_router(area.router)
    install_error_handlers(app)
    # The last one added is the outermost.
    app.add_middleware(Authenticate, access=server.access)
    app.add_middleware(BodyGuard, limit=lambda: server.settings.limits.body_bytes)
    app.add_middleware(RequestLog)
    return app
