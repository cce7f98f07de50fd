"""Nothing is lost or doubled when the server is killed while it works."""

import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from carrel.server.records.processing import UNFINISHED
from support.crashes import rows
from support.documents import digital_pdf
from support.libraries import LibraryUnderTest, connect, new_library
from support.process import RunningServer, children, serve
from support.rounds import rounds

KILLS = rounds(4, 40)
READERS_KILLED = rounds(1, 32)
_LETTERS = "bcdfghjklmnpqrstvwxz"
WORDS = [f"{first}{a}o{b}" for a in _LETTERS for b in "bdfmp" for first in ("oak", "yew")]
WORDS = WORDS[: rounds(20, 200)]


def _documents(folder: Path) -> dict[str, bytes]:
    """Documents, each about a word of its own."""
    documents = {}
    for number, word in enumerate(WORDS):
        text = f"The {word} stands in garden {number}. Its keeper writes down every leaf. " * 12
        if number % 4 == 0:
            pdf = digital_pdf(folder / f"{word}.pdf", 2, f"About {word}. {text}")
            documents[pdf.name] = pdf.read_bytes()
        else:
            name = f"{word}.{'txt' if number % 4 == 1 else 'md'}"
            documents[name] = f"# About {word}\n\n{text}".encode()
    return documents


def _chunks(server: RunningServer) -> list[tuple[Any, ...]]:
    """Every chunk and every page that the database holds, by document name."""
    chunks = (
        "SELECT name, position, page, text, vector, layout"
        " FROM chunks JOIN vectors ON chunk_id = chunks.id"
        " JOIN documents ON documents.id = document_id ORDER BY name, position"
    )
    pages = (
        "SELECT name, page, markdown FROM document_pages"
        " JOIN documents ON documents.id = document_id ORDER BY name, page"
    )
    return rows(server.data, chunks) + rows(server.data, pages)


def _kill_reader(server: RunningServer, chance: random.Random) -> None:
    """Ends one of the processes that read documents for the server, at once."""
    if readers := sorted(children(server.process.pid)):
        with suppress(ProcessLookupError):
            os.kill(chance.choice(readers), signal.SIGKILL)
        time.sleep(chance.uniform(0.0, 0.2))


def _statuses(library: LibraryUnderTest) -> dict[str, str]:
    pages = [library.documents(page=number)["data"] for number in range(1 + len(WORDS) // 100)]
    items = [item for page in pages for item in page]
    return {item["name"]: item.get("error") or item["process_status"] for item in items}


def _wait_until_final(library: LibraryUnderTest) -> None:
    deadline = time.monotonic() + 300
    while set(_statuses(library).values()) & set(UNFINISHED):
        assert time.monotonic() < deadline, _statuses(library)
        time.sleep(0.1)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_kill_during_processing(tmp_path: Path) -> None:
    documents = _documents(tmp_path)
    with serve(tmp_path / "calm") as server, connect(server) as http:
        library = new_library(http, chunk_size=256)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(library.add, documents.keys(), documents.values()))
        _wait_until_final(library)
        expected = _chunks(server)

    chunks_with = {
        word: sum(len(row) == 6 and word in row[3] for row in expected) for word in WORDS
    }
    chance = random.Random(20)
    with serve(tmp_path / "stormy") as server, connect(server) as http:
        library = new_library(http, chunk_size=256)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(library.add, documents.keys(), documents.values()))
        server.process.kill()
    for killed in range(KILLS):
        with serve(tmp_path / "stormy") as server, connect(server) as http:
            library = LibraryUnderTest(http, library.id)
            done = list(_statuses(library).values()).count("done")
            # So many are done at most until the kill that something is left for the last one.
            share = done + max(1, (len(documents) - done) // (KILLS - killed + 1))
            deadline = time.monotonic() + chance.uniform(0.1, 2.5)
            while time.monotonic() < deadline and done < share:
                time.sleep(0.02)
                done = list(_statuses(library).values()).count("done")
            # Towards the end it would be the same document's each time, which bears three.
            if killed < READERS_KILLED:
                _kill_reader(server, chance)
            server.process.kill()
            print(f"killed with {done} of {len(documents)} done")
    with serve(tmp_path / "stormy") as server, connect(server) as http:
        library = LibraryUnderTest(http, library.id)
        assert len(_statuses(library)) == len(documents)
        _wait_until_final(library)
        assert set(_statuses(library).values()) == {"done"}
        assert _chunks(server) == expected
        for word in WORDS:
            names = [hit["document_name"].partition(".")[0] for hit in library.marked(word)]
            assert set(names) == {word}
            assert len(names) == chunks_with[word]
