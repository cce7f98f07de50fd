"""Running a set against a version: attempts run in parallel, and each is stored at its end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.client.http.errors import NotFound, ServiceError, Unauthorized
from carrel.config.profiles import Profile
from carrel.store.agents.trials import is_trial, remove_trial
from carrel.store.core.formatting import one_line
from carrel.store.core.naming import require_id
from carrel.store.core.problem import ProblemError
from carrel.store.evals.asking import Answered, Asking, Pace, Target
from carrel.store.evals.cases import Case, CaseSet
from carrel.store.evals.checks import Given, run_checks
from carrel.store.evals.records import Attempt, Header, Journal, Records, Run, new_id
from carrel.store.tools.loop import Tools

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.generation.agents import Agent

JOBS = 2
"""Default number of parallel attempts."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Options of a run: `repeats` of each case, `jobs` in parallel.

    Attempt number n has the seed `seed` + n. `resume` continues an unfinished run of the same
    questions.
    """

    repeats: int = 1
    seed: int | None = None
    jobs: int = JOBS
    resume: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """A run so far; `waiting` is the service's requested pause in seconds, or 0."""

    run: Run
    waiting: float = 0.0

    @property
    def done(self) -> int:
        """The number of attempts that have ended."""
        return len(self.run.attempts)

    @property
    def passed(self) -> int:
        """The number of attempts that have passed."""
        return sum(attempt.passed for attempt in self.run.attempts)


OnProgress = Callable[[Progress], object]


async def run_set(
    client: Client,
    profile: Profile,
    records: Records,
    agent: Agent,
    version: int | None,
    cases: CaseSet,
    plan: Plan,
    tools: Callable[[], Tools],
    on_progress: OnProgress = lambda progress: None,
) -> Run:
    """Run a set against a version of an agent; None is the active version. `profile` is the
    client's, `tools` returns the tools of one question.

    To stop the run, cancel the task: ended attempts are kept.

    Raises:
        ProblemError: there is no such version or judge, or the run cannot be stored.
        ClientError: the service is unreachable, or rejects the key.
    """
    with records.left_behind(profile.service) as trials:
        for trial in trials:
            await remove_trial(client, trial)
    chosen = await _version(client, agent, version)
    judges = await _judges(client, cases)
    header = Header(
        id=new_id(),
        begun=time.time(),
        service=profile.service,
        agent_id=agent.id,
        agent=agent.name,
        version=chosen.version,
        model=chosen.model,
        repeats=plan.repeats,
        seed=plan.seed,
        hash=cases.hash,
        price=profile.prices.get(chosen.model),
        cases=cases,
    )
    with _journal(records, header, resume=plan.resume) as journal:
        run = _Running(client, journal, judges, plan.jobs, tools, on_progress)
        if not journal.run.finished:
            active = chosen.version == agent.version
            await run.work(Target(client, chosen, active=active, made=journal.note_trial))
        return journal.run


@dataclass
class _Running:
    client: Client
    journal: Journal
    judges: dict[str, str]
    jobs: int
    tools: Callable[[], Tools]
    on_progress: OnProgress

    def __post_init__(self) -> None:
        self.pace = Pace(self._tell)

    async def work(self, target: Target) -> None:
        """Make every attempt that has not ended yet."""
        self._tell()
        header = self.journal.run.header
        open_attempts = iter(
            [
                (case, repeat)
                for repeat in range(header.repeats)
                for case in header.cases.cases
                if not self.journal.has(case.id, repeat)
            ]
        )

        async def worker() -> None:
            for case, repeat in open_attempts:
                seed = None if header.seed is None else header.seed + repeat
                self.journal.add(await self._attempt(target, case, repeat, seed))
                self._tell()

        async with target, _first_error(), asyncio.TaskGroup() as group:
            for _ in range(self.jobs):
                group.create_task(worker())

    async def _attempt(self, target: Target, case: Case, repeat: int, seed: int | None) -> Attempt:
        """Make one attempt. An answer that the service refuses counts as failed."""
        attempt = Attempt(case=case.id, repeat=repeat, seed=seed)
        try:
            answered = await target.answer(case, seed, self.pace, self.tools())
            attempt = attempt.model_copy(update=_fields_of(answered))
            if attempt.error:
                return attempt
            given = Given(answered.text, answered.passages)
            asking = Asking(self.client, self.pace, self.judges)
            checks = await run_checks(case, given, asking)
            return attempt.model_copy(update={"checks": checks, "judging": asking.judging})
        except (NotFound, Unauthorized):
            raise
        except ServiceError as error:
            return attempt.model_copy(update={"error": str(error)})

    def _tell(self, waiting: float = 0.0) -> None:
        run = self.journal.run
        so_far = Run(header=run.header, attempts=[*run.attempts])
        self.on_progress(Progress(so_far, waiting))


def _fields_of(answered: Answered) -> dict[str, object]:
    return {
        "answer": answered.text,
        "error": answered.error,
        "sources": [_source(passage.document_name, passage.page) for passage in answered.passages],
        "seconds": answered.seconds,
        "prompt_tokens": answered.prompt_tokens,
        "completion_tokens": answered.completion_tokens,
    }


def _source(name: str, page: int | None) -> str:
    return one_line(name) if page is None else f"{one_line(name)}, page {page + 1}"


async def _version(client: Client, agent: Agent, version: int | None) -> Agent:
    if version is None or version == agent.version:
        return agent
    try:
        return await client.agents.version(agent.id, version)
    except NotFound as error:
        known = ", ".join(f"v{one}" for one in sorted(agent.versions))
        title = f"{one_line(agent.name)} has no v{version}"
        raise ProblemError(title, f"It has {known}.") from error


async def _judges(client: Client, cases: CaseSet) -> dict[str, str]:
    """Return the ids of the judges by the set's names for them."""
    if not cases.judges:
        return {}
    agents = {agent.id: agent.name async for agent in client.agents.every() if not is_trial(agent)}
    return {wanted: require_id("judge", wanted, agents) for wanted in cases.judges}


@contextmanager
def _journal(records: Records, header: Header, *, resume: bool) -> Iterator[Journal]:
    before = records.unfinished(header) if resume else None
    opened = records.begin(header) if before is None else records.resume(before)
    with opened as journal:
        yield journal


@asynccontextmanager
async def _first_error() -> AsyncIterator[None]:
    """Raise the first error of several workers."""
    try:
        yield
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None
