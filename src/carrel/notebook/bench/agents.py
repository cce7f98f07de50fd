"""Calls of the bench for agents: making, asking, agents in files, evals and votes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, Unpack

from carrel.notebook.bench.agent_maker import AgentMaker
from carrel.notebook.bench.inputs import Attached
from carrel.notebook.bench.keywords import AgentKeywords, spell
from carrel.notebook.bench.names import Names
from carrel.notebook.cells.cell import answer_progress, keep, run_progress
from carrel.notebook.cells.errors import BenchError, bench_errors
from carrel.notebook.cells.wait import permission, wait_for
from carrel.notebook.results.answer import (
    Answer,
    check_question,
    collect_turns,
    last_answer,
    partial_on_error,
)
from carrel.notebook.results.evals import EvalRun, VoteCount
from carrel.notebook.results.plan import AgentPlan
from carrel.store.agents.drafts import Draft
from carrel.store.chat.conversation import Attachment, Conversation
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


Attach: TypeAlias = Callable[[Attached, float | None], list[Attachment]]
"""Uploads the files of a question within some seconds."""


class AgentCalls:
    """Makes, asks and evaluates agents; each call waits for its result."""

    def __init__(self, store: Store, names: Names, maker: AgentMaker, attach: Attach) -> None:
        self._store = store
        self._names = names
        self._maker = maker
        self._attach = attach

    @spell
    def create_agent(
        self,
        name: str,
        **fields: Unpack[AgentKeywords],
    ) -> Agent:
        """Create an agent. An existing agent of this name stays, and a warning gives both ids.

        `bench.agent(…, create=True)` creates one only if the name is new.

        Args:
            name: its name.
        """
        made = self._maker.create(name, {**fields})
        self._names.warn_of_twins("agent", made)
        return made

    @spell
    def edit_agent(
        self,
        agent: str | Agent,
        **fields: Unpack[AgentKeywords],
    ) -> Agent:
        """Create an agent's next version.

        Args:
            agent: its name or id.
        """
        edited = self._maker.edit(self._names.agent(agent), {**fields})
        if edited is None:
            raise BenchError(
                "Nothing changed", "The agent is as it was.", "Give a field that differs."
            )
        return edited

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

    def ask(
        self,
        agent: str | Agent,
        text: str,
        *,
        version: int | None = None,
        history: Sequence[Answer | Mapping[str, str]] = (),
        files: Attached = (),
        timeout: float | None = None,
    ) -> Answer:
        """Ask an agent's active or another version one question, and return the answer.

        Registered functions are called when the agent asks for them. If the answer fails or is
        stopped, the cell shows its text so far, and the error has it in `partial`.

        Args:
            agent: its name or id.
            text: the question.
            version: the version that answers; None is the active one.
            history: earlier turns: answers of `ask`, or messages with `role` and `content`.
            files: the attachments, as in `bench.ocr`, or documents of libraries.
            timeout: seconds before the call is stopped.
        """
        check_question(text)
        asked = self._names.agent(agent)
        version = self._names.version(asked.id, version)
        attached = self._attach(files, timeout)
        service = self._store.another_chat(saved=False)
        try:
            before = Conversation.of(*collect_turns(history))
            wait_for(self._store, service.new(asked.id, version, after=before))
            for attachment in attached:
                wait_for(self._store, service.attach_known(attachment))
            with partial_on_error(self._store, service, show=keep):
                wait_for(
                    self._store,
                    service.send(text),
                    timeout,
                    self._progress_of(service),
                    look=permission(self._store),
                )
                return last_answer(self._store, service.slice.value)
        finally:
            self._store.close_service(service)

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

    def votes(self, *, timeout: float | None = None) -> VoteCount:
        """Return the votes of all comparisons, counted per version."""
        return VoteCount(wait_for(self._store, self._store.comparison.count_votes(), timeout))

    def sides(
        self, agent: Asked, versions: Sequence[int] | None, beside: Sequence[Asked]
    ) -> list[Side]:
        """Return the sides of a chat: the agent, in each of the versions, and those beside it."""
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

    def _progress_of(self, service: ChatService) -> Callable[[], str]:
        session = self._store.session.slice
        return lambda: answer_progress(session.value, service.slice.value)
