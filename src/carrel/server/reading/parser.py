"""The parser process: reads documents, each in a process of its own within tight limits.

Run as `python -m carrel.server.reading.parser`. It says `{"ready": true}`, is sent a request,
`{"path", "mimetype", "options", "ahead", "beyond"}`, and answers `{"page_count"}`, then
`{"page", "ocr"}` for every page, then `{"done"}`; or `{"error", "code"}`. With `ahead` it begins
with the pages that will be asked for next; with `beyond` it may look at others than those asked
for. Between, it may ask for text, regions or a table's cells with `{"look", "width", "height"}` and
RGB pixels, and is answered by the OCR process. After `{"done"}` the document stays open:
`{"options", "ahead", "beyond"}` asks for more of it, `{"close"}` closes it.

To start Python and load the libraries takes ten times longer than to read a small document.
Where the system can copy a process, a copy reads the document and ends, and the next request is
waited for; elsewhere the process ends with its first document.
"""

import gc
import os
import sys
import traceback
from pathlib import Path
from typing import Any, BinaryIO

from PIL import Image

from carrel.server.mimetypes import sniff
from carrel.server.parent import end_with_parent
from carrel.server.reading.office.document import Office
from carrel.server.reading.options import NoSuchPage, ReadOptions, UnreadableDocument
from carrel.server.reading.pdf.document import PDF
from carrel.server.reading.processes.limits import COPIES_READ, limit_this_process
from carrel.server.reading.processes.pipes import PipeMessage, Task, read_message, write_message
from carrel.server.reading.scans.picture import HEIF_BRANDS, Picture

_ALLOCATIONS = 50_000
"""How many more objects than before there may be until the memory of cycles is freed."""
_HEAD = 1024
"""A PDF may begin with so many bytes of something else."""


class Parser:
    """One document, read over two pipes."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._requests = requests
        self._answers = answers
        self._ocr_used = False

    def run(self) -> None:
        """Reads what is asked for and says how it went."""
        self._say({"ready": True})
        while (request := read_message(self._requests)) is not None:
            copy = os.fork() if COPIES_READ else 0
            if copy == 0:
                end_with_parent()
                self._answer(request)
                self._answers.flush()
                # Threads may still be at work on what nobody asks for any more.
                os._exit(0)
            _, status = os.waitpid(copy, 0)
            if status:
                # It may have broken off within a message: what follows could not be understood.
                sys.exit(1)
            self._say({"ready": True})

    def _answer(self, request: PipeMessage) -> None:
        limit_this_process()
        try:
            self._read(request.header)
        except UnreadableDocument as error:
            beyond = isinstance(error, NoSuchPage)
            self._say({"error": error.message, "code": error.code, "beyond": beyond})
        except MemoryError:
            self._say({"error": "This document needs more memory than is allowed to read it."})
        except Exception:
            # The text of an unexpected error is for the log alone.
            self._say({"error": "This document cannot be read.", "trace": traceback.format_exc()})

    def _read(self, request: dict[str, Any]) -> None:
        """Reads pages of a document, as often as is asked for some."""
        with _open(Path(request["path"]), request["mimetype"]) as document:
            while "options" in request:
                options = ReadOptions.from_json(request["options"])
                self._read_pages(
                    document, options, ahead=request["ahead"], beyond=request["beyond"]
                )
                following = read_message(self._requests)
                request = following.header if following else {}

    def _read_pages(
        self,
        document: PDF | Picture | Office,
        options: ReadOptions,
        *,
        ahead: bool,
        beyond: bool,
    ) -> None:
        self._say({"page_count": document.page_count})
        match document:
            case PDF():
                pages = document.pages(options, self._look, ahead=ahead, beyond=beyond)
            case Picture():
                pages = document.pages(options, self._look)
            case Office():
                pages = document.pages(options)
        self._ocr_used = False
        for page in pages:
            self._say({"page": page.model_dump(mode="json"), "ocr": self._ocr_used})
            self._ocr_used = False
        self._say({"done": True})

    def _look(self, task: Task, picture: Image.Image) -> dict[str, Any]:
        self._ocr_used |= task in ("page", "text")
        size = {"width": picture.width, "height": picture.height}
        write_message(self._answers, PipeMessage({"look": task, **size}, picture.tobytes()))
        answer = read_message(self._requests)
        if answer is None:
            raise SystemExit(1)
        return answer.header

    def _say(self, header: dict[str, Any]) -> None:
        write_message(self._answers, PipeMessage(header))


def _open(path: Path, mimetype: str | None) -> PDF | Picture | Office:
    """The document, by what it contains and not by what it is called."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise UnreadableDocument("This file is empty.")
    if b"%PDF-" in head or mimetype == "application/pdf":
        return PDF(path)
    if _is_picture(head):
        return Picture(path)
    return Office(path, mimetype or sniff(path, path.name).mimetype)


def _is_picture(head: bytes) -> bool:
    if head[:4] == b"RIFF":
        return head[8:12] == b"WEBP"
    if head[4:8] == b"ftyp":
        return head[8:12] in HEIF_BRANDS
    beginnings = (b"\x89PNG", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"II+\0", b"MM\0+", b"GIF8")
    # "BM" alone also begins ordinary text.
    return head.startswith(beginnings) or (head[:2] == b"BM" and head[6:10] == bytes(4))


def main() -> None:
    """Reads documents for the server until standard input is closed."""
    end_with_parent()
    answers = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not end up between the messages.
    os.dup2(2, 1)
    # What is loaded stays. A page's thousands of pieces hold no cycles: to look for some after
    # every few hundred, as is usual, would take a tenth of the time.
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS)
    Parser(sys.stdin.buffer, answers).run()


if __name__ == "__main__":
    main()
