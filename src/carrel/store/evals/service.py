"""Evals: run sets, store and compare the runs, and turn chats into test cases."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.store.core.actions.action import Policy, Service, action, instant
from carrel.store.core.problem import ProblemError
from carrel.store.evals.state import EvalsState
from carrel.store.shared import Area, Shared
from carrel.store.tools.service import ToolsService

if TYPE_CHECKING:
    from carrel.store.evals.cases import Case, CaseSet
    from carrel.store.evals.records import Records, Run
    from carrel.store.evals.running import Plan, Progress

LIVE = 0.5
"""Seconds between two tables of a running run."""


class EvalsService(Area, Service[EvalsState]):
    def __init__(self, shared: Shared, tools: ToolsService) -> None:
        super().__init__(shared, EvalsState())
        self._tools = tools
        self._folder = shared.profile.folders.evals

    @cached_property
    def records(self) -> Records:
        """The stored runs."""
        from carrel.store.evals.records import Records

        return Records(self._folder)

    @action(Policy.JOIN)
    async def load(self) -> None:
        """Load the stored runs."""
        with self._set_loading():
            await self._load()

    @action(Policy.SINGLE)
    def run(
        self, agent_id: str, version: int | None, path: Path, plan: Plan
    ) -> Coroutine[Any, Any, Run]:
        """Run a set's file against a version of an agent, or None for the active version.

        The run is shown as it proceeds, unless another is chosen meanwhile. Ended attempts are kept
        in any case.
        """
        return self._run_file(agent_id, version, path, plan, self.slice.value.shown)

    @action(Policy.SINGLE, lane="run")
    def resume(self, run: str) -> Coroutine[Any, Any, Run]:
        """Resume a stored, unfinished run by its id."""
        return self._resume(run, self.slice.value.shown)

    @property
    def running_task(self) -> asyncio.Task[Any] | None:
        """The current run, from its start to its end, or None."""
        return self._lane("run").last

    async def _run_file(
        self, agent_id: str, version: int | None, path: Path, plan: Plan, shown: str | None
    ) -> Run:
        from carrel.store.evals.cases import load_set

        cases = await asyncio.to_thread(lambda: load_set(path.expanduser()))
        self.slice.set(file=path)
        return await self._run(agent_id, version, cases, plan, shown)

    async def _resume(self, run: str, shown: str | None) -> Run:
        from carrel.store.evals.running import Plan

        header = (await asyncio.to_thread(self.records.get, run)).header
        plan = Plan(header.repeats, header.seed, resume=True)
        return await self._run(header.agent_id, header.version, header.cases, plan, shown)

    async def _run(
        self, agent_id: str, version: int | None, cases: CaseSet, plan: Plan, shown: str | None
    ) -> Run:
        from carrel.store.evals.running import run_set

        self.slice.set(error=None)
        live = _Live(self, shown)

        try:
            client = await self._session.client()
            agent = await client.agents.get(agent_id)
            if version not in (None, agent.version):
                self._session.check_allowed()  # another version answers through a trial agent
            return await run_set(
                *(client, self._profile, self.records, agent, version, cases, plan),
                self._tools.of_question,
                live.tell,
            )
        finally:
            self.slice.set(progress=None)
            await asyncio.shield(asyncio.ensure_future(self._load()))
            live.end()

    @instant
    def stop(self) -> None:
        """Stop the current run; ended attempts are kept."""
        self._lane("run").cancel()

    @action(Policy.LATEST)
    def show(self, run: str, baseline: str | None = None) -> Coroutine[Any, Any, None]:
        """Show a run and its baseline, by id or file."""
        self.slice.set(shown=run, baseline=baseline, report=None, error=None)
        return self._show(run, baseline)

    async def _show(self, run: str, baseline: str | None) -> None:
        from carrel.store.evals.report import report

        found = await asyncio.to_thread(self.records.get, run)
        before = None if baseline is None else await asyncio.to_thread(self.records.get, baseline)
        self.slice.set(report=await asyncio.to_thread(report, found, before))

    @instant
    def show_none(self) -> None:
        """Close the shown run."""
        self._lane("show").cancel()
        self.slice.set(shown=None, baseline=None, report=None)

    @action(Policy.QUEUE)
    async def add_case(self, path: Path, case: Case) -> None:
        """Append a test case to a set's file, or create the file."""
        from carrel.store.evals.cases import add_case

        try:
            await asyncio.to_thread(add_case, path, case)
        except OSError as error:
            detail = f"{path}: {error.strerror}."
            raise ProblemError("The case was not added", detail) from error
        self.slice.set(file=path)
        self._notifications.notify(f"Added to {path.name}: {case.id}")

    def find_earlier(self, run: Run) -> Run | None:
        """Return the latest earlier finished run of the same agent and set, or None."""
        from carrel.store.evals.records import find_earlier

        return find_earlier(run, self.slice.value.runs)

    async def _load(self) -> None:
        runs = await asyncio.to_thread(self.records.all)
        self.slice.set(runs=runs, loaded=True)


class _Live:
    """Shows a run as it proceeds, until another run or a comparison is chosen."""

    def __init__(self, service: EvalsService, shown: str | None) -> None:
        """Take the service. `shown` was shown when the run began."""
        self._service = service
        self._before = shown
        self._run: str | None = None
        self._next = 0.0

    def tell(self, progress: Progress) -> None:
        slice = self._service.slice
        slice.set(progress=progress)
        if self._run is None:
            self._run = progress.run.id
            if slice.value.shown == self._before:
                self._service.show_none()
                slice.set(shown=self._run)
        now, state = time.monotonic(), slice.value
        if (state.shown, state.baseline) == (self._run, None) and now >= self._next:
            from carrel.store.evals.report import report

            self._next = now + LIVE
            slice.set(report=report(progress.run))

    def end(self) -> None:
        """Show the whole run beside the one before."""
        state = self._service.slice.value
        run = next((one for one in state.runs if one.id == self._run), None)
        if run is not None and (state.shown, state.baseline) == (self._run, None):
            before = self._service.find_earlier(run)
            self._service.show(run.id, None if before is None else before.id)
