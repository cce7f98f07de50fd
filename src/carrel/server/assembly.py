"""The parts of a running server, and the order in which they start and stop."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

from carrel.server import wakes
from carrel.server.batches.service import BatchJobs
from carrel.server.blobs.local import LocalBlobs
from carrel.server.blobs.store import Blobs
from carrel.server.completions.service import CompletionService
from carrel.server.connectors.service import Connectors
from carrel.server.datadir.folder import DataFolder
from carrel.server.datadir.reserve import DiskReserve
from carrel.server.datadir.signing import DerivedKeys, Signer, SigningKeys
from carrel.server.housekeeping.heartbeat import Heartbeat
from carrel.server.housekeeping.leases import Leases
from carrel.server.housekeeping.tasks import stop_when_unused, throw_away, watch_settings
from carrel.server.http.access import Access
from carrel.server.jobs import Jobs
from carrel.server.library.service import LibraryService
from carrel.server.library.summaries import Summaries
from carrel.server.models.address import ModelAddress
from carrel.server.models.engine import Engine
from carrel.server.models.vectors.embeddings import vectors_at_address
from carrel.server.ocr.service import OCRService
from carrel.server.reading.reader import Reader
from carrel.server.reading.results import Results
from carrel.server.records.cluster.reserve import Reserve, TableReserve
from carrel.server.records.sql.database import Database
from carrel.server.records.sql.queues import address_of
from carrel.server.responses.background import BackgroundResponses
from carrel.server.settings import FolderSettings, ServerSettings, ServerSettingsError
from carrel.server.transfer.fetched import FetchedDocuments
from carrel.server.vision.reader import VisionReader


class Server:
    """The parts of a server, as routes use them."""

    def __init__(self, given: ServerSettings, folder: DataFolder) -> None:
        """Build the parts over an open data folder and start nothing.

        Raises:
            ServerSettingsError: the settings cannot be used.
        """
        self.given = given
        """The settings of the command line."""
        self.settings = settings = given.with_folder(FolderSettings.load(folder.settings_file))
        """The settings in force, from the command line and the data folder."""
        self.folder = folder
        self.database = database = Database(settings.database or folder.database_url)
        self.blobs = _blobs(settings, folder, database)
        self.reserve: Reserve = (
            TableReserve(database.engine) if database.shared else DiskReserve(folder.reserve_file)
        )
        self.signer = Signer(
            DerivedKeys(folder.secret) if settings.database else SigningKeys(folder.signing_file)
        )
        self.access = Access(database, folder.secret)
        self.leases = Leases()
        self.results = Results(folder.pages_file, lambda: self.settings.limits.remembered_bytes)
        self.reader = VisionReader(Reader(self.results), self.results, lambda: self.settings.vision)
        name = folder.name if database.shared else "server"
        self.jobs = Jobs(database.engine, name, takes_jobs=not settings.no_worker)
        self.library = LibraryService(
            database,
            self.blobs,
            self.reader,
            self.jobs,
            # The current engine: changed settings replace it.
            count_tokens=lambda text: self.engine.count_tokens(text),
            ask_address=lambda model, texts: vectors_at_address(self.engine, model, texts),
            has_addresses=lambda: bool(self.engine.addresses),
            reranker=lambda: _reranker(self.settings),
        )
        self.batches = BatchJobs(database, self.blobs, self.jobs, lambda: self.settings.limits)
        self.engine = _engine(settings)
        self.completions = _completions(self.engine, self.library, settings)
        self.responses = BackgroundResponses(database)
        self.ocr = OCRService(
            database,
            self.blobs,
            self.signer,
            FetchedDocuments(folder.fetched_folder),
            self.reader,
            lambda: self.settings,
            lambda: self.engine,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the parts and stop them in reverse order at the end, also after an error."""
        async with AsyncExitStack() as stack:
            stack.callback(self.database.close)
            stack.callback(self.results.close)
            await self.access.admit(self.folder.api_key)
            stack.push_async_callback(lambda: self.engine.stop())
            if self._has_heartbeat:
                # Other processes take over the jobs of a process without a heartbeat.
                await Heartbeat(self.database, self.jobs).beat()
            stack.push_async_callback(self.reader.stop)
            stack.push_async_callback(self.jobs.stop)
            await self.jobs.start()
            stack.push_async_callback(self.batches.stop)
            stack.push_async_callback(self.responses.stop)
            for work in self._background():
                await stack.enter_async_context(_run_in_background(work))
            yield

    @property
    def _has_heartbeat(self) -> bool:
        return self.database.shared and self.jobs.takes_jobs

    def _background(self) -> Iterator[Coroutine[Any, Any, None]]:
        if self._has_heartbeat:
            yield Heartbeat(self.database, self.jobs).run()
        if self.database.shared:
            address = address_of(self.database.engine)
            yield wakes.listen(address, wakes.ANSWERS, self.responses.tell)
        yield from self.library.background()
        yield self.batches.reconcile()
        yield throw_away(
            self.database,
            self.folder,
            self.blobs,
            self.results,
            self.reserve,
            lambda: self.settings.limits,
        )
        yield watch_settings(self.folder.settings_file, self._apply)
        if self.jobs.takes_jobs:
            # A server without jobs cannot see that the workers are busy.
            yield Summaries(self.database, lambda: self.engine, lambda: self.jobs.active > 0).run()
        if self.settings.until_unused:
            # A clean stop, as by SIGTERM from outside.
            stop = partial(signal.raise_signal, signal.SIGTERM)
            yield stop_when_unused(self.leases, self.jobs, stop)

    async def _apply(self, folder_settings: FolderSettings) -> None:
        """Apply changed settings with a new engine and cut off the answers that run."""
        self.settings = self.given.with_folder(folder_settings)
        before, self.engine = self.engine, _engine(self.settings)
        self.completions = _completions(self.engine, self.library, self.settings)
        await before.stop()


def _blobs(settings: ServerSettings, folder: DataFolder, database: Database) -> Blobs:
    if settings.blobs is None:
        return LocalBlobs(folder.blob_folder)
    # Imported only where blobs are kept there.
    from carrel.server.blobs.bucket import Bucket
    from carrel.server.blobs.s3 import S3Blobs

    try:
        bucket = Bucket.of(settings.blobs, os.environ)
        return S3Blobs(bucket, folder.blob_folder, database, signs=settings.store_signs)
    except ValueError as error:
        raise ServerSettingsError(str(error)) from None


def _completions(
    engine: Engine, library: LibraryService, settings: ServerSettings
) -> CompletionService:
    connectors = Connectors(settings.connectors, settings.web_search)
    seconds = settings.limits.completion_seconds
    return CompletionService(engine, library, connectors, seconds=seconds)


def _engine(settings: ServerSettings) -> Engine:
    urls, keys = settings.model_url, settings.model_key
    each = keys if len(keys) > 1 else keys * len(urls) or ("",) * len(urls)
    return Engine(
        model_path=settings.model_path,
        addresses=[
            ModelAddress(url, key or None, settings.model_name)
            for url, key in zip(urls, each, strict=True)
        ],
        first_token_seconds=settings.limits.first_token_seconds,
        strict=settings.strict_models,
    )


def _reranker(settings: ServerSettings) -> ModelAddress | None:
    if settings.rerank_url is None:
        return None
    return ModelAddress(settings.rerank_url, settings.rerank_key, settings.rerank_model)


@asynccontextmanager
async def _run_in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
