"""Runs of test cases as objects with a display in a cell."""

from dataclasses import astuple, dataclass, field, fields
from html import escape
from typing import TYPE_CHECKING

from carrel.notebook.cells.errors import bench_errors
from carrel.notebook.html.markdown import to_html
from carrel.notebook.html.tables import table
from carrel.notebook.results.frames import frame
from carrel.store.comparison.state import HEADINGS, Votes
from carrel.store.evals import formatting
from carrel.store.evals.formatting import CASE_HEADINGS
from carrel.store.evals.records import Attempt, Records, Run
from carrel.store.evals.report import Report, report

if TYPE_CHECKING:
    from pandas import DataFrame

_COLUMNS = (
    *("case", "repeat", "passed", "reason", "answer", "error", "sources", "seed"),
    *("seconds", "prompt_tokens", "completion_tokens"),
)


@dataclass(frozen=True)
class EvalRun:
    """A stored run of test cases; beside another, a comparison.

    `data` is the stored run, `report` its cases with their results.
    """

    data: Run
    report: Report
    _records: Records = field(repr=False, compare=False)

    @property
    def id(self) -> str:
        """The id of the stored run."""
        return self.data.id

    @property
    def good(self) -> bool:
        """Whether nothing is worse than the baseline, or without one, nothing failed."""
        return self.report.good

    def beside(self, baseline: "EvalRun | str") -> "EvalRun":
        """Return the run compared with another, which may be given by id.

        Raises:
            BenchError: there is no such run.
        """
        with bench_errors():
            other = self._records.get(baseline) if isinstance(baseline, str) else baseline.data
        return EvalRun(self.data, report(self.data, other), self._records)

    def to_pandas(self) -> "DataFrame":
        """Return one row per attempt, with its answer, result, tokens and seconds.

        Raises:
            BenchError: pandas is not installed.
        """
        return frame(_COLUMNS, [_row(attempt) for attempt in self.data.attempts])

    def __repr__(self) -> str:
        return f"{self._title}: {formatting.summary_words(self.report)}"

    def _repr_html_(self) -> str:
        rows = formatting.case_rows(self.report)
        lines = "".join(f"<p>{escape(line)}</p>" for line in formatting.report_lines(self.report))
        answers = "".join(self._answers(row.case) for row in rows)
        return table(self._title, CASE_HEADINGS, [row.cells for row in rows]) + lines + answers

    @property
    def _title(self) -> str:
        return f"{formatting.run_title(self.data)}, run {self.id}"

    def _answers(self, case: str) -> str:
        """Return a case's answers beside the baseline's, in a folded element."""
        sides = [one for one in (self.report.baseline, self.data) if one is not None]
        question = next(one.question for one in self.data.header.cases.cases if one.id == case)
        style = "vertical-align: top; text-align: left"
        columns = "".join(
            f"<td style='{style}'><strong>{escape(formatting.run_title(one))}</strong>"
            f"{''.join(map(_attempt, one.of(case)))}</td>"
            for one in sides
        )
        return (
            f"<details><summary>{escape(case)}</summary><p>{escape(question)}</p>"
            f"<table><tr>{columns}</tr></table></details>"
        )


def _attempt(one: Attempt) -> str:
    checks = "".join(
        f"<li>{'✓' if check.passed else '✗'} {escape(check.check)}: {escape(check.reason)}</li>"
        for check in one.checks
    )
    said = f"<p>{escape(one.error)}</p>" if one.error else to_html(one.answer)
    return f"{said}<ul>{checks}</ul>" if checks else said


def _row(one: Attempt) -> tuple[object, ...]:
    return tuple(
        "; ".join(one.sources) if name == "sources" else getattr(one, name) for name in _COLUMNS
    )


@dataclass(frozen=True)
class VoteCount:
    """The votes of all comparisons; `rows` has one per version, most votes first."""

    rows: tuple[Votes, ...]

    def to_pandas(self) -> "DataFrame":
        """Return one row per version.

        Raises:
            BenchError: pandas is not installed.
        """
        return frame([one.name for one in fields(Votes)], [astuple(row) for row in self.rows])

    def __repr__(self) -> str:
        said = (
            f"{row.answerer}: {row.won} won, {row.lost} lost, {row.tied} tied" for row in self.rows
        )
        return "\n".join(said) or "No answers were judged yet."

    def _repr_html_(self) -> str:
        return table("Votes", HEADINGS, [row.cells for row in self.rows])
