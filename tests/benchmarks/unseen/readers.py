"""Who reads: `Reader`, and others that run without a network; each answers with Markdown."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from liteparse import LiteParse

from benchmarks.digital_pages import spent
from carrel.server.reading.options import ReadOptions, UnreadableDocument
from carrel.server.reading.reader import Reader
from conformance.environments import environment, python

PEERS = {"pymupdf4llm": ("pymupdf4llm==1.28.2",), "markitdown": ("markitdown[pdf]==0.1.8",)}


@dataclass(frozen=True)
class Readings:
    """The Markdown of each document, and the processor time in seconds."""

    markdown: list[str]
    seconds: float


def carrel(paths: Sequence[Path]) -> Readings:
    return asyncio.run(_carrel(paths))


async def _carrel(paths: Sequence[Path]) -> Readings:
    reader = Reader()
    found = []
    before = spent()
    for path in paths:
        try:
            options = ReadOptions(table_format="html", extract_header=True, extract_footer=True)
            reading = await reader.read(path, mimetype=None, options=options)
        except UnreadableDocument as error:
            print(f"  {path} is refused: {error.message}", file=sys.stderr)
            found.append("")
            continue
        pages = []
        for page in reading.pages:
            markdown = page.markdown
            for table in page.tables:
                markdown = markdown.replace(f"[{table.id}]({table.id})", table.content)
            pages.append(markdown)
        found.append("\n\n".join(pages))
    seconds = spent().cpu - before.cpu
    await reader.stop()
    return Readings(found, seconds)


def liteparse(paths: Sequence[Path]) -> Readings:
    parser = LiteParse(ocr_enabled=False, output_format="markdown", quiet=True)
    started = time.process_time()
    return Readings([parser.parse(path).text for path in paths], time.process_time() - started)


def peer(name: str) -> Callable[[Sequence[Path]], Readings]:
    """Return a reader in an environment of its own.

    Raises:
        NotInstalled: when it reads and cannot be installed.
    """

    def read(paths: Sequence[Path]) -> Readings:
        script = Path(__file__).with_name("peer.py")
        command = [str(python(environment(PEERS[name]))), str(script), name, *map(str, paths)]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        return Readings(answer["markdown"], answer["seconds"])

    return read


READERS: dict[str, Callable[[Sequence[Path]], Readings]] = {
    "carrel": carrel,
    "liteparse": liteparse,
    **{name: peer(name) for name in PEERS},
}
