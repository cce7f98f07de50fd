"""Nothing is lost or doubled when the server is killed while it works."""

import random
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from support.documents import digital_pdf
from support.libraries import FINAL, LibraryUnderTest, connect, new_library
from support.process import RunningServer, serve

KILLS = 4
WORDS = [f"{first}{second}" for first in ("oak", "elm", "ash", "yew") for second in "bcdfg"]


def _documents(folder: Path) -> dict[str, bytes]:
    """Twenty documents, each about a word of its own."""
    documents = {}
    for number, word in enumerate(WORDS):
        text = f"The {word} stands in garden {number}. Its keeper writes down every leaf. " * 12
        if number % 4 == 0:
            pdf = digital_pdf(folder / f"{word}.pdf", 2, f"About {word}. {text}")
            documents[pdf.name] = pdf.read_bytes()
        else:
            documents[f"{word}.md"] = f"# About {word}\n\n{text}".encode()
    return documents


def _chunks(server: RunningServer) -> list[tuple[Any, ...]]:
    """Every chunk and every page that the database holds, by document name."""
    database = sqlite3.connect(f"file:{server.data / 'carrel.db'}?mode=ro", uri=True)
    try:
        chunks = database.execute(
            "SELECT name, position, page, text, vector, layout"
            " FROM chunks JOIN documents ON documents.id = document_id ORDER BY name, position"
        ).fetchall()
        pages = database.execute(
            "SELECT name, page, markdown FROM document_pages"
            " JOIN documents ON documents.id = document_id ORDER BY name, page"
        ).fetchall()
    finally:
        database.close()
    return chunks + pages


def _statuses(library: LibraryUnderTest) -> dict[str, str]:
    return {item["name"]: item["process_status"] for item in library.documents()["data"]}


def _wait_until_final(library: LibraryUnderTest) -> None:
    deadline = time.monotonic() + 90
    while any(status not in FINAL for status in _statuses(library).values()):
        assert time.monotonic() < deadline, _statuses(library)
        time.sleep(0.1)


@pytest.mark.timeout(600)
def test_kill_during_processing(tmp_path: Path) -> None:
    documents = _documents(tmp_path)
    with serve(tmp_path / "calm") as server, connect(server) as http:
        library = new_library(http, chunk_size=256)
        for name, data in documents.items():
            library.add(name, data)
        _wait_until_final(library)
        expected = _chunks(server)

    chance = random.Random(20)
    with serve(tmp_path / "stormy") as server, connect(server) as http:
        library = new_library(http, chunk_size=256)
        for name, data in documents.items():
            library.add(name, data)
        server.process.kill()
    for _ in range(KILLS):
        with serve(tmp_path / "stormy") as server, connect(server) as http:
            library = LibraryUnderTest(http, library.id)
            done = list(_statuses(library).values()).count("done")
            deadline = time.monotonic() + chance.uniform(0.1, 2.5)
            while time.monotonic() < deadline and done < len(documents) - KILLS:
                time.sleep(0.02)
                done = list(_statuses(library).values()).count("done")
            server.process.kill()
    with serve(tmp_path / "stormy") as server, connect(server) as http:
        library = LibraryUnderTest(http, library.id)
        assert len(_statuses(library)) == len(documents)
        _wait_until_final(library)
        assert set(_statuses(library).values()) == {"done"}
        assert _chunks(server) == expected
        for word in WORDS:
            found = {hit["document_name"].partition(".")[0] for hit in library.marked(word)}
            assert found == {word}
