"""Agents in files from a cell: the difference, then exactly that change."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import carrel
from carrel.notebook.bench.bench import Bench
from support.process import RunningServer


@pytest.fixture
def bench(server: RunningServer) -> Iterator[Bench]:
    with carrel.connect(url=server.url, api_key=server.api_key) as bench:
        yield bench


def test_files_are_planned_and_applied(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "planner.yaml"
    path.write_text("name: planner\nmodel: smollm2\ninstructions: Be brief & kind.\n")
    plan = bench.plan(tmp_path)
    assert plan.pending == ("planner",) and plan.drifted == ()
    assert repr(plan).startswith("+ planner: new agent\n")
    assert "Be brief &amp; kind." in plan._repr_html_()
    assert plan.apply() == ["planner: made, v0"]
    assert repr(bench.plan(path)) == "= planner: in step with v0"
    with pytest.raises(carrel.BenchError, match="out of date"):
        bench.edit_agent("planner", instructions="Changed by hand.")
        path.write_text("name: planner\nmodel: smollm2\ninstructions: Be fair.\n")
        stale = bench.plan(path)
        bench.edit_agent("planner", instructions="Changed again.")
        stale.apply(overwrite=True)
    drifted = bench.plan(path)
    assert drifted.drifted == ("planner",) and "! changed at the service since v0" in repr(drifted)
    with pytest.raises(carrel.BenchError, match="Nothing was sent: planner was changed"):
        drifted.apply()
    assert drifted.apply(overwrite=True) == ["planner: is now v3"]
    assert bench.plan(path).apply() == ["planner: in step with v3"]
    path.write_text("name: planner\ninstuctions: x\n")
    with pytest.raises(carrel.BenchError, match="line 2: instuctions: did you mean instructions"):
        bench.plan(path)
