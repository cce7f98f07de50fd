"""The record of an uploaded file: its purpose, its type and its sample type."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from carrel.server.errors import InvalidRequest
from carrel.server.formats.mimetypes import sniff
from carrel.server.records.sql.ids import new_id
from carrel.server.transfer.uploads import ReceivedFile
from carrel.wire.files import FileUpload, Purpose, SampleType

_LINES = "jsonl"


async def describe(
    upload: ReceivedFile, options: FileUpload, path: Path, kept_days: int | None = None
) -> dict[str, Any]:
    """Return the columns of a new file's row, from its name, its bytes and the request.

    Without an expiry it is kept for `kept_days`, or until it is deleted.

    Raises:
        InvalidRequest: a file for fine-tuning is not a `.jsonl`.
    """
    has_lines = upload.filename.lower().endswith(f".{_LINES}")
    purpose: Purpose = options.purpose or ("fine-tune" if has_lines else "ocr")
    if purpose == "fine-tune" and not has_lines:
        raise InvalidRequest(
            ("body", "file"), "A file with the purpose fine-tune must be a .jsonl file."
        )
    now = datetime.now(UTC)
    hours = options.expiry or 24 * (kept_days or 0)
    return {
        "id": new_id(),
        "filename": upload.filename,
        "blob": upload.blob.hash,
        "bytes": upload.blob.size,
        "purpose": purpose,
        "sample_type": await asyncio.to_thread(_sample_type, purpose, path),
        "source": "upload",
        "num_lines": await asyncio.to_thread(_count_lines, path) if has_lines else None,
        "mimetype": (await asyncio.to_thread(sniff, path, upload.filename)).mimetype,
        "visibility": options.visibility,
        "created_at": now,
        "expires_at": now + timedelta(hours=hours) if hours else None,
    }


def _sample_type(purpose: Purpose, path: Path) -> SampleType:
    if purpose == "fine-tune":
        return "pretrain" if _is_plain_text_sample(path) else "instruct"
    return "batch_request" if purpose == "batch" else "ocr_input"


def _is_plain_text_sample(path: Path) -> bool:
    with path.open("rb") as file:
        line = file.readline(1024 * 1024)
    try:
        sample = json.loads(line)
    except ValueError:
        return False
    return isinstance(sample, dict) and "text" in sample and "messages" not in sample


def _count_lines(path: Path) -> int:
    count, last = 0, b"\n"
    with path.open("rb") as file:
        while chunk := file.read(1024 * 1024):
            count += chunk.count(b"\n")
            last = chunk[-1:]
    return count + (last != b"\n")
