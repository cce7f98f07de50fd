"""Applying agent files: a plan of the differences first, then exactly that plan.

The alias `applied` marks the version that was applied last, and an exported file names its source
version: both tell later changes at the service from changes in the files.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from carrel.client.http.errors import NotFound
from carrel.store.agents.compare import Change, FieldChange, compare_agents
from carrel.store.agents.definitions import Defined, Exported, Names, read_definitions, same_fields
from carrel.store.agents.drafts import Draft, nobody
from carrel.store.agents.formatting import (
    FieldRow,
    change_lines,
    changed_field_rows,
    changes_words,
    next_version,
    version_name,
)
from carrel.store.agents.trials import is_trial
from carrel.store.core.formatting import counted, one_line
from carrel.store.core.problem import ProblemError
from carrel.wire.generation.agents import Agent
from carrel.yamlfile import FileError

if TYPE_CHECKING:
    from carrel.client import Client

APPLIED = "applied"
"""Alias of the version that was applied last."""

StepKind = Literal["create", "change", "adopt", "same", "delete"]
_MARKS = {"create": "+", "change": "~", "delete": "-", "adopt": "=", "same": "="}
_CHANGES: Mapping[str, Change] = {"create": "added", "change": "changed", "delete": "removed"}
Drift = Literal["none", "changed", "unknown"]


@dataclass(frozen=True)
class Step:
    """One agent's part of the plan.

    `adopt` marks the current version as applied if it already equals the file. `drift` tells
    whether the agent was changed at the service since the version `known`; `changed_there` has
    those changes. It is unknown for an agent that was neither applied from a file nor exported to
    this one. `draft` is the wanted agent, `changes` the way to it.
    """

    name: str
    kind: StepKind
    agent: Agent | None = None
    draft: Draft | None = None
    changes: tuple[FieldChange, ...] = ()
    drift: Drift = "none"
    known: int | None = None
    changed_there: tuple[FieldChange, ...] = ()

    @property
    def pending(self) -> bool:
        """Whether the step would change an agent."""
        return self.kind in ("create", "change", "delete")


@dataclass(frozen=True)
class Plan:
    """The steps in order of execution."""

    steps: tuple[Step, ...]
    libraries: Mapping[str, str]

    @property
    def pending(self) -> tuple[Step, ...]:
        """The steps that would change an agent."""
        return tuple(step for step in self.steps if step.pending)

    @property
    def drifted(self) -> tuple[Step, ...]:
        """The steps that would overwrite a change made at the service."""
        return tuple(step for step in self.pending if step.drift != "none")


async def make_plan(client: Client, paths: Iterable[Path], delete: Sequence[str] = ()) -> Plan:
    """Return the differences between files and the service; `delete` names agents to remove.

    Raises:
        FileError: a file is no agent, or names something that the service does not have.
        ProblemError: a name is ambiguous, or an agent to delete is defined in a file.
    """
    defined = await asyncio.to_thread(read_definitions, paths)
    agents = [agent async for agent in client.agents.every() if not is_trial(agent)]
    libraries = {library.id: library.name async for library in client.libraries.every()}
    by_name = _find_by_name(agents, {*(one.definition.name for one in defined), *delete})
    model = await default_model(client)
    steps = []
    # A new agent has no id yet: its name stands in until it is created.
    known = {agent.id: agent.name for agent in agents}
    known |= {one.definition.name: "" for one in defined if one.definition.name not in by_name}
    names = Names(libraries, known)
    for one in _sort_by_handoffs(defined, by_name):
        steps.append(await _step(client, one, by_name.get(one.definition.name), names, model))
    for name in delete:
        if any(one.definition.name == name for one in defined):
            detail = f"{one_line(name)} is to be deleted, and defined in a file."
            raise ProblemError("A plan cannot do both", detail)
        if agent := by_name.get(name):
            steps.append(Step(name, "delete", agent))
    return Plan(tuple(steps), libraries)


async def carry_out(client: Client, plan: Plan) -> AsyncIterator[Step]:
    """Carry out a plan; yield each step when it is done, with the resulting agent.

    Raises:
        ProblemError: an agent was changed since the plan was made.
    """
    made: dict[str, str] = {}
    for step in plan.steps:
        agent = await _take(client, step, made)
        if step.kind == "create" and agent is not None:
            made[step.name] = agent.id
        if agent is not None and step.kind != "same":
            await _mark(client, agent)
        yield replace(step, agent=agent or step.agent)


def plan_lines(plan: Plan) -> list[str]:
    """Return the whole plan as lines of plain text."""
    lines = []
    for step in plan.steps:
        lines.append(f"{_MARKS[step.kind]} {one_line(step.name)}: {step_words(step)}")
        if words := drift_words(step):
            lines.append(f"  ! {words}")
            rows = changed_field_rows(step.changed_there, plan.libraries)
            lines += [f"    {line}" for line in change_lines(rows)]
        rows = changed_field_rows(step.changes, plan.libraries)
        lines += [f"  {line}" for line in change_lines(rows)]
    return lines


def plan_rows(plan: Plan) -> tuple[FieldRow, ...]:
    """Return the steps that change an agent, each above its changes."""
    rows: list[FieldRow] = []
    for step in plan.pending:
        rows.append(FieldRow(one_line(step.name), step_words(step), _CHANGES[step.kind]))
        changed = changed_field_rows(step.changes, plan.libraries)
        rows += [replace(row, depth=row.depth + 1) for row in changed]
        if words := drift_words(step):
            rows.append(FieldRow("⚠ at the service", words, "changed", depth=1))
            there = changed_field_rows(step.changed_there, plan.libraries)
            rows += [replace(row, depth=row.depth + 2) for row in there]
    return tuple(rows)


def step_words(step: Step) -> str:
    """Return a step in words: `v3 → v4 · 2 changes`, `in step with v3`."""
    match step.kind, step.agent:
        case "create", _:
            return "new agent"
        case "delete", agent if agent is not None:
            return f"to delete, with {counted(len(agent.versions), 'version')}"
        case "change", agent if agent is not None:
            way = f"{version_name(agent.version)} → {next_version(agent)}"
            return f"{way} · {changes_words(step.changes)}"
    return "in step" if step.agent is None else f"in step with {version_name(step.agent.version)}"


def done_words(step: Step) -> str:
    """Return a step's outcome in words: `is now v4`."""
    version = "" if step.agent is None else version_name(step.agent.version)
    match step.kind:
        case "create":
            return f"made, {version}"
        case "delete":
            return "deleted"
        case "change":
            return f"is now {version}"
    return f"in step with {version}"


def drift_words(step: Step) -> str:
    """Describe the agent's drift from its file; return an empty string if there is none."""
    match step.drift:
        case "changed":
            known = version_name(step.known)
            return f"changed at the service since {known}: {changes_words(step.changed_there)}"
        case "unknown" if step.pending:
            return "not made from this file: this would replace what was made at the service"
    return ""


def overwriting_words(plan: Plan) -> str:
    """Warn of changes at the service that a plan would overwrite; name their agents and the
    reason."""
    found = []
    for drift, singular, plural in (
        ("changed", "was changed at the service", "were changed at the service"),
        ("unknown", "was not made from these files", "were not made from these files"),
    ):
        names = [one_line(step.name) for step in plan.drifted if step.drift == drift]
        if names:
            found.append(f"{', '.join(names)} {singular if len(names) == 1 else plural}")
    return "; ".join(found)


async def _step(
    client: Client, defined: Defined, agent: Agent | None, names: Names, model: str
) -> Step:
    definition = defined.definition
    message = f"Applied from {defined.path.name}"[:500]
    if agent is None:
        if not definition.model and not model:
            error = defined.document.mistake((), "model is missing: this service lists none.")
            raise FileError(defined.path, error.line, error.reason)
        draft = replace(Draft.blank(), fields=names.fields(defined, model), message=message)
        changes = compare_agents(nobody(), draft.preview(nobody()))
        return Step(definition.name, "create", None, draft, changes)
    wanted = same_fields(names.fields(defined, agent.model), agent)
    draft = replace(Draft.of(agent), fields=wanted, message=message)
    applied = await _find_applied(client, agent)
    if not draft.differs_from(agent):
        # An agent that equals its file has not drifted, whoever changed it.
        kind: StepKind = "same" if applied == agent.version else "adopt"
        return Step(definition.name, kind, agent, draft, known=applied)
    changes = compare_agents(agent, draft.preview(agent))
    drift = await _drift(client, agent, applied, definition.exported)
    return Step(definition.name, "change", agent, draft, changes, *drift)


async def _find_applied(client: Client, agent: Agent) -> int | None:
    """Return the version that was applied last, or None."""
    try:
        aliases = await client.agents.aliases(agent.id)
    except NotFound:
        return None  # aliases are optional for a service
    return next((one.version for one in aliases if one.alias == APPLIED), None)


async def _drift(
    client: Client, agent: Agent, applied: int | None, exported: Exported | None
) -> tuple[Drift, int | None, tuple[FieldChange, ...]]:
    """Return the drift of an agent from its file, the known version and the changes since then."""
    known = {applied} if applied is not None else set()
    if exported is not None and exported.agent == agent.id:
        known.add(exported.version)
    if agent.version in known:
        return "none", agent.version, ()
    for version in sorted(known, reverse=True):
        try:
            before = await client.agents.version(agent.id, version)
        except NotFound:
            continue
        changed = tuple(one for one in compare_agents(before, agent) if one.change != "same")
        return ("changed" if changed else "none"), version, changed
    return "unknown", None, ()


async def _take(client: Client, step: Step, made: Mapping[str, str]) -> Agent | None:
    agent, draft = step.agent, step.draft
    if draft is not None and (handoffs := draft.fields.get("handoffs")):
        draft = draft.changed(handoffs=[made.get(one, one) for one in handoffs])
    if step.kind == "create" and draft is not None:
        # Another may carry out the same plan at this moment.
        new = await client.agents.create(draft.create(), if_absent=True)
        if draft.differs_from(new):
            raise _changed_error(new)
        return new
    if agent is None or not step.pending:
        return agent
    now = await client.agents.get(agent.id)
    if (now.version, now.updated_at) != (agent.version, agent.updated_at):
        raise _changed_error(agent)
    if draft is None:
        await client.agents.delete(agent.id)
        return None
    change = draft.update(now)
    return now if change is None else await client.agents.update(now.id, change)


def _changed_error(agent: Agent) -> ProblemError:
    detail = f"{one_line(agent.name)} was changed since the plan was made."
    return ProblemError("The plan is out of date", detail, "Plan again.")


async def _mark(client: Client, agent: Agent) -> None:
    with suppress(NotFound):  # aliases are optional for a service
        await client.agents.set_alias(agent.id, APPLIED, agent.version)


def _find_by_name(agents: Sequence[Agent], names: Iterable[str]) -> dict[str, Agent]:
    found: dict[str, Agent] = {}
    for agent in agents:
        if agent.name not in names:
            continue
        if agent.name in found:
            ids = f"{found[agent.name].id}, {agent.id}"
            detail = f"Two agents are named “{one_line(agent.name)}”: {ids}."
            raise ProblemError("A file names an agent by its name", detail, "Rename one.")
        found[agent.name] = agent
    return found


async def default_model(client: Client) -> str:
    try:
        models = (await client.models.list()).chat_models
    except NotFound:
        return ""  # listing models is optional for a service
    return models[0].id if models else ""


def _sort_by_handoffs(defined: Sequence[Defined], there: Mapping[str, Agent]) -> list[Defined]:
    """Sort the definitions: a new agent comes before the agents that hand over to it."""
    new = {one.definition.name: one for one in defined if one.definition.name not in there}
    found: dict[str, Defined] = {}

    def add(one: Defined, above: tuple[str, ...]) -> None:
        name = one.definition.name
        if name in above:
            circle = " → ".join((*above, name))
            raise one.mistake("handoffs", above[-1], f"New agents hand over in a circle: {circle}.")
        if name not in found:
            for target in one.definition.handoffs:
                if target in new:
                    add(new[target], (*above, name))
            found[name] = one

    for one in defined:
        add(one, ())
    return list(found.values())
