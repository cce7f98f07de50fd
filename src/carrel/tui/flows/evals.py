"""Evals: running a set against an agent, choosing runs to compare, adding answers as cases."""

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.store.agents.definitions import SUFFIXES
from carrel.store.evals.state import DEFAULT_FILE, EvalsState
from carrel.tui.base.screen import MainScreen
from carrel.tui.dialogs.core.ask import Ask, AskNumber, Choose, Option
from carrel.tui.dialogs.core.path import FILES, PathDialog
from carrel.tui.dialogs.evals import Evals
from carrel.wire.generation.agents import Agent

if TYPE_CHECKING:
    from carrel.store.evals.records import Run

_OTHER = "other"
CASES = replace(
    FILES,
    placeholder="Path of a YAML or JSONL file",
    offers=lambda name: name.endswith((*SUFFIXES, ".jsonl")),
)


async def look(place: MainScreen, agent: Agent, version: int) -> None:
    """Show the newest run of an agent, and perform the actions chosen there. New runs use
    `version`."""
    evals = place.store.evals
    await evals.load()
    if runs := _runs(evals.slice.value, agent):
        shown = evals.slice.value.shown
        if shown not in [run.id for run in runs]:
            before = evals.find_earlier(runs[0])
            place.do(evals.show(runs[0].id, before.id if before else None))
    else:
        place.do(evals.show_none())
    while (chosen := await place.ask(Evals(place.store, agent.name))) is not None:
        if chosen == "run":
            await _run(place, agent, version)
        else:
            await _choose(place, agent, baseline=chosen == "baseline")


async def take_case(place: MainScreen) -> None:
    """Add the last answer of the open chat to a set's file, as good or as bad."""
    from carrel.store.evals.cases import case_of

    evals, chat = place.store.evals, place.store.chat.slice.value
    file = evals.slice.value.file or DEFAULT_FILE
    options = [
        Option("good", "A good answer", f"should be repeated · {file.name}", key="g"),
        Option("bad", "A bad answer", f"should not be repeated · {file.name}", key="b"),
        Option(_OTHER, "Another file…", str(file), key="o"),
    ]
    chosen = await place.ask(Choose("Test case of the last answer", options))
    if chosen == _OTHER:
        if (named := await place.ask(Ask("File of test cases", value=str(file)))) is None:
            return
        file = Path(named)
        chosen = await place.ask(Choose(f"Test case in {file.name}", options[:2]))
    if chosen is None:
        return
    case = case_of(chat, len(chat.turns) - 1, good=chosen == "good")
    await evals.add_case(file, case)


async def _run(place: MainScreen, agent: Agent, version: int) -> None:
    from carrel.store.evals.running import Plan

    report = place.store.evals.slice.value.report
    if report is not None and not report.run.finished:
        run = report.run
        kept = f"{len(run.attempts)} of {run.total} are kept"
        options = [
            Option("resume", "Go on with this run", kept, key="r"),
            Option("new", "Run a set…", key="n"),
        ]
        if (chosen := await place.choose("Run", options)) is None:
            return
        if chosen == "resume":
            place.do(place.store.evals.resume(run.id))
            return
    files = await place.ask(PathDialog("Test cases", CASES))
    if not files:
        return
    wrong, about = "Give a number from 1 to 1000.", "6 or more can show significance"
    attempts = await place.ask(
        AskNumber("Attempts per case", 1, 1000, wrong, about=about, value="1")
    )
    if attempts is None:
        return
    other = None if version == agent.version else version
    place.do(place.store.evals.run(agent.id, other, files[0], Plan(attempts)))


async def _choose(place: MainScreen, agent: Agent, *, baseline: bool) -> None:
    from carrel.store.evals.formatting import run_rows

    evals = place.store.evals
    state = evals.slice.value
    runs = _runs(state, agent)
    if not runs:
        place.notice("No runs yet. r: run a test set")
        return
    options = [
        Option(row.id, row.agent, f"{row.cases} · {row.passed} · {row.state} · {row.age}")
        for row in run_rows(runs, time.time())
        if not baseline or row.id != state.shown
    ]
    if not options:
        place.notice("There is no other run to compare with.")
        return
    title = "Compare with" if baseline else "Show the run"
    chosen = await place.ask(Choose(title, options))
    if chosen is None:
        return
    if baseline and state.shown is not None:
        await evals.show(state.shown, chosen)
    elif not baseline:
        run = next(one for one in runs if one.id == chosen)
        before = evals.find_earlier(run)
        await evals.show(chosen, before.id if before else None)


def _runs(state: EvalsState, agent: Agent) -> "list[Run]":
    """Return the stored runs of an agent, newest first."""
    return [run for run in state.runs if run.header.agent_id == agent.id]
