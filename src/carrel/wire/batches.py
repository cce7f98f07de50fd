"""Batch jobs: many requests to one operation, worked off in the background."""

from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, model_validator

from carrel.wire.base import Count, JSONObject, Request, ResponseModel, Text

BatchEndpoint = Literal[
    "/v1/ocr", "/v1/chat/completions", "/v1/agents/completions", "/v1/embeddings"
]
"""The operations of the bundled server that a batch can call."""

BatchStatus = Literal[
    "QUEUED",
    "RUNNING",
    "SUCCESS",
    "FAILED",
    "TIMEOUT_EXCEEDED",
    "CANCELLATION_REQUESTED",
    "CANCELLED",
]

ENDPOINTS: tuple[str, ...] = get_args(BatchEndpoint)
UNFINISHED: tuple[str, ...] = ("QUEUED", "RUNNING", "CANCELLATION_REQUESTED")
"""The statuses that are not final."""


class BatchLine(Request):
    """One request of a batch: a line of its file, or inline."""

    custom_id: Text | None = None
    asked: JSONObject = Field(alias="body", description="The body of the request")


class BatchCreate(Request):
    """A new batch: `.jsonl` files of `BatchLine`s that were uploaded, or the lines themselves.

    `model` is for requests without one. With `agent_id` the agent answers requests to
    `/v1/chat/completions`. A batch that is not done after `timeout_hours` ends with what it has.
    """

    endpoint: Text
    input_files: Annotated[list[Text], Field(min_length=1)] | None = None
    requests: Annotated[list[BatchLine], Field(min_length=1, max_length=10_000)] | None = None
    model: Text | None = None
    agent_id: Text | None = None
    metadata: JSONObject | None = None
    timeout_hours: Annotated[int, Field(ge=1, le=24 * 7)] = 24

    @model_validator(mode="after")
    def _check_source(self) -> "BatchCreate":
        if (self.input_files is None) == (self.requests is None):
            raise ValueError("a batch has either input_files or requests")
        return self


class BatchError(ResponseModel):
    """A message of requests that failed, and how many had it."""

    message: str
    count: int = 1


class BatchJob(ResponseModel):
    """A batch. Times are UNIX timestamps; `completed_requests` counts failed ones too.

    `output_file` has a line for each request that was answered, `error_file` one for each that
    failed; a file without lines is not made. `outputs` comes when asked for with `inline`.
    """

    id: str
    object: Literal["batch"] = "batch"
    input_files: list[str]
    metadata: dict[str, Any] | None = None
    endpoint: str
    model: str | None = None
    agent_id: str | None = None
    output_file: str | None = None
    error_file: str | None = None
    errors: list[BatchError]
    outputs: list[dict[str, Any]] | None = None
    status: BatchStatus | str
    created_at: int
    started_at: int | None = None
    completed_at: int | None = None
    total_requests: int
    completed_requests: int
    succeeded_requests: int
    failed_requests: int

    @property
    def running(self) -> bool:
        """Whether it waits or works."""
        return self.status in UNFINISHED


class BatchList(ResponseModel):
    """A page of batches."""

    data: list[BatchJob] = Field(default_factory=list)
    object: Literal["list"] = "list"
    total: int


class BatchQuery(Request):
    """The query of a list of batches; pages count from 0."""

    page: Count = 0
    page_size: Annotated[int, Field(ge=1, le=1000)] = 100
    model: Text | None = None
    agent_id: Text | None = None
    metadata: JSONObject | None = None
    created_after: datetime | None = None
    created_by_me: bool = False
    status: list[Text] | None = None
    order_by: Literal["created", "-created"] = "-created"


class BatchView(Request):
    """The form of a batch: with its `outputs`, or without."""

    inline: bool = False
