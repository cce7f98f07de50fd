"""The order and the widths of a panel's table, against the real server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import carrel
from carrel.notebook.bench.bench import Bench
from support.panels import Wire
from support.process import RunningServer


@pytest.fixture
def bench(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("CARREL_URL", server.url)
    monkeypatch.setenv("CARREL_API_KEY", server.api_key)
    with carrel.connect() as bench:
        yield bench


def names(state: dict[str, object]) -> list[str]:
    rows = state["rows"]
    assert isinstance(rows, list)
    return [row["cells"][0] for row in rows]


def test_files_are_sorted_and_their_columns_widened(bench: Bench, tmp_path: Path) -> None:
    for name, size in (("b.txt", 30), ("a.txt", 20), ("c.txt", 10)):
        (tmp_path / name).write_text("x" * size)
        bench.upload(tmp_path / name)
    wire = Wire(bench.files)
    wire.send({"kind": "hello", "view": "v", "rid": "h"})
    wire.wait_state(lambda state: len(names(state)) == 3)
    wire.ask("sort", column="size")
    wire.wait_state(lambda state: names(state) == ["c.txt", "a.txt", "b.txt"])
    wire.ask("sort", column="size")
    state = wire.wait_state(lambda state: names(state) == ["b.txt", "a.txt", "c.txt"])
    assert state["layout"]["sort"] == {"column": "size", "descending": True}
    wire.ask("widen", column="name", width=30)
    wire.wait_state(lambda state: state["layout"]["widths"] == {"name": 30})


def test_documents_are_sorted_by_the_service(bench: Bench, tmp_path: Path) -> None:
    library = bench.create_library("contracts")
    for name in ("b.txt", "a.txt"):
        (tmp_path / name).write_text(f"The rent of {name} is due.")
        bench.add(library, tmp_path / name)
    wire = Wire(bench.library(library))
    wire.ask("sort", column="name")
    wire.wait_state(lambda state: names(state) == ["a.txt", "b.txt"])
    wire.ask("sort", column="name")
    wire.wait_state(lambda state: names(state) == ["b.txt", "a.txt"])


def test_versions_are_sorted(bench: Bench) -> None:
    for instructions in ("Be brief.", "Be clear."):
        bench.agent("sorted", create=True, instructions=instructions)
    wire = Wire(bench.agent("sorted"))

    def versions(state: dict[str, Any]) -> list[str]:
        return [row["id"] for row in state["versions"]]

    wire.wait_state(lambda state: versions(state) == ["1", "0"])
    wire.ask("sort", column="version")
    wire.wait_state(lambda state: versions(state) == ["0", "1"])
