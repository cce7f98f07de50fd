"""The Evals panel."""

import time
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, Self

from carrel.notebook.html.markdown import to_html
from carrel.notebook.html.tables import table
from carrel.notebook.panels.core.base import Cell, Json, Panel, badge_json, intent, problem_json
from carrel.notebook.panels.core.table import TableLayout
from carrel.notebook.results.evals import EvalRun
from carrel.store.core.actions.handle import Handle
from carrel.store.core.problem import Problem, ProblemError
from carrel.store.evals import formatting
from carrel.store.evals.formatting import CASE_HEADINGS, CaseRow
from carrel.store.evals.records import Attempt, Run
from carrel.store.evals.running import Plan, Progress
from carrel.store.evals.state import DEFAULT_FILE
from carrel.store.store import Store

_NONE = "No runs yet. Run a set…: ask an agent the test cases of a file."
_MOST = 1000
"""Most attempts at each case."""
_NO_RUN = Problem("No run is shown", "", "Choose one, or run a set.")


class EvalPanel(Panel, view="evals"):
    """Runs of test cases: the current one, and the table of a stored one beside its baseline."""

    _title = "Evals"

    def __init__(self, store: Store, **options: Any) -> None:
        self._evals = store.evals
        self._layout = TableLayout(store, "evals")
        super().__init__(store, parts=(self._layout,), **{"height": 560, **options})
        self._follow(store.evals.slice, store.agents.slice, self._layout.slice)
        self._loading = store.evals.load()
        if not store.agents.slice.value.loaded:
            store.agents.load()

    @property
    def run(self) -> EvalRun | None:
        """The run that is shown."""
        report = self._evals.slice.value.report
        return None if report is None else EvalRun(report.run, report, self._evals.records)

    def show(self, run: EvalRun | str, baseline: EvalRun | str | None = None) -> Self:
        """Show a stored run beside another; both may be given by id."""
        ids = [one.id if isinstance(one, EvalRun) else one for one in (run, baseline) if one]
        self._store.loop.call(lambda: self._evals.show(*ids))
        return self

    def _view(self) -> Json:
        state = self._evals.slice.value
        report, shown = state.report, state.shown
        runs = [
            {"id": row.id, "words": f"{row.agent} · {row.cases} · {row.passed} · {row.state}"}
            for row in formatting.run_rows(state.runs, time.time())
        ]
        return {
            "agents": [
                {
                    "id": agent.id,
                    "name": agent.name,
                    "active": agent.version,
                    "versions": sorted(agent.versions, reverse=True),
                }
                for agent in self._store.agents.slice.value.items
            ],
            "layout": self._layout.view(),
            "file": str(state.file or DEFAULT_FILE),
            "runs": runs,
            "shown": shown,
            "baseline": state.baseline,
            "title": "" if report is None else _title(report.run),
            "said": [] if report is None else formatting.report_lines(report),
            "rows": []
            if report is None
            else [{"id": row.case, "cells": _cells(row)} for row in formatting.case_rows(report)],
            "progress": _progress(state.progress),
            "resumable": report is not None and not report.run.finished,
            "empty": "Loading …" if shown or not state.loaded else _NONE,
            "loading": state.loading,
            "problem": problem_json(state.error),
        }

    def _loads(self) -> Sequence[Handle[Any]]:
        return (self._evals.load(),)

    def is_changing(self) -> bool:
        """Return whether a run is under way."""
        return self._evals.slice.value.progress is not None

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
        return CASE_HEADINGS, [row["cells"] for row in self.state["rows"]]

    async def draw_still(self) -> str:
        """Return the table of the run."""
        lines = "".join(f"<p>{escape(one)}</p>" for one in self.state["said"])
        return table(self.state["title"] or self._title, *self._table()) + lines

    @intent
    async def _on_show(self, run: str, baseline: str | None = None) -> None:
        """Show a run; the default baseline is the run before it."""
        found = next((one for one in self._evals.slice.value.runs if one.id == run), None)
        if baseline is None and found is not None and (before := self._evals.find_earlier(found)):
            baseline = before.id
        await self._evals.show(run, baseline)

    @intent
    async def _on_run(self, agent: str, version: int | None, file: str, repeat: int) -> None:
        if not 1 <= repeat <= _MOST:
            raise ProblemError(f"Give a number from 1 to {_MOST}", "Times a case is asked")
        path = Path(file.strip())
        self._evals.run(agent, version, path, Plan(repeat)).check()

    @intent
    async def _on_resume(self, run: str) -> None:
        self._evals.resume(run).check()

    @intent
    async def _on_cancel(self, id: str) -> None:
        """Stop the current run; ended attempts are kept."""
        await self._evals.stop()

    @intent
    async def _on_answers(self, case: str) -> Json:
        """Return a case's question, and its answers in both runs."""
        report = self._evals.slice.value.report
        if report is None:
            raise ProblemError(_NO_RUN)
        sides = [run for run in (report.baseline, report.run) if run is not None]
        asked = next((one for one in report.run.header.cases.cases if one.id == case), None)
        return {
            "case": case,
            "question": "" if asked is None else asked.question,
            "sides": [
                {"title": _title(run), "attempts": [_attempt(one) for one in run.of(case)]}
                for run in sides
            ],
        }


def _title(run: Run) -> str:
    return f"{formatting.run_title(run)} · {run.header.cases.name} · {run.id}"


def _cells(row: CaseRow) -> list[Cell]:
    name, _, *rest = row.cells
    return [name, badge_json(row.badge), *rest]


def _progress(progress: Progress | None) -> Json | None:
    if progress is None:
        return None
    return {
        "id": progress.run.id,
        "name": formatting.run_title(progress.run),
        "words": formatting.progress_words(progress),
        "percent": 100 * progress.done // progress.run.total,
        "running": True,
    }


def _attempt(one: Attempt) -> Json:
    return {
        "title": f"Attempt {one.repeat + 1}",
        "error": one.error,
        "html": "" if one.error else to_html(one.answer),
        "checks": [
            {"passed": check.passed, "words": f"{check.check}: {check.reason}"}
            for check in one.checks
        ],
        "figures": formatting.attempt_figures(one),
    }
