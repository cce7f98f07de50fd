"""Formatting of runs and cases as rows and sentences, the same in every face."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrel.store.agents.formatting import version_name
from carrel.store.core.formatting import Badge, age, count, counted, duration, one_line, percent
from carrel.store.evals.records import Attempt, Run
from carrel.store.evals.report import OUTCOMES, TELLING_REPEATS, CaseResult, Outcome, Report
from carrel.store.evals.running import Progress
from carrel.store.evals.statistics import Tally

BADGES: Mapping[Outcome, Badge] = {
    "passed": Badge("●", "passed", "ready"),
    "failed": Badge("✗", "failed", "failed"),
    "flaky": Badge("◐", "flaky", "waiting"),
    "regressed": Badge("▼", "regressed", "failed"),
    "fixed": Badge("▲", "fixed", "ready"),
    "open": Badge("○", "open", "muted"),
}

CASE_HEADINGS = ("Case", "Result", "Passed", "95 % interval", "Before", "Tokens", "Seconds", "Why")


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case of a report."""

    case: str
    badge: Badge
    passed: str
    interval: str
    before: str
    tokens: str
    seconds: str
    reason: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The row's cells under CASE_HEADINGS."""
        return (
            *(self.case, str(self.badge), self.passed, self.interval),
            *(self.before, self.tokens, self.seconds, self.reason),
        )


@dataclass(frozen=True, slots=True)
class RunRow:
    """A stored run."""

    id: str
    agent: str
    cases: str
    passed: str
    state: str
    age: str


def case_rows(report: Report, only: Outcome | None = None) -> tuple[CaseRow, ...]:
    """Return the cases, the most urgent outcomes first; `only` selects an outcome."""
    shown = [case for case in report.cases if only is None or case.outcome == only]
    shown.sort(key=lambda one: OUTCOMES.index(one.outcome))
    return tuple(_row(one) for one in shown)


def run_rows(runs: Sequence[Run], now: float) -> tuple[RunRow, ...]:
    """Return the rows of runs. `now` is in seconds since 1970."""
    return tuple(
        RunRow(
            run.id,
            run_title(run),
            one_line(run.header.cases.name),
            rate_words(Tally(sum(attempt.passed for attempt in run.attempts), len(run.attempts))),
            "done" if run.finished else f"{len(run.attempts)} of {run.total}",
            age(now - run.header.begun),
        )
        for run in runs
    )


def run_title(run: Run) -> str:
    """Return `support v3`."""
    return f"{one_line(run.header.agent)} {version_name(run.header.version)}"


def summary_words(report: Report) -> str:
    """Return `48 passed · 2 failed · 96 % (95 % interval 89–99 %) · 12,040 tokens · 3 min`, and the
    cost if a price is set."""
    parts = [f"{number} {one}" for one in OUTCOMES if (number := report.count(one))]
    attempts = report.run.attempts
    tokens = sum(attempt.prompt_tokens + attempt.completion_tokens for attempt in attempts)
    judging = sum(attempt.judging for attempt in attempts)
    if report.tally.total:
        parts.append(f"{rate_words(report.tally)} (95 % interval {interval_words(report.tally)})")
    parts.append(
        f"{count(tokens)} tokens" + (f" and {count(judging)} of judges" if judging else "")
    )
    parts.append(duration(sum(attempt.seconds for attempt in attempts)))
    if (cost := report.run.cost) is not None and report.run.header.price is not None:
        parts.append(f"{cost:.4g} {report.run.header.price.currency}")
    return " · ".join(parts)


def report_lines(report: Report) -> list[str]:
    """Return the summary, and the verdict and the warning if there are any."""
    lines = (summary_words(report), verdict_words(report), warning_words(report))
    return [line for line in lines if line]


def verdict_words(report: Report) -> str:
    """Return the result of the comparison with the baseline, or an empty string."""
    evidence, baseline = report.evidence, report.baseline
    if evidence is None or baseline is None:
        return ""
    beside = f"than {run_title(baseline)} ({baseline.id})"
    found = []
    for worse, cases, whole in (
        ("Worse", evidence.worse, evidence.p_worse if evidence.is_worse_overall else None),
        ("Better", evidence.better, evidence.p_better if evidence.is_better_overall else None),
    ):
        if cases or whole is not None:
            what = counted(len(cases), "case") if cases else ""
            which = f"the set as a whole, p = {whole:.2g}" if whole is not None else ""
            found.append(f"{worse} {beside}: {'; '.join(filter(None, (what, which)))}.")
    if found:
        return " ".join(found)
    moved = sum(
        case.before is not None and case.tally.rate != case.before.rate for case in report.cases
    )
    if not moved:
        return f"No case differs from {run_title(baseline)} ({baseline.id})."
    said = f"{moved} case{' differs' if moved == 1 else 's differ'}, as chance explains."
    if min(report.run.header.repeats, baseline.header.repeats) < TELLING_REPEATS:
        said += f" With {TELLING_REPEATS} repeats in both runs, one case alone can be evidence."
    return said


def warning_words(report: Report) -> str:
    """Return a warning that two runs are less comparable, or an empty string."""
    baseline = report.baseline
    if baseline is None:
        return ""
    now, before = report.run.header, baseline.header
    parts = []
    if now.hash != before.hash:
        parts.append("the sets differ: cases are compared by their names")
    if now.service != before.service:
        parts.append("the services differ")
    if not baseline.finished:
        parts.append("the baseline is not finished")
    return f"Note: {', '.join(parts)}." if parts else ""


def progress_words(progress: Progress) -> str:
    """Return `support v3 · 12 of 50 · 11 passed`, and the service's requested pause."""
    said = (
        f"{run_title(progress.run)} · {count(progress.done)} of {count(progress.run.total)} · "
        f"{count(progress.passed)} passed"
    )
    if progress.waiting:
        said += f" · the service asks to slow down: waiting {duration(progress.waiting)}"
    return said


def kept_words(progress: Progress) -> str:
    """Return a hint to resume a stopped run."""
    kept = f"{count(progress.done)} of {count(progress.run.total)}"
    return f"{kept} are kept: --resume continues."


def attempt_words(attempt: Attempt) -> str:
    """Return an attempt with its checks as lines."""
    lines = [attempt.error or attempt.answer, ""]
    lines += [f"{'✓' if one.passed else '✗'} {one.check}: {one.reason}" for one in attempt.checks]
    lines.append(attempt_figures(attempt))
    return "\n".join(lines).strip()


def attempt_figures(attempt: Attempt) -> str:
    """Return `Sources: lease.pdf, page 2 · 310 tokens · 2 s`."""
    tokens = attempt.prompt_tokens + attempt.completion_tokens
    sources = f"Sources: {'; '.join(attempt.sources)}" if attempt.sources else ""
    parts = (sources, f"{count(tokens)} tokens", duration(attempt.seconds))
    return " · ".join(part for part in parts if part)


def rate_words(tally: Tally) -> str:
    """Return `96 %`."""
    return percent(tally.passed / tally.total) if tally.total else "–"


def interval_words(tally: Tally) -> str:
    """Return `89–99 %`."""
    low, high = tally.interval
    return f"{percent(low).removesuffix(' %')}–{percent(high)}"


def _row(one: CaseResult) -> CaseRow:
    before, asked = one.before, one.tally.total
    return CaseRow(
        one.case,
        BADGES[one.outcome],
        f"{one.tally.passed}/{one.tally.total}" if asked else "",
        interval_words(one.tally) if asked else "",
        f"{before.passed}/{before.total}" if before and before.total else "",
        f"{one.tokens:.0f}" if asked else "",
        f"{one.seconds:.1f}" if asked else "",
        one_line(one.reason),
    )
