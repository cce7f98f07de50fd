"""The Agent panel."""

import time
from collections.abc import Sequence
from typing import Any

from carrel.notebook.agent_fields import AgentFields
from carrel.notebook.assets import module, style
from carrel.notebook.panel import Cell, Json, Panel, badge_json, finish, intent, problem_json
from carrel.store.agents import AgentsService
from carrel.store.problem import Problem, ProblemError
from carrel.store.selectors.agents import (
    VersionRow,
    agent_rows,
    change_rows,
    diff_title,
    line_sign,
    version_rows,
)
from carrel.store.selectors.diff import FieldChange
from carrel.store.selectors.words import Badge
from carrel.store.store import Store
from carrel.wire.agents import Agent

_HEAD = ("Version", "State", "Changed", "Message")

ACTIVE = Badge("●", "active", "ready")


class AgentPanel(Panel):
    """Agents and their versions: what differs, which is active, a form for the next one.

    With a service of its own it shows that service's one agent, without the list.
    """

    _esm = module("agent")
    _css = style("agent")
    _title = "Agents"

    def __init__(self, store: Store, agents: AgentsService | None = None, **options: Any) -> None:
        self._agents = agents or store.agents
        self._single = agents is not None
        super().__init__(store, **options)
        self._follow(self._agents.slice, store.libraries.slice)
        if not self._agents.slice.value.loaded:
            self._agents.load()

    @property
    def selected(self) -> Agent | None:
        """The selected agent, as its active version has it."""
        state = self._agents.slice.value
        return next((agent for agent in state.items if agent.id == state.selected), None)

    def _view(self) -> Json:
        state = self._agents.slice.value
        session = self._store.session.slice.value
        agent = self.selected
        names = {one.id: one.name for one in self._store.libraries.slice.value.items}
        model = session.models[0] if session.models else ""
        return {
            "single": self._single,
            "agents": [
                {"id": row.id, "name": row.name, "note": row.version} for row in agent_rows(state)
            ],
            "selected": state.selected,
            "title": "" if agent is None else agent.name,
            "empty": _empty(state.loaded),
            "versions": [
                {"id": str(row.number), "cells": _cells(row), "marked": row.marked}
                for row in version_rows(state, time.time())
            ],
            "diff_title": diff_title(state)
            if len(state.marked) == 2
            else "Mark two versions to compare them.",
            "diff": [
                {"field": row.field, "words": row.words, "lines": _lines(row.change)}
                for row in change_rows(state, names)
            ],
            "agent": None if agent is None else AgentFields.of(agent).model_dump(),
            "blank": AgentFields(model=model).model_dump(),
            "models": list(session.models),
            "libraries": [{"id": id, "name": name} for id, name in names.items()],
            "loading": state.loading,
            "read_only": session.read_only,
            "problem": problem_json(state.error),
        }

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
        return _HEAD, [row["cells"] for row in self.state["versions"]]

    @intent
    async def _on_choose(self, agent: str) -> None:
        await finish(self._agents.select(agent))

    @intent
    async def _on_mark(self, version: int) -> None:
        await finish(self._agents.mark_version(version))

    @intent
    async def _on_save(self, agent: str | None, fields: AgentFields) -> None:
        if agent is None:
            await finish(self._agents.create(fields.create()))
        else:
            old = next(one for one in self._agents.slice.value.items if one.id == agent)
            await finish(self._agents.update(agent, fields.update(old)))

    @intent
    async def _on_make_active(self, version: int) -> None:
        await finish(self._agents.switch(self._chosen(), version))

    @intent
    async def _on_delete(self) -> None:
        await finish(self._agents.delete(self._chosen()))

    def _chosen(self) -> str:
        agent = self._agents.slice.value.selected
        if agent is None:
            raise ProblemError(Problem("No agent selected", "", "Choose one at the left."))
        return agent


def _empty(loaded: bool) -> str:
    return "No agents yet. Make one with New …" if loaded else "Loading the agents …"


def _cells(row: VersionRow) -> list[Cell]:
    state = badge_json(ACTIVE) if row.active else None
    name = f"{row.name} · {row.aliases}" if row.aliases else row.name
    return [name, state, row.age, row.note]


def _lines(change: FieldChange) -> list[Json]:
    return [
        {
            "change": line.change,
            "sign": line_sign(line.change),
            "spans": [{"text": span.text, "change": span.change} for span in line.spans],
        }
        for line in change.lines
    ]
