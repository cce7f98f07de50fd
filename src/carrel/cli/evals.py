"""Evals of agents: `carrel agents try`, `runs` and `votes`."""

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, astuple
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carrel.cli import output
from carrel.cli.errors import Code, CommandError
from carrel.cli.find import check_version, find_agent
from carrel.cli.options import (
    AgentArgument,
    JSONOption,
    ProfileOption,
    argument,
    flag,
    option,
    version_or_alias,
)
from carrel.cli.session import check_writable, run
from carrel.cli.tools import open_tools
from carrel.config.profiles import folders, load_profile
from carrel.text import clean_text

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.store.evals.cases import CaseSet
    from carrel.store.evals.records import Records, Run
    from carrel.store.evals.report import Outcome, Report
    from carrel.store.evals.running import Plan
    from carrel.wire.generation.agents import Agent

OnlyOption = Annotated[
    str | None, option("RESULT", "Show only passed, failed, flaky, regressed, fixed or open cases.")
]
BaselineOption = Annotated[
    str | None, option("RUN", "Compare with a run: its id, its file, or last for the one before.")
]
JUnitOption = Annotated[Path | None, option("FILE", "Write the result as JUnit XML.", "--junit")]
LAST = "last"


def try_(
    agent: AgentArgument,
    cases: Annotated[Path, option("FILE", "The test cases: YAML or JSONL.", "--set")],
    version: Annotated[
        list[str] | None,
        option(
            "VERSION",
            "A version or alias; repeatable: the others are compared with the first. "
            "Default: the active one.",
        ),
    ] = None,
    repeat: Annotated[int, option("N", "Ask every case N times.", min=1, max=1000)] = 1,
    baseline: BaselineOption = None,
    only: OnlyOption = None,
    jobs: Annotated[int, option("N", "Ask N cases at once.", min=1, max=64)] = 2,
    seed: Annotated[
        int | None, option("N", "Seeds: N for the first attempt, then N + 1 …", min=0)
    ] = None,
    resume: Annotated[
        bool, flag("--resume", "Continue an unfinished run of the same questions.")
    ] = False,
    junit: JUnitOption = None,
    profile: ProfileOption = None,
    json: JSONOption = False,
) -> None:
    """Run test cases against an agent, and keep the run.

    Exit code 4: a case failed or, with a baseline, got worse by more than chance explains. Ctrl+C
    stops a run and keeps its answers; --resume continues it.
    """
    from carrel.store.evals.cases import load_set
    from carrel.store.evals.running import Plan

    outcome = _outcome(only)
    wanted = load_set(cases)
    plan = Plan(repeat, seed, jobs, resume)
    records = _records()
    before = records.get(baseline) if baseline not in (None, LAST) else None
    runs = _run_all(profile, agent, version or [], wanted, plan, records)
    if baseline == LAST:
        before = _find_previous(records, runs[0])
    reports = _reports(runs, before)
    _write_junit(reports[-1], junit)
    _print(reports, outcome, json)
    # Of several versions, the first is the baseline of the others.
    if not all(report.good for report in reports if report.baseline or len(reports) == 1):
        raise typer.Exit(Code.DIFFERENT)


def runs(
    wanted: Annotated[str | None, argument("RUN", "The run to show: an id or a file.")] = None,
    baseline: BaselineOption = None,
    only: OnlyOption = None,
    case: Annotated[str | None, option("CASE", "Show the answers to one case.")] = None,
    junit: JUnitOption = None,
    json: JSONOption = False,
) -> None:
    """List, show and compare the kept runs of test cases.

    They are kept on this machine. Without RUN, all of them are listed, the newest first.
    """
    outcome = _outcome(only)
    records = _records()
    if wanted is None:
        _list(records, json)
        return
    shown = records.get(wanted)
    before = None
    if baseline is not None:
        before = _find_previous(records, shown) if baseline == LAST else records.get(baseline)
    if case is not None:
        _print_answers([past for past in (before, shown) if past], case)
        return
    reports = _reports([shown], before)
    _write_junit(reports[0], junit)
    _print(reports, outcome, json)


def votes(profile: ProfileOption = None, json: JSONOption = False) -> None:
    """Count the votes of all comparisons, per version.

    Counts the chats on this machine and at the service.
    """
    from carrel.store.chat.sessions.remote_chats import every_comparison
    from carrel.store.chat.sessions.saved import SavedSessions
    from carrel.store.comparison.state import HEADINGS, count_votes

    saved = SavedSessions(folders().state, load_profile(profile).storage_name)
    found = count_votes(run(profile, lambda client: every_comparison(saved, client)))
    if json:
        output.as_json([asdict(row) for row in found])
    elif found:
        output.table([heading.upper() for heading in HEADINGS], [row.cells for row in found])
    else:
        output.note("No answers were judged yet: compare chats in the app, or in a notebook.")


def _run_all(
    profile: str | None,
    agent: str,
    versions: Sequence[str],
    cases: "CaseSet",
    plan: "Plan",
    records: "Records",
) -> "list[Run]":
    from carrel.store.evals.formatting import kept_words, progress_words
    from carrel.store.evals.running import Progress, run_set

    chosen = load_profile(profile)

    async def work(client: "Client") -> "list[Run]":
        found = await find_agent(client, agent)
        numbers: list[int | None] = [await _number(client, found, version) for version in versions]
        numbers = numbers or [None]
        if any(number not in (None, found.version) for number in numbers):
            check_writable(chosen)  # another version answers through a trial agent
        done: list[Run] = []
        with output.show_changing() as show:
            progress: Progress | None = None

            def tell(now: Progress) -> None:
                nonlocal progress
                progress = now
                show(progress_words(now))
                if now.waiting and not sys.stderr.isatty():
                    output.note(progress_words(now))

            try:
                for number in numbers:
                    async with open_tools(chosen) as tools:
                        offered = tools.of_question
                        made = await run_set(
                            client, chosen, records, found, number, cases, plan, offered, tell
                        )
                    done.append(made)
            except BaseException:
                if progress is not None and progress.done:
                    output.note(f"\n{kept_words(progress)}")
                raise
        return done

    return run(profile, work)


async def _number(client: "Client", agent: "Agent", version: str) -> int:
    name = version_or_alias(version)
    if name.isdecimal():
        return check_version(agent, int(name))
    return (await client.agents.get(agent.id, name)).version


def _find_previous(records: "Records", run: "Run") -> "Run":
    """Return the latest earlier finished run of the same set and agent."""
    from carrel.store.evals.records import find_earlier

    found = find_earlier(run, records.all())
    if found is None:
        raise CommandError("There is no earlier run to compare with.")
    return found


def _reports(runs: "Sequence[Run]", baseline: "Run | None") -> "list[Report]":
    """Return each run compared with the baseline; without one, with the first run."""
    from carrel.store.evals.report import report

    if baseline is not None or len(runs) == 1:
        return [report(past, baseline) for past in runs]
    return [report(runs[0]), *(report(past, runs[0]) for past in runs[1:])]


def _print(reports: "Sequence[Report]", only: "Outcome | None", json: bool) -> None:
    from carrel.store.evals.formatting import CASE_HEADINGS, case_rows, report_lines, run_title

    if json:
        output.as_json([_as_json(report) for report in reports])
        return
    for report in reports:
        output.data(f"{run_title(report.run)}, run {report.run.id}")
        rows = [row.cells for row in case_rows(report, only)]
        if rows:
            output.table([heading.upper() for heading in CASE_HEADINGS], rows)
        for line in report_lines(report):
            output.data(line)


def _print_answers(runs: "Sequence[Run]", case: str) -> None:
    from carrel.store.evals.formatting import attempt_words, run_title

    cases = runs[-1].header.cases.cases
    known = [found for found in cases if case in (found.id, found.name)]
    if not known:
        raise CommandError(f"The run has no case “{case}”. See: carrel agents runs RUN", Code.USAGE)
    output.data(known[0].question)
    for past in runs:
        for attempt in past.of(known[0].id):
            output.data(f"\n── {run_title(past)}, attempt {attempt.repeat + 1}")
            output.data(clean_text(attempt_words(attempt)))


def _list(records: "Records", json: bool) -> None:
    from carrel.store.evals.formatting import run_rows

    found = records.all()
    if json:
        output.as_json([_header(past) for past in found])
        return
    rows = [astuple(row) for row in run_rows(found, time.time())]
    output.table(["ID", "AGENT", "SET", "PASSED", "STATE", "BEGUN"], rows)


def _as_json(report: "Report") -> dict[str, Any]:
    evidence = report.evidence
    return {
        **_header(report.run),
        "baseline": report.baseline.id if report.baseline else None,
        "worse": report.worse,
        "better": report.better,
        "p_worse": evidence.p_worse if evidence else None,
        "p_better": evidence.p_better if evidence else None,
        "pass_rate": report.tally.rate,
        "cost": report.run.cost,
        "interval": report.tally.interval,
        "cases": [
            {
                "case": case.case,
                "result": case.outcome,
                "passed": case.tally.passed,
                "attempts": case.tally.total,
                "interval": case.tally.interval,
                "passed_before": case.before.passed if case.before else None,
                "tokens": case.tokens,
                "seconds": case.seconds,
                "reason": case.reason,
            }
            for case in report.cases
        ],
    }


def _header(run: "Run") -> dict[str, Any]:
    kept: dict[str, Any] = run.header.model_dump(mode="json", exclude={"cases", "format"})
    return {**kept, "set": run.header.cases.name, "finished": run.finished}


def _write_junit(report: "Report", path: Path | None) -> None:
    if path is not None:
        from carrel.store.evals.report import junit

        path.write_text(junit(report), encoding="utf-8")


def _records() -> "Records":
    from carrel.store.evals.records import Records

    return Records(folders().evals)


def _outcome(only: str | None) -> "Outcome | None":
    from carrel.store.evals.report import OUTCOMES

    found = next((outcome for outcome in OUTCOMES if outcome == only), None)
    if only is not None and found is None:
        raise CommandError(f"“{only}” is not a result. Known: {', '.join(OUTCOMES)}.", Code.USAGE)
    return found
