"""Batch jobs in the form of the chat dialect."""

from typing import Any, Literal

from pydantic import ConfigDict

from carrel.wire.base import JSONObject, Request, ResponseModel, Text
from carrel.wire.batches import BatchJob
from carrel.wire.id_lists import IdList

ChatBatchStatus = Literal[
    "validating", "in_progress", "completed", "expired", "cancelling", "cancelled"
]

WINDOW_HOURS = 24

_STATUSES: dict[str, ChatBatchStatus] = {
    "QUEUED": "validating",
    "RUNNING": "in_progress",
    "SUCCESS": "completed",
    # Every request failed; the error file tells why.
    "FAILED": "completed",
    "TIMEOUT_EXCEEDED": "expired",
    "CANCELLATION_REQUESTED": "cancelling",
    "CANCELLED": "cancelled",
}


class ChatBatchCreate(Request):
    """A new batch over the lines of a stored file; other fields have no effect."""

    model_config = ConfigDict(extra="allow", frozen=True)

    input_file_id: Text
    endpoint: Text
    completion_window: Literal["24h"] = "24h"
    metadata: JSONObject | None = None


class RequestCounts(ResponseModel):
    total: int
    completed: int
    failed: int


class ChatBatch(ResponseModel):
    """A batch. Times are UNIX timestamps."""

    id: str
    object: str = "batch"
    endpoint: str
    model: str | None = None
    errors: JSONObject | None = None
    input_file_id: str
    completion_window: str = "24h"
    status: ChatBatchStatus
    output_file_id: str | None = None
    error_file_id: str | None = None
    created_at: int
    in_progress_at: int | None = None
    expires_at: int
    completed_at: int | None = None
    expired_at: int | None = None
    cancelled_at: int | None = None
    request_counts: RequestCounts
    metadata: dict[str, Any] | None = None

    @classmethod
    def of(cls, job: BatchJob) -> "ChatBatch":
        """Return a batch job under the dialect's names."""
        status = _STATUSES.get(job.status, "in_progress")
        ended: dict[str, Any] = {f"{status}_at": job.completed_at} if status in _ENDED else {}
        return cls(
            id=job.id,
            endpoint=job.endpoint,
            model=job.model,
            input_file_id=next(iter(job.input_files), ""),
            status=status,
            output_file_id=job.output_file,
            error_file_id=job.error_file,
            created_at=job.created_at,
            in_progress_at=job.started_at,
            expires_at=job.created_at + WINDOW_HOURS * 3600,
            request_counts=RequestCounts(
                total=job.total_requests,
                completed=job.succeeded_requests,
                failed=job.failed_requests,
            ),
            metadata=job.metadata,
            **ended,
        )


_ENDED = ("completed", "expired", "cancelled")


class ChatBatchList(IdList[ChatBatch]):
    """A page of batches."""
