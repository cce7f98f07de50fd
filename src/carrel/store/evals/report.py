"""A run's result: each case's outcome, and the changes against a baseline."""

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Literal
from xml.etree import ElementTree

from carrel.store.evals.records import Attempt, Run
from carrel.store.evals.statistics import Evidence, Tally, compare

Outcome = Literal["passed", "failed", "flaky", "regressed", "fixed", "open"]
"""Outcome of a case. `flaky`: attempts differ from each other or from the baseline by no more than
chance. `open`: not asked yet."""

OUTCOMES: tuple[Outcome, ...] = ("regressed", "failed", "flaky", "fixed", "passed", "open")
"""Outcomes in displayed order: what needs a look comes first."""

TELLING_REPEATS = 6
"""Number of repeats from which one case's decline alone can be significant."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case of a run. `before` is its tally in the baseline; `seconds` and `tokens` are means
    per attempt. `reason` is why an attempt failed."""

    case: str
    outcome: Outcome
    tally: Tally
    before: Tally | None
    seconds: float
    tokens: float
    reason: str


@dataclass(frozen=True)
class Report:
    """A run, compared with its baseline if there is one."""

    run: Run
    baseline: Run | None
    evidence: Evidence | None
    cases: tuple[CaseResult, ...]

    @property
    def tally(self) -> Tally:
        """The tally of all attempts."""
        return reduce(add, (case.tally for case in self.cases), Tally(0, 0))

    def count(self, outcome: Outcome) -> int:
        """Return the number of cases with an outcome."""
        return sum(case.outcome == outcome for case in self.cases)

    @property
    def worse(self) -> bool:
        """Whether something is significantly worse than in the baseline."""
        return bool(self.evidence and (self.evidence.worse or self.evidence.is_worse_overall))

    @property
    def better(self) -> bool:
        """Whether something is significantly better than in the baseline."""
        return bool(self.evidence and (self.evidence.better or self.evidence.is_better_overall))

    @property
    def good(self) -> bool:
        """The verdict for CI: nothing is worse than the baseline, or without one, nothing
        failed."""
        return not self.worse if self.baseline else not self.count("failed")


def report(run: Run, baseline: Run | None = None) -> Report:
    """Return the report of a run, its cases in the order of the set."""
    tallies = run.tallies()
    before = baseline.tallies() if baseline else {}
    evidence = compare(before, tallies) if baseline else None
    cases = tuple(
        _result(name, tally, before.get(name), run.of(name), evidence)
        for name, tally in tallies.items()
    )
    return Report(run, baseline, evidence, cases)


def junit(report: Report) -> str:
    """Return the report as JUnit XML, whose failures match the exit code."""
    header = report.run.header
    suite = ElementTree.Element(
        "testsuite",
        name=f"{header.agent} v{header.version}",
        tests=str(len(report.cases)),
        failures=str(sum(_fails(report, one) for one in report.cases)),
        time=f"{sum(attempt.seconds for attempt in report.run.attempts):.3f}",
    )
    for one in report.cases:
        seconds = f"{one.seconds:.3f}"
        place = f"{header.agent}.{header.cases.name}"
        case = ElementTree.SubElement(
            suite, "testcase", name=one.case, classname=place, time=seconds
        )
        rate = f"{one.tally.passed} of {one.tally.total} passed"
        if _fails(report, one):
            failure = ElementTree.SubElement(case, "failure", type=one.outcome, message=rate)
            failure.text = one.reason
        elif one.outcome in ("failed", "flaky", "open"):
            ElementTree.SubElement(case, "skipped", message=f"{one.outcome}: {rate}")
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _fails(report: Report, one: CaseResult) -> bool:
    return one.outcome == ("regressed" if report.baseline else "failed")


def _result(
    name: str,
    tally: Tally,
    before: Tally | None,
    attempts: list[Attempt],
    evidence: Evidence | None,
) -> CaseResult:
    count = max(1, len(attempts))
    return CaseResult(
        name,
        _outcome(name, tally, before, evidence),
        tally,
        before,
        sum(attempt.seconds for attempt in attempts) / count,
        sum(attempt.prompt_tokens + attempt.completion_tokens for attempt in attempts) / count,
        next((attempt.reason for attempt in attempts if attempt.reason), ""),
    )


def _outcome(name: str, tally: Tally, before: Tally | None, evidence: Evidence | None) -> Outcome:
    now = _outcome_alone(tally)
    if evidence is None or before is None or not before.total or now == "open":
        return now
    was = _outcome_alone(before)
    if name in evidence.worse or (evidence.is_worse_overall and now == "failed" != was):
        return "regressed"
    if name in evidence.better or (evidence.is_better_overall and was == "failed" != now):
        return "fixed"
    return now if now == was else "flaky"


def _outcome_alone(tally: Tally) -> Outcome:
    """Return the outcome of a case without a baseline."""
    if not tally.total:
        return "open"
    if tally.passed == tally.total:
        return "passed"
    return "failed" if 2 * tally.passed <= tally.total else "flaky"
