"""Documents a second from upload to `done`, through the real server on this machine's cores.

Small digital documents: PDFs of one page, Markdown and Word files in equal parts, each with text
of its own, uploaded by eight connections. The floor is the parsers alone: the same documents
read one after another in each of as many places as the server has.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.report import Figure
from carrel.server.reading.options import ReadOptions
from carrel.server.reading.reader import Reader
from support.documents import digital_pdf, docx
from support.libraries import LibraryUnderTest, connect, new_library
from support.process import serve

DOCUMENTS = 240
PROMISED = 20
_CONNECTIONS = 8


def measure() -> Iterable[Figure]:
    """The rate, its ratio to reading alone, and how long a single document takes."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        paths = documents(folder)
        alone = DOCUMENTS / asyncio.run(_read_all(paths))
        with serve(folder / "data") as server, connect(server) as http:
            library = new_library(http)
            library.processed("warm.pdf", paths[0].read_bytes() + b"\n")
            began = time.perf_counter()
            with ThreadPoolExecutor(_CONNECTIONS) as pool:
                list(pool.map(lambda path: library.add(path.name, path.read_bytes()), paths))
            until_done(library)
            rate = DOCUMENTS / (time.perf_counter() - began)
            began = time.perf_counter()
            library.processed("one.md", b"One more, on an idle server.")
            single = time.perf_counter() - began
    yield Figure("documents a second, upload to done", rate, PROMISED)
    yield Figure("ratio to reading alone", rate / alone, detail=f"{alone:.1f} a second")
    yield Figure("one document on an idle server, s", single, better="lower")


def documents(folder: Path) -> list[Path]:
    """The documents, in a folder."""
    return [_document(folder, number) for number in range(DOCUMENTS)]


def _document(folder: Path, number: int) -> Path:
    text = f"Garden {number} has {number * 7} trees, and its keeper writes down every leaf. " * 12
    match number % 3:
        case 0:
            return digital_pdf(folder / f"{number}.pdf", 1, text)
        case 1:
            return docx(folder / f"{number}.docx", text)
    path = folder / f"{number}.md"
    path.write_text(f"# Garden {number}\n\n{text}", encoding="utf-8")
    return path


async def _read_all(paths: list[Path]) -> float:
    reader = Reader()
    options = ReadOptions(include_blocks=True)
    try:
        await reader.read(paths[0], mimetype=None, options=options)
        began = time.perf_counter()
        await asyncio.gather(
            *(reader.read(path, mimetype=_KINDS[path.suffix], options=options) for path in paths)
        )
        return time.perf_counter() - began
    finally:
        await reader.stop()


_KINDS = {
    ".pdf": "application/pdf",
    ".md": "text/markdown",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}


def until_done(library: LibraryUnderTest) -> None:
    """Returns once every document is done."""
    pages = range(1 + (DOCUMENTS + 1) // 100)
    while True:
        found = [item for page in pages for item in library.documents(page=page)["data"]]
        failed = [item for item in found if item["process_status"] == "error"]
        assert not failed, failed
        if all(item["process_status"] == "done" for item in found):
            return
        time.sleep(0.1)
