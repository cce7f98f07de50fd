"""Bench calls for agents: drafts, agents in files, evals and votes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias, Unpack

from carrel.notebook.bench.agent_maker import AgentMaker
from carrel.notebook.bench.base import BenchBase
from carrel.notebook.bench.keywords import AgentKeywords, spell
from carrel.notebook.cells.cell import run_progress
from carrel.notebook.cells.errors import bench_errors
from carrel.notebook.cells.wait import check_handle, permission, wait_for
from carrel.notebook.results.evals import EvalRun, VoteCount
from carrel.notebook.results.plan import AgentPlan
from carrel.store.agents.drafts import Draft
from carrel.store.chat.service import ChatService
from carrel.store.comparison.state import Side
from carrel.store.core.actions.handle import Handle
from carrel.store.evals.report import report
from carrel.store.evals.running import JOBS, Plan
from carrel.store.store import Store
from carrel.wire.generation.agents import Agent

Asked: TypeAlias = str | Agent | Draft | tuple[str | Agent, int]
"""An agent by name or id, an agent with a version, or a draft."""


def begin_chat(chat: ChatService, side: Side) -> Handle[None]:
    """Begin a chat with one side alone."""
    if side.draft is not None:
        return chat.try_draft(side.draft, side.agent_id)
    return chat.new(side.agent_id, side.version)


class AgentCalls(BenchBase):
    """Calls that wait for their result for at most `timeout` seconds."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._maker = AgentMaker(store, self._names)

    @check_handle
    @spell
    def draft(self, agent: str | Agent, **fields: Unpack[AgentKeywords]) -> Draft:
        """Return an unsaved agent to try: `bench.chat("support", beside=[draft])`.

        Args:
            agent: the agent to change, by name or id; else the name of a new agent.
        """
        old = self._names.find_agent(agent) if isinstance(agent, str) else agent
        with bench_errors():
            draft = self._maker.draft(old, agent if isinstance(agent, str) else "", {**fields})
            draft.create()  # an incomplete draft fails here, at the call that wrote it
        return draft

    def _sides(
        self, agent: Asked, versions: Sequence[int] | None, beside: Sequence[Asked]
    ) -> list[Side]:
        first = self._side(agent)
        own = [first]
        if versions is not None:
            id = first.agent_id
            own = [Side(id, self._names.version(id, version)) for version in versions]
        return [*own, *map(self._side, beside)]

    def _side(self, asked: Asked) -> Side:
        if isinstance(asked, Draft):
            return Side(asked.agent_id or "", draft=asked.create())
        agent, version = asked if isinstance(asked, tuple) else (asked, None)
        id = self._names.agent(agent).id
        return Side(id, self._names.version(id, version))

    @check_handle
    def plan(
        self,
        *files: str | Path,
        delete: Sequence[str] = (),
        timeout: float | None = None,
    ) -> AgentPlan:
        """Return the differences between agents and their files; `.apply()` makes exactly those
        changes.

        Args:
            files: YAML files of agents, or folders of them.
            delete: agents to delete, by their names.
            timeout: seconds before the call is stopped.
        """
        paths = [Path(file).expanduser() for file in files]
        made = wait_for(self._store, self._store.agents.plan(paths, delete), timeout)
        return AgentPlan(made, self._store)

    @check_handle
    def votes(self, *, timeout: float | None = None) -> VoteCount:
        """Return the votes of all comparisons, counted per version."""
        return VoteCount(wait_for(self._store, self._store.comparison.count_votes(), timeout))

    @check_handle
    def evaluate(
        self,
        agent: str | Agent,
        cases: str | Path,
        *,
        version: int | None = None,
        baseline: "EvalRun | str | None" = None,
        repeat: int = 1,
        seed: int | None = None,
        jobs: int = JOBS,
        resume: bool = False,
        timeout: float | None = None,
    ) -> EvalRun:
        """Run test cases against an agent and store the run on this machine.

        An interrupted run keeps its ended attempts; `resume` continues it. Registered functions are
        called when the agent asks for them.

        Args:
            agent: its name or id.
            cases: a YAML file with `cases`, or a JSONL file with a case on each line.
            version: the version that answers; None is the active one.
            baseline: a run to compare with, or its id.
            repeat: attempts at each case; 6 or more can make one case alone significant.
            seed: the seed of the first attempt; each further one adds 1.
            jobs: the number of concurrent attempts.
            resume: continues an interrupted run of the same set.
            timeout: seconds before the call is stopped.
        """
        asked = self._names.agent(agent)
        version = self._names.version(asked.id, version)
        service, plan = self._store.evals, Plan(repeat, seed, jobs, resume)
        run = wait_for(
            self._store,
            service.run(asked.id, version, Path(cases).expanduser(), plan),
            timeout,
            lambda: run_progress(service.slice.value.progress),
            look=permission(self._store),
        )
        tried = EvalRun(run, report(run), service.records)
        return tried if baseline is None else tried.beside(baseline)

    @check_handle
    def eval_run(self, run: str, *, baseline: "EvalRun | str | None" = None) -> EvalRun:
        """Return a stored run by its id, the beginning of its id, or a file.

        Args:
            run: its id.
            baseline: a run to compare with, or its id.
        """
        records = self._store.evals.records
        with bench_errors():
            found = records.get(run)
        kept = EvalRun(found, report(found), records)
        return kept if baseline is None else kept.beside(baseline)
