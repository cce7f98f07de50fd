"""Runs of test cases from a cell."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import carrel
from carrel.notebook.bench.bench import Bench
from support.panels import Wire
from support.process import RunningServer
from support.spoken import SpokenModel


@pytest.fixture
def bench(talking: tuple[RunningServer, SpokenModel], model: SpokenModel) -> Iterator[Bench]:
    server = talking[0]
    with carrel.connect(url=server.url, api_key=server.api_key) as bench:
        yield bench


def test_an_agent_is_evaluated_compared_and_shown(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "set.yaml"
    check = "  checks:\n  - contains: hello\n"
    path.write_text(f"cases:\n- question: hello <b>\n{check}- question: bye\n{check}")
    agent = bench.agent("echo", create=True, model="spoken").selected
    assert agent is not None
    run = bench.evaluate(agent, path, repeat=2, timeout=60)
    assert not run.good and [one.outcome for one in run.report.cases] == ["passed", "failed"]
    module = ModuleType("pandas")
    module.DataFrame = lambda rows, columns: (tuple(columns), *rows)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", module)
    head, *rows = run.to_pandas()
    assert head[:3] == ("case", "repeat", "passed")
    assert sorted(row[2] for row in rows) == [False, False, True, True]
    again = bench.evaluate("echo", str(path), repeat=2, baseline=run, timeout=60)
    assert again.good and again.report.baseline == run.data
    assert "1 failed · 1 passed" in repr(again)
    html = again._repr_html_()
    assert "hello &lt;b&gt;" in html and "<b>" not in html
    assert html.count("<details>") == 2 and html.count("echo v0") >= 5
    kept = bench.eval_run(run.id, baseline=again.id)
    assert kept.data == run.data
    with pytest.raises(carrel.BenchError, match="There is no run “none”"):
        bench.eval_run("none")
    path.write_text("cases:\n- qestion: x\n")
    with pytest.raises(carrel.BenchError, match="line 2"):
        bench.evaluate("echo", path)


def test_a_set_is_run_in_the_panel(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "set.yaml"
    path.write_text("cases:\n- question: hello\n  checks:\n  - contains: hello\n- question: bye\n")
    agent = bench.agent("panelled", create=True, model="spoken", instructions="One.").selected
    assert agent is not None
    before = bench.evaluate(agent, path, timeout=60)
    wire = Wire(bench.evals)
    asked = {"agent": agent.id, "version": 0, "file": str(path), "repeat": 1}
    assert wire.ask("run", **asked)["kind"] == "done"
    state = wire.wait_state(lambda state: state["baseline"] == before.id and bool(state["rows"]))
    assert [row["cells"][1]["text"] for row in state["rows"]] == ["● passed", "● passed"]
    assert state["file"] == str(path) and not state["resumable"]
    found = wire.ask("answers", case="hello")["result"]
    assert found["question"] == "hello" and len(found["sides"]) == 2
    (attempt,) = found["sides"][0]["attempts"]
    assert "hello" in attempt["html"] and attempt["checks"][0]["passed"]
    run = bench.evals.run
    assert run and run.id == state["shown"] and run.report.baseline == before.data
    assert wire.ask("show", run=before.id)["kind"] == "done"
    wire.wait_state(lambda state: state["shown"] == before.id and bool(state["rows"]))
    assert wire.ask("run", **{**asked, "repeat": 0})["problem"]["title"].startswith("Give a number")
    path.write_text("cases:\n- qestion: x\n")
    wire.ask("run", **asked)
    wire.wait_state(lambda state: bool(state["problem"]) and "line 2" in state["problem"]["detail"])
