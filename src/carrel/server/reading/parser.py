"""The parser process: reads each document in a process of its own, within tight limits.

Run as `python -m carrel.server.reading.parser`. It sends `{"ready": true}`, receives a request,
`{"path", "mimetype", "options", "ahead", "beyond"}`, and answers `{"page_count"}`, then `{"ocr",
"doubted", "failures"}` with the page in JSON for every page, then `{"done"}`; or `{"error",
"beyond"}`. `ahead` prefetches the next pages; `beyond` permits looking at pages that were not
requested. A request with `pictures`, page numbers, is answered by `{"picture"}` with a JPEG for
each page that has one. In between, it may request the text of a picture with `{"look", "width",
"height"}` and RGB pixels; the OCR process answers. After `{"done"}` the document stays
open: `{"options", "ahead", "beyond"}` or `{"pictures"}` requests more of it, `{"close"}` closes it.

Starting Python and loading the libraries takes ten times longer than reading a small document.
Where the system supports it, a forked copy reads the document and exits, and the parser waits
for the next request; elsewhere the process exits after its first document.
"""

import gc
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from PIL import Image

from carrel.server.formats.mimetypes import sniff
from carrel.server.processes.limits import COPIES_READ, limit_this_process
from carrel.server.processes.parent import claim_output, end_with_parent
from carrel.server.processes.pipes import PipeMessage, as_json, read_message, write_message
from carrel.server.reading.fence import take_doubt, take_failures
from carrel.server.reading.markdown.page_builder import as_jpeg
from carrel.server.reading.office.document import Office, reader_of
from carrel.server.reading.options import NoSuchPage, ReadOptions, UnreadableDocument
from carrel.server.reading.page_model import network
from carrel.server.reading.pdf.document import PDF
from carrel.server.reading.scans.picture import PICTURES, Picture

_ALLOCATIONS = 50_000
"""Net allocations that trigger cyclic garbage collection."""


class Parser:
    """Reads one document at a time over two pipes."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._requests = requests
        self._answers = answers
        self._ocr_used = False

    def run(self) -> None:
        """Answer requests until the pipe closes; without fork, only the first."""
        self._reply({"ready": True})
        while (request := read_message(self._requests)) is not None:
            if COPIES_READ:
                _prepare(request.header.get("mimetype"))
            copy = os.fork() if COPIES_READ else 0
            if copy == 0:
                end_with_parent()
                self._answer(request)
                self._answers.flush()
                # Do not wait for threads: they may be working on pages no longer needed.
                os._exit(0)
            _, status = os.waitpid(copy, 0)
            if status:
                # It may have stopped mid-message: any further output would be unreadable.
                sys.exit(1)
            self._reply({"ready": True})

    def _answer(self, request: PipeMessage) -> None:
        limit_this_process()
        try:
            self._read(request.header)
        except UnreadableDocument as error:
            self._reply({"error": error.message, "beyond": isinstance(error, NoSuchPage)})
        except MemoryError:
            self._reply({"error": "This document needs more memory than is allowed to read it."})
        except Exception:
            # Only the log gets the text of an unexpected error.
            self._reply({"error": "This document cannot be read.", "trace": traceback.format_exc()})

    def _read(self, request: dict[str, Any]) -> None:
        """Read pages of a document for each request, until it is closed."""
        with _open(Path(request["path"]), request["mimetype"]) as document:
            while "options" in request or "pictures" in request:
                if "pictures" in request:
                    self._show_pages(document, request["pictures"])
                else:
                    self._read_pages(document, request)
                following = read_message(self._requests)
                request = following.header if following else {}

    def _read_pages(self, document: PDF | Picture | Office, request: dict[str, Any]) -> None:
        options = ReadOptions.from_json(request["options"])
        ahead, beyond = request["ahead"], request["beyond"]
        self._reply({"page_count": document.page_count})
        match document:
            case PDF():
                pages = document.pages(options, self._look, ahead=ahead, beyond=beyond)
            case Picture():
                pages = document.pages(options, self._look)
            case Office():
                pages = document.pages(options)
        for page in pages:
            failures = take_failures()
            header = {"ocr": self._ocr_used, "doubted": take_doubt(), "failures": failures}
            self._reply(header, as_json(page.model_dump(mode="json")))
            self._ocr_used = False
        self._reply({"done": True})

    def _show_pages(self, document: PDF | Picture | Office, pages: Sequence[int]) -> None:
        if not isinstance(document, Office):
            for index in pages:
                self._reply({"picture": index}, as_jpeg(document.picture(index)))
        self._reply({"done": True})

    def _look(self, picture: Image.Image) -> dict[str, Any]:
        self._ocr_used = True
        size = {"width": picture.width, "height": picture.height}
        write_message(self._answers, PipeMessage({"look": True, **size}, picture.tobytes()))
        answer = read_message(self._requests)
        if answer is None:
            raise SystemExit(1)
        return answer.header

    def _reply(self, header: dict[str, Any], body: bytes = b"") -> None:
        write_message(self._answers, PipeMessage(header, body))


def _prepare(mimetype: str | None) -> None:
    """Import the reader of a format once for all copies: it is lost with a copy that imports it."""
    # A copy that needs a missing library says so to the one who asks.
    with suppress(ImportError):
        if mimetype is None or mimetype == "application/pdf" or mimetype in PICTURES:
            network.load_weights(network.WEIGHTS)
        else:
            reader_of(mimetype)
    gc.freeze()


def _open(path: Path, mimetype: str | None) -> PDF | Picture | Office:
    """Open a document by its content, not its name."""
    if not path.stat().st_size:
        raise UnreadableDocument("This file is empty.")
    found = sniff(path, path.name).mimetype
    if "application/pdf" in (found, mimetype):
        return PDF(path)
    if found in PICTURES:
        return Picture(path)
    return Office(path, mimetype or found)


def main() -> None:
    """Read documents for the server until standard input is closed."""
    end_with_parent()
    answers = claim_output()
    Image.preinit()
    # gc.freeze(): exempt loaded objects from collection. A page's thousands of pieces hold no
    # cycles; collecting after every few hundred, the default, would take a tenth of the time.
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS)
    Parser(sys.stdin.buffer, answers).run()


if __name__ == "__main__":
    main()
