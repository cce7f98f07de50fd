"""Formatting of batch jobs as items of Activity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.store.activity.state import ActivityItem, ActivityStatus
from carrel.store.core.formatting import count, counted
from carrel.store.core.problem import Problem

if TYPE_CHECKING:
    from carrel.wire.batches import BatchJob

PREFIX = "job-"
"""Prefix of the item id of a batch job."""
MANY = 2
"""Number of files from which OCR in one batch job is offered."""

NOW = ("now", "Now, file by file", "Each opens as soon as it is read.")
AS_A_BATCH = (
    "batch",
    "As one batch job",
    "Cheaper at most hosted services; may take hours; all results come at the end.",
)
"""The two ways to read many files at a hosted service: id, label and description."""

_NAMES = {
    "/v1/ocr": ("OCR of", "file", "files"),
    "/v1/chat/completions": ("Chat,", "question", "questions"),
    "/v1/agents/completions": ("Agents,", "question", "questions"),
    "/v1/embeddings": ("Embeddings,", "request", "requests"),
}
_STATUSES: dict[str, ActivityStatus] = {
    "QUEUED": "queued",
    "RUNNING": "running",
    "CANCELLATION_REQUESTED": "running",
    "SUCCESS": "done",
    "CANCELLED": "cancelled",
}
_ENDS = {"FAILED": "The batch failed", "TIMEOUT_EXCEEDED": "The batch exceeded its time limit"}


def job_id(item_id: str) -> str | None:
    """Return the job id of an item of Activity, or None for other items."""
    return item_id.removeprefix(PREFIX) if item_id.startswith(PREFIX) else None


def item_of(job: BatchJob) -> ActivityItem:
    """Convert a job to an item of Activity."""
    status = _STATUSES.get(job.status, "failed")
    started = job.started_at or (job.completed_at and job.created_at)
    return ActivityItem(
        f"{PREFIX}{job.id}",
        "batch",
        job_name(job),
        status,
        done=job.completed_requests,
        total=job.total_requests or None,
        unit="items",
        started=started,
        finished=job.completed_at,
        error=_problem(job) if status == "failed" else None,
        facts=tuple(_facts(job)),
        subject=job.id,
    )


def job_name(job: BatchJob) -> str:
    """Return a job's name: `OCR of 12 files`, `Chat, 40 questions`."""
    verb, one, many = _NAMES.get(job.endpoint, (f"{job.endpoint},", "request", "requests"))
    return f"{verb} {counted(job.total_requests, one, many)}"


def read_words(read: int, failed: int) -> str:
    """Return `12 files read by the batch job; 1 failed.`"""
    rest = f"; {count(failed)} failed" if failed else ""
    return f"{counted(read, 'file')} read by the batch job{rest}."


def _facts(job: BatchJob) -> list[tuple[str, str]]:
    facts = []
    if job.status == "CANCELLATION_REQUESTED":
        facts.append(("Stopping", "the answers so far are kept"))
    if job.output_file is not None:
        facts.append(("Answers", count(job.succeeded_requests)))
    if job.failed_requests:
        first = f": {job.errors[0].message}" if job.errors else ""
        facts.append(("Failures", f"{count(job.failed_requests)}{first}"))
    return facts


def _problem(job: BatchJob) -> Problem:
    why = job.errors[0].message if job.errors else ""
    kept = "Its answers and failures can be saved." if job.output_file or job.error_file else None
    return Problem(_ENDS.get(job.status, f"The batch is {job.status}"), why, kept)
