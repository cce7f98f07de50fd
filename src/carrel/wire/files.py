"""Files: upload, list, retrieve, delete, download, signed address."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from carrel.wire.base import Count, Request, ResponseModel, Text, omitted_when_none

Purpose = Literal[
    "fine-tune", "batch", "ocr", "audio", "assistants", "user_data", "vision", "evals"
]
"""The purpose of a file. The last five come from other clients; the bundled server keeps them."""
SampleType = Literal[
    "pretrain", "instruct", "batch_request", "batch_result", "batch_error", "ocr_input"
]
Source = Literal["upload", "repository", "mistral"]
Visibility = Literal["workspace", "user"]

PURPOSES: tuple[str, ...] = get_args(Purpose)[:3]
"""The purposes that the faces offer."""
SOURCES: tuple[str, ...] = get_args(Source)

SIGNED_URL_HOURS = (1, 168)
"""Bounds of a file's signed address, in hours."""


class File(ResponseModel):
    """A stored file. Enumerations are open: a newer service may answer other words."""

    id: str
    object: str = "file"
    bytes: int | None
    created_at: int
    filename: str
    purpose: Purpose | str
    sample_type: SampleType | str
    source: Source | str
    num_lines: int | None = None
    mimetype: str | None = None
    signature: str | None = None
    expires_at: int | None = None
    visibility: Visibility | str | None = None


class RetrievedFile(File):
    """A file retrieved by its id."""

    deleted: bool


class FileList(ResponseModel):
    """A page of files. `total` is null when it was not asked for; `has_more` is an extension."""

    data: list[File]
    object: str = "list"
    total: int | None = None
    has_more: bool | None = omitted_when_none("Whether there are files after these; an extension")


class SignedURL(ResponseModel):
    """An address that works without a key until it expires."""

    url: Annotated[str, Field(repr=False)]


class FileUpload(Request):
    """The text parts that go with an uploaded file.

    `expiry` is in hours. Without `purpose`, a `.jsonl` is `fine-tune` and anything else `ocr`.
    """

    purpose: Purpose | None = None
    expiry: Annotated[int, Field(ge=1, le=24 * 365 * 10)] | None = None
    visibility: Visibility = "workspace"


class FileQuery(Request):
    """The query of a file list: a page, counted from 0, or the files after `after`."""

    page: Count = 0
    after: Text | None = None
    page_size: Annotated[int, Field(ge=1, le=1000)] = 100
    include_total: bool = True
    sample_type: list[Text] | None = None
    source: list[Text] | None = None
    search: Text | None = None
    purpose: Purpose | None = None
    mimetypes: list[Text] | None = None


class SignedURLQuery(Request):
    """The time that a file's signed address works, in hours."""

    expiry: Annotated[int, Field(ge=SIGNED_URL_HOURS[0], le=SIGNED_URL_HOURS[1])] = 24
