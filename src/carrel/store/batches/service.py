"""The batch jobs of a service: watched while they run, cancelled, fetched."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
import uuid
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from carrel.client.http.errors import ClientError, NotFound, ServiceError, Unreachable
from carrel.store.activity.service import ActivityEntry
from carrel.store.activity.uploads import retry_while_lost
from carrel.store.batches.formatting import item_of, job_name, read_words
from carrel.store.cache.copies import DocumentSource
from carrel.store.core.actions.action import Policy, Service, action
from carrel.store.core.actions.handle import Handle
from carrel.store.core.formatting import counted
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.documents.reader import HOSTED_MODEL, USUAL, DocumentReader, OCROptions
from carrel.store.files.service import FilesService
from carrel.store.journal.entries import Entry
from carrel.store.shared import Area, Shared
from carrel.system.atomic import write_private
from carrel.system.filenames import file_name

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.batches import BatchJob

LOOK = 5.0
"""Seconds between two polls of running jobs."""
SHOWN = 50
"""Number of newest jobs that are listed."""
_OPTIONS, _MARK = "carrel_ocr", "carrel_submission"
"""Metadata keys of a job's OCR options, and of the submission that made it."""
SUBMIT = "submit a batch job"
"""Name of the task in the journal."""
_LINE = 64 * 1024 * 1024
"""Longest unfinished line in memory; a file with a longer one is not read further."""


@dataclass(frozen=True, slots=True)
class BatchesState:
    """The newest jobs, newest first; empty if the service has no batch jobs."""

    jobs: tuple[BatchJob, ...] = ()
    error: Problem | None = None


class SubmittedJobs:
    """Ids of a profile's submitted jobs, on disk. Safe to use from several threads."""

    def __init__(self, state: Path, profile: str) -> None:
        self._path = state / "batches" / f"{quote(profile, safe=' ')}.json"
        self._lock = threading.Lock()

    def all(self) -> frozenset[str]:
        """Return the ids."""
        return frozenset(self._read())

    def add(self, job_id: str) -> None:
        """Save a job's id.

        Raises:
            OSError: the file cannot be written.
        """
        with self._lock:
            self._write([*self._read(), job_id])

    def remove(self, job_id: str) -> None:
        """Forget a job whose pages have arrived or never will.

        Raises:
            OSError: the file cannot be written.
        """
        with self._lock:
            self._write([one for one in self._read() if one != job_id])

    def _read(self) -> list[str]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        return [str(one) for one in found] if isinstance(found, list) else []

    def _write(self, ids: list[str]) -> None:
        write_private(self._path, json.dumps(ids))


logger = logging.getLogger(__name__)


class BatchesService(Area, Service[BatchesState]):
    """Shows batch jobs in Activity and stores the pages of finished OCR jobs as readings."""

    def __init__(self, shared: Shared, files: FilesService) -> None:
        super().__init__(shared, BatchesState())
        self._reader = DocumentReader(shared.session, shared.results)
        self._submitted = SubmittedJobs(shared.profile.folders.state, shared.profile.storage_name)
        self._files = files
        shared.activity.set_task(SUBMIT, self._read_left)
        self._ended: set[str] = set()
        """Ids of jobs that were shown as ended: a dismissed one is not shown again."""

    # A running poll may have begun before this job was submitted.
    @action(Policy.RENEW)
    async def load(self) -> None:
        """Load the newest jobs; poll while one of them runs or lacks its pages."""
        waited_for = await asyncio.to_thread(self._submitted.all)
        again = bool(waited_for)
        try:
            again |= await self._load_jobs(waited_for)
        finally:
            if again:
                self._look_again()

    async def _load_jobs(self, waited_for: Collection[str]) -> bool:
        """Load the jobs once; return whether one of them still runs."""
        from carrel.wire.batches import BatchQuery

        client = await self._session.client()
        try:
            page = await client.batches.list(BatchQuery(page_size=SHOWN))
        except Unreachable:
            raise
        except ServiceError as error:
            if error.status not in (404, 405, 501):
                raise
            return False  # a service without batch jobs
        except ClientError as error:
            logger.info("the batch jobs were not understood: %s", error)
            return False
        self._show(page.data)
        for job in (*page.data, *await self._older(client, waited_for, page.data)):
            if job.id in waited_for and not job.running:
                self._collect(job)
        return any(job.running for job in page.data)

    async def _older(
        self, client: Client, ids: Collection[str], newest: Sequence[BatchJob]
    ) -> list[BatchJob]:
        """Return the jobs of these ids that are not among the newest; forget deleted ones."""
        found = []
        for id in {*ids} - {job.id for job in newest}:
            try:
                found.append(await client.batches.get(id))
            except NotFound:
                await asyncio.to_thread(self._submitted.remove, id)
        return found

    @action(Policy.JOIN)
    async def resume(self) -> None:
        """Continue to wait for the OCR jobs that an earlier run submitted."""
        if await asyncio.to_thread(self._submitted.all):
            self.load()

    @action(Policy.BESIDE, changes=True)
    async def cancel(self, job_id: str) -> None:
        """Ask the service to cancel a job; answers that it already has are kept."""
        client = await self._session.client()
        self._put(await client.batches.cancel(job_id))
        self._look_again()

    @action(Policy.BESIDE)
    async def save(self, job_id: str, folder: Path) -> tuple[Path, ...]:
        """Save a job's answers and errors in an existing folder without overwriting files."""
        client = await self._session.client()
        job = await client.batches.get(job_id)
        wanted = [
            (f"{file_name(job.id, 'batch')}-{kind}.jsonl", file_id)
            for kind, file_id in (("answers", job.output_file), ("errors", job.error_file))
            if file_id is not None
        ]
        if not wanted:
            raise ProblemError(_explain_missing_answers(job))
        begun = [self._files.download(file_id, folder, name) for name, file_id in wanted]
        return tuple([await saving.linked() for saving in begun])

    def read(self, sources: Sequence[DocumentSource], options: OCROptions = USUAL) -> Handle[str]:
        """Submit files to OCR as one job and return its id; the pages are stored when it ends."""
        return self._begin_reading(sources, options, uuid.uuid4().hex)

    def _begin_reading(
        self,
        sources: Sequence[DocumentSource],
        options: OCROptions,
        mark: str,
        left: Entry | None = None,
        *,
        again: bool = False,
    ) -> Handle[str]:
        entry = self._activity.begin(
            "batch",
            f"OCR of {counted(len(sources), 'file')}",
            task=SUBMIT,
            needs={
                "sources": [asdict(source) for source in sources],
                "options": asdict(options),
                "mark": mark,
            },
            left=left,
        )
        handle = entry.follow(
            self._read(sources, options, mark, entry, again),
            lambda: self._begin_reading(sources, options, mark, again=True),
        )

        def show_job_only(ended: Handle[str]) -> None:
            if ended.outcome == "done":
                self._activity.dismiss(entry.id)

        handle.add_done_callback(show_job_only)
        return handle

    def _read_left(self, entry: Entry) -> Handle[str]:
        sources = [DocumentSource(**source) for source in entry.needs["sources"]]
        options = OCROptions(**entry.needs["options"])
        return self._begin_reading(sources, options, entry.needs["mark"], entry)

    @action(Policy.BESIDE, changes=True)
    async def _read(
        self,
        sources: Sequence[DocumentSource],
        options: OCROptions,
        mark: str,
        entry: ActivityEntry,
        again: bool,
    ) -> str:
        await entry.secure()
        may_be_there = again or entry.left

        async def submit() -> BatchJob:
            nonlocal may_be_there
            client = await self._session.client()
            if may_be_there and (there := await _find_marked(client, mark)):
                return there
            # The job may be made although the answer is lost.
            may_be_there = True
            return await self._submit(client, sources, options, mark)

        job = await retry_while_lost(self._session, entry, submit)
        await asyncio.to_thread(self._submitted.add, job.id)
        self._put(job)
        self._look_again()
        return job.id

    async def _submit(
        self, client: Client, sources: Sequence[DocumentSource], options: OCROptions, mark: str
    ) -> BatchJob:
        from carrel.wire.batches import BatchCreate, BatchLine

        hosted = self._session.slice.value.hosted
        lines = []
        for source in sources:
            request = await self._reader.request(source, options.wanted_pages(None), options)
            lines.append(BatchLine(custom_id=source.id, body=request.body()))
        return await client.batches.create(
            BatchCreate(
                endpoint="/v1/ocr",
                requests=lines,
                model=HOSTED_MODEL if hosted else None,
                metadata={_OPTIONS: asdict(options), _MARK: mark},
            )
        )

    @action(Policy.QUEUE)
    async def _collect(self, job: BatchJob) -> None:
        """Store the pages of a finished OCR job as if each file had been read alone."""
        if job.id not in await asyncio.to_thread(self._submitted.all):
            return  # an earlier poll collected them
        read = 0
        if job.output_file is not None:
            # Deleted answers are not waited for.
            with contextlib.suppress(NotFound):
                read = await self._keep_all(job, job.output_file)
        await asyncio.to_thread(self._submitted.remove, job.id)
        failed = job.total_requests - read
        self._notifications.notify(read_words(read, failed), "error" if failed else "info")

    async def _keep_all(self, job: BatchJob, output_file: str) -> int:
        """Store the pages of a job's answers; return the number of files that have pages."""
        from pydantic import ValidationError

        options = _options_of(job)
        read = 0
        async for line in _lines(await self._session.client(), output_file):
            try:
                read += await self._keep(line, options)
            except (ValidationError, KeyError, TypeError) as error:
                logger.info("a line of the batch %s was not understood: %s", job.id, error)
            except NotFound:
                logger.info("a file of the batch %s is gone", job.id)
        return read

    async def _keep(self, line: dict[str, Any], options: OCROptions) -> int:
        """Store the pages of one answer; return 1 if it has any, else 0."""
        from carrel.wire.ocr import OCRResult

        source = DocumentSource("file", str(line["custom_id"]), str(line["custom_id"]))
        result = OCRResult.model_validate(line["response"]["body"])
        copy = await self._copies.fetch(source)
        await self._reader.keep(source, self._reader.key(copy, options), result, options)
        return 1

    @action(Policy.LATEST)
    async def _look_again(self) -> None:
        await asyncio.sleep(LOOK)
        self.load()

    def _show(self, jobs: Sequence[BatchJob]) -> None:
        for job in reversed(jobs):
            self._show_one(job)
        self.slice.set(jobs=tuple(jobs), error=None)

    def _put(self, job: BatchJob) -> None:
        self._show_one(job)
        others = (one for one in self.slice.value.jobs if one.id != job.id)
        self.slice.set(jobs=(job, *others))

    def _show_one(self, job: BatchJob) -> None:
        item = item_of(job)
        if job.id in self._ended and self._activity.find(item.id) is None:
            return
        self._activity.show(item)
        if job.running:
            self._activity.set_cancel(item.id, lambda: self.cancel(job.id))
        else:
            self._ended.add(job.id)


async def _find_marked(client: Client, mark: str) -> BatchJob | None:
    """Return the job that an earlier try to submit has made, or None."""
    async for job in client.batches.every():
        if (job.metadata or {}).get(_MARK) == mark:
            return job
    return None


def _explain_missing_answers(job: BatchJob) -> Problem:
    if job.running:
        advice = "Its answers can be saved when it has ended."
        return Problem("Not saved", f"{job_name(job)}: the job still runs.", advice)
    return Problem("Not saved", f"{job_name(job)}: the job has no answers and no failures.")


def _options_of(job: BatchJob) -> OCROptions:
    """Return a job's OCR options, or the defaults if they cannot be parsed."""
    given = (job.metadata or {}).get(_OPTIONS)
    with contextlib.suppress(TypeError):
        return OCROptions(**given) if isinstance(given, dict) else USUAL
    return USUAL


async def _lines(client: Client, file_id: str) -> AsyncIterator[dict[str, Any]]:
    """Yield the JSON objects of a batch file's lines."""
    rest = b""
    async with client.files.content(file_id) as content:
        async for chunk in content:
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if (found := _object(line)) is not None:
                    yield found
            if len(rest) > _LINE:
                return
    if (found := _object(rest)) is not None:
        yield found


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
