"""The lines of a batch: requests in its input, answers in its files."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from carrel.server.errors import ApiError
from carrel.server.records.batches import AnsweredLine, NewLine
from carrel.wire.batches import BatchLine


def find_lines(inputs: Sequence[tuple[str, Path]]) -> list[NewLine]:
    """Return the requests in some inputs, each with a name and a path; number those without an id.

    Raises:
        ApiError: 400, a line is not a request, an id is there twice, or there are no lines.
    """
    lines = [line for at, (name, path) in enumerate(inputs) for line in _lines(at, name, path)]
    if not lines:
        raise ApiError(400, "This batch has no requests. Put one on each line of its file.")
    named = [
        line if line.custom_id else NewLine(str(number), line.input, line.start, line.length)
        for number, line in enumerate(lines)
    ]
    seen: set[str] = set()
    for line in named:
        if line.custom_id in seen:
            raise ApiError(400, f"The custom_id {line.custom_id[:80]!r} occurs twice.")
        seen.add(line.custom_id)
    return named


def _lines(input: int, name: str, path: Path) -> Iterator[NewLine]:
    start = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield NewLine(_custom_id(line, f"Line {number} of {name}"), input, start, len(line))
            start += len(line)


def _custom_id(line: bytes, where: str) -> str:
    """Return the id of a request, empty if it has none."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        raise ApiError(400, f"{where} is not JSON.") from None
    if not isinstance(request, dict) or not isinstance(request.get("body"), dict):
        raise ApiError(400, f"{where} has no body: it should be an object with body and custom_id.")
    try:
        return BatchLine(custom_id=request.get("custom_id"), body={}).custom_id or ""
    except ValidationError:
        raise ApiError(400, f"{where} has a custom_id that is not a text.") from None


def as_input(requests: Iterable[BatchLine]) -> bytes:
    """Return inline requests as the lines of a file."""
    return b"".join(json.dumps(request.body()).encode() + b"\n" for request in requests)


def read_body(path: Path, line: NewLine) -> dict[str, Any]:
    """Return the body of a request."""
    with path.open("rb") as file:
        file.seek(line.start)
        body: dict[str, Any] = json.loads(file.read(line.length))["body"]
    return body


def as_output(job_id: str, line: AnsweredLine) -> str:
    """Return a line of a batch's file."""
    error = json.dumps({"message": problem(line)}) if line.status >= 400 else "null"
    id, custom_id = json.dumps(f"batch-{job_id}-{line.number}"), json.dumps(line.custom_id)
    # The answer is JSON already, and may be long.
    response = f'{{"status_code": {line.status}, "body": {line.response}}}'
    return f'{{"id": {id}, "custom_id": {custom_id}, "response": {response}, "error": {error}}}\n'


def problem(line: AnsweredLine) -> str:
    """Return the message of a request that failed."""
    answer = json.loads(line.response)
    detail = answer.get("detail")
    if isinstance(detail, list) and detail:
        first = detail[0]
        return f"{'.'.join(map(str, first['loc'][1:]))}: {first['msg']}"
    return str(answer.get("message") or detail)
