"""OCR of a folder's documents in turn, except finished ones."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from carrel.cli import output
from carrel.cli.errors import CommandError
from carrel.client.http.errors import ClientError, Unauthorized, Unreachable
from carrel.system.hashes import sha256
from carrel.system.jsonl import read_lines

LEDGER = ".carrel-ocr.jsonl"
"""File in the results' folder with a line for every finished document."""

_OFFICE = {".docx", ".epub", ".odp", ".ods", ".odt", ".pptx", ".xls", ".xlsx"}
_PICTURES = {".bmp", ".gif", ".heic", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}
_TEXTS = {".csv", ".eml", ".htm", ".html", ".md", ".tsv", ".txt"}
_KINDS = {".pdf", *_OFFICE, *_PICTURES, *_TEXTS}

Read = Callable[[Path, Path, str], Awaitable[Path]]
"""Function that reads a document, given its path, its path within the folder, and its label;
returns the result."""


class _Ledger:
    """The finished documents, by path, content hash and options."""

    def __init__(self, out: Path, manner: str) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self._out = out
        self._manner = manner
        self._done: dict[str, dict[str, str]] = {}
        for entry in read_lines(out / LEDGER):
            with suppress(TypeError, KeyError):  # written by another program
                self._done[entry["document"]] = entry

    def is_done(self, document: str, hash: str) -> bool:
        """Return whether the result exists and is current."""
        entry = self._done.get(document, {})
        return (
            entry.get("sha256") == hash
            and entry.get("manner") == self._manner
            and (self._out / entry.get("result", "")).is_file()
        )

    def add(self, document: str, hash: str, result: Path) -> None:
        entry = {
            "document": document,
            "sha256": hash,
            "manner": self._manner,
            "result": result.relative_to(self._out).as_posix(),
        }
        self._done[document] = entry
        with (self._out / LEDGER).open("a", encoding="utf-8") as file:
            # Line break first: an earlier truncated line spoils only itself.
            file.write("\n" + json.dumps(entry, ensure_ascii=False))


async def read_folder(
    folder: Path, out: Path, kept_out: list[Path], manner: str, read: Read
) -> None:
    """Read the documents of a folder and print the path of each result.

    `manner` is the stamp of the options: results with another are made again. `kept_out` are
    subfolders with results, which are skipped.

    Raises:
        CommandError: some could not be read; they were printed with their reasons.
    """
    documents = await asyncio.to_thread(_documents, folder, kept_out)
    if not documents:
        raise CommandError(f"There are no documents in the folder “{folder}”.")
    ledger = _Ledger(out, manner)
    done, before, failures = 0, 0, list[str]()
    try:
        for number, path in enumerate(documents, 1):
            place = path.relative_to(folder)
            label = f"{number} of {len(documents)}, {place.as_posix()}"
            try:
                hash = await asyncio.to_thread(sha256, path)
                if ledger.is_done(place.as_posix(), hash):
                    before += 1
                    continue
                result = await read(path, place, label)
            except Exception as error:
                failures.append(f"{place.as_posix()}: {_reason(error)}")
                continue
            ledger.add(place.as_posix(), hash, result)
            done += 1
            output.data(str(result))
    except asyncio.CancelledError:
        output.note(f"Stopped: {done + before} of {len(documents)} documents are done.")
        output.note("Run the same command again to continue.")
        raise
    there = f" {before} {'was' if before == 1 else 'were'} there already." if before else ""
    output.note(f"Read {done} of {len(documents)} documents.{there}")
    if failures:
        output.note("Not read:")
        for failure in failures:
            output.note(f"  {output.one_line(failure)}")
        count = len(failures)
        raise CommandError(
            f"{count} {'document' if count == 1 else 'documents'} could not be read."
        )


def _reason(error: Exception) -> str:
    """Return the reason why a document was not read.

    Raises:
        Exception: the error itself, if it is not about the document.
    """
    if isinstance(error, ClientError) and not isinstance(error, Unauthorized | Unreachable):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}."
    raise error


def _documents(folder: Path, kept_out: list[Path]) -> list[Path]:
    """Return the visible files of known kinds, sorted by path."""
    inside = folder.resolve()
    results = [path.resolve() for path in kept_out if inside in path.resolve().parents]
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in _KINDS
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
        and not any(path.resolve().is_relative_to(result) for result in results)
    )
