"""The application: every route, one shape for every error."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from carrel.server.errors import install_error_handlers
from carrel.server.middleware import RequestLog
from carrel.server.parts import Server
from carrel.server.routes import files, health, leases, signed


def create_app(server: Server) -> FastAPI:
    """The application over a server's parts; its lifespan starts and stops them."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await server.start()
        try:
            yield
        finally:
            await server.stop()

    # No documentation pages: they would load their scripts from elsewhere.
    app = FastAPI(title="Carrel", lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.server = server
    for area in (files, signed, leases, health):
        app.include_router(area.router)
    install_error_handlers(app)
    app.add_middleware(RequestLog)
    return app
