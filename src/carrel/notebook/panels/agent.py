"""The Agent panel."""

import time
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from carrel.notebook.html.tables import moment, table
from carrel.notebook.panels.agent_fields import AgentFields
from carrel.notebook.panels.compare import ComparePanel
from carrel.notebook.panels.core.base import (
    Cell,
    Json,
    Panel,
    badge_json,
    forward,
    intent,
    problem_json,
)
from carrel.notebook.panels.core.changes import changes_json
from carrel.notebook.panels.core.table import TableLayout
from carrel.store.agents.compare import FieldChange
from carrel.store.agents.drafts import Draft
from carrel.store.agents.formatting import (
    VersionRow,
    agent_rows,
    detail_rows,
    diff_title,
    draft_changes,
    draft_name,
    draft_row,
    draft_title,
    field_rows,
    models_words,
    new_agent_rows,
    version_name,
    version_rows,
)
from carrel.store.agents.review import NOTHING_CHANGED, review, review_switch
from carrel.store.agents.service import AgentsService
from carrel.store.agents.starters import starters
from carrel.store.agents.state import AgentsState
from carrel.store.comparison.state import Side
from carrel.store.core.formatting import Badge
from carrel.store.core.lists import Sort
from carrel.store.core.problem import ProblemError
from carrel.store.store import Store
from carrel.wire.generation.agents import Agent

_HEAD = ("Version", "State", "Changed", "Message")

ACTIVE = Badge("●", "active", "ready")
UNSAVED = Badge("✎", "unsaved", "busy")
DRAFT = "draft"
"""Id of the draft's row among the versions."""
_STARTER = "starter "


class AgentPanel(Panel, view="agent"):
    """Agents and their versions: differences, the active one, aliases, a form, drafts.

    With its own service it shows only that service's agent, without the list.
    """

    _title = "Agents"
    _deletes = "agents"

    def __init__(self, store: Store, agents: AgentsService | None = None, **options: Any) -> None:
        self._agents = self._listing = agents or store.agents
        self._single = agents is not None
        self._open: dict[str, Draft] = {}
        self._trial: tuple[Draft, ComparePanel] | None = None
        self._begun_trials = 0
        self._layout = TableLayout(store, "versions")
        super().__init__(store, parts=(self._layout,), own=agents, **options)
        self._follow(self._agents.slice, store.libraries.slice, self._layout.slice)
        if not self._agents.slice.value.loaded:
            self._loading = self._agents.load()

    def close(self) -> None:
        """Close the panel and its trial."""
        self._end_trial()
        super().close()

    @property
    def selected(self) -> Agent | None:
        """The selected agent at its active version."""
        return self._agents.slice.value.agent

    @property
    def versions(self) -> tuple[Agent, ...]:
        """The versions of the selected agent, newest first."""
        return self._agents.slice.value.versions

    @property
    def draft(self) -> Draft | None:
        """The unsaved draft of the selected agent."""
        return self._agents.slice.value.draft

    @property
    def trial(self) -> ComparePanel | None:
        """The chats with the draft under trial."""
        return None if self._trial is None else self._trial[1]

    def _view(self) -> Json:
        state = self._agents.slice.value
        session = self._store.session.slice.value
        agent, now = state.agent, time.time()
        return {
            "layout": self._layout.view(),
            "single": self._single,
            "agents": [
                {"id": row.id, "name": row.name, "note": row.version} for row in agent_rows(state)
            ],
            "selected": state.selected,
            "title": "" if agent is None else agent.name,
            "empty": "No agents yet. Make one with New …"
            if state.loaded
            else "Loading the agents …",
            "versions": _versions(state, now, self._layout.sort),
            "active": None if agent is None else str(agent.version),
            "aliases": [
                {"alias": one.alias, "id": str(one.version), "version": version_name(one.version)}
                for one in state.aliases
            ],
            "about": self._describe(state),
            "diff": self._changes(diff_title(state), state.diff),
            "draft": self._changes(draft_title(state), draft_changes(state)),
            "trial": None if self._trial is None else _describe_trial(*self._trial),
            "new_agents": [
                {"id": row.id, "name": row.name, "note": row.age}
                for row in new_agent_rows(state, now)
            ],
            "models": list(session.models),
            "loading": state.loading,
            "read_only": session.read_only,
            "problem": problem_json(state.error),
        }

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
        state = self._agents.slice.value
        dates = {str(one.version): moment(one.updated_at) for one in state.versions}
        rows = []
        for row in self.state["versions"]:
            name, status, _, note = row["cells"]
            rows.append([name, status, dates.get(row["id"], "not saved"), note])
        return _HEAD, rows

    async def draw_still(self) -> str:
        """Return the agents by name; for the selected agent, its versions and instructions."""
        state, agent = self.state, self.selected
        names = ", ".join(one["name"] for one in state["agents"])
        parts = [] if self._single or not names else [f"<p>Agents: {escape(names)}</p>"]
        parts.append(table(state["title"] or self._title, *self._table()))
        if agent is not None:
            facts = [("Model", agent.model), ("Instructions", agent.instructions)]
            parts.append(table("Active version", ("Field", "Value"), facts))
        return "".join(parts)

    def _libraries(self) -> Mapping[str, str]:
        return {one.id: one.name for one in self._store.libraries.slice.value.items}

    def _changes(self, title: str, changes: Iterable[FieldChange]) -> Json:
        return {"title": title, "rows": changes_json(field_rows(changes, self._libraries()))}

    def _describe(self, state: AgentsState) -> Json:
        """Return the fields of the active version."""
        if state.agent is None:
            return {"title": "", "rows": []}
        title = f"{version_name(state.agent.version)} · active"
        if len(state.versions) > 1:
            title += " · mark two versions to compare them"
        fields = detail_rows(state.agent, self._libraries())
        instructions = ("Instructions", state.agent.instructions or "none")
        rows = [
            {"field": name, "words": words, "change": "", "depth": 0, "hunks": []}
            for name, words in (*fields, instructions)
        ]
        return {"title": title, "rows": rows}

    # choosing and comparing

    _on_choose = forward("_agents", AgentsService.select, "agent")
    _on_mark = forward("_agents", AgentsService.mark_version, "version")

    # the active version

    @intent
    async def _on_preview(self, agent: str, version: int) -> Json:
        """Return the changes that activating a version would make."""
        return self._preview(self._agent_in_view(agent), version)

    @intent
    async def _on_preview_back(self, agent: str) -> Json:
        """Return the changes of a rollback, and the version that it activates."""
        shown = self._agent_in_view(agent)
        version = self._agents.active_before(shown)
        return {**self._preview(shown, version, back=True), "version": version}

    def _preview(self, agent: Agent, version: int, *, back: bool = False) -> Json:
        found = review_switch(agent, self._version(version), self._libraries(), back=back)
        return {"title": found.title, "about": found.about, "rows": changes_json(found.rows)}

    @intent
    async def _on_make_active(self, agent: str, version: int) -> None:
        await self._agents.switch(agent, version)

    @intent
    async def _on_roll_back(self, agent: str, version: int) -> None:
        await self._agents.roll_back(agent, version)

    @intent
    async def _on_alias(self, agent: str, alias: str, version: int | None) -> None:
        if version is None:
            await self._agents.remove_alias(agent, alias)
        else:
            await self._agents.set_alias(agent, alias, version)

    _on_delete = forward("_agents", AgentsService.delete, "agent")

    # drafts

    @intent
    async def _on_begin(
        self, start: str, agent: str | None = None, version: int | None = None
    ) -> Json:
        """Return a draft for the form: `blank`, a starter (`starter NAME`), a `copy` or an `edit`
        of a version, or a saved draft."""
        if not self._store.libraries.slice.value.loaded:
            await self._store.libraries.load()
        state = self._agents.slice.value
        draft = self._begin_draft(state, start, agent, version)
        self._open[draft.id] = draft
        title = "New agent" if draft.agent_id is None else f"Edit {draft.name}"
        return {
            "draft": draft.id,
            "title": title,
            "fields": AgentFields.of(draft).model_dump(),
            "libraries": [{"id": id, "name": name} for id, name in self._libraries().items()],
            "starters": [
                {"id": f"{_STARTER}{one.name}", "name": one.name, "about": one.about}
                for one in starters()
            ]
            if start == "blank" or start.startswith(_STARTER)
            else [],
        }

    def _begin_draft(
        self, state: AgentsState, start: str, agent: str | None, version: int | None
    ) -> Draft:
        models = self._store.session.slice.value.models
        model = models[0] if models else ""
        if start == "blank":
            return Draft.blank(model)
        if start.startswith(_STARTER):
            name = start.removeprefix(_STARTER)
            return next(one for one in starters() if one.name == name).draft(model)
        kept = next((draft for draft in state.drafts if draft.id == start), None)
        if kept is not None:
            return kept
        shown = self._agent_in_view(agent)
        of = next((one for one in state.versions if one.version == version), shown)
        return Draft.copy_of(of) if start == "copy" else state.draft or Draft.of(of)

    @intent
    async def _on_keep(self, draft: str, fields: AgentFields) -> None:
        """Save the form's input as a draft during typing."""
        await self._agents.keep(self._fill_in(draft, fields))

    @intent
    async def _on_review(self, draft: str, fields: AgentFields | None = None) -> Json:
        """Return the changes that saving a draft would make; for a new agent none."""
        filled = self._fill_in(draft, fields)
        await self._agents.keep(filled)
        session = self._store.session
        agents = self._agents.slice.value.items
        found = review(filled, agents, self._libraries(), session)
        if found is None:
            return {"same": NOTHING_CHANGED}
        doubt = f"{found.doubt} {models_words(session.slice.value.models)}" if found.doubt else ""
        if found.is_new:
            title = f"Create {filled.name} anyway?" if doubt else ""
            return {"title": title, "doubt": doubt, "about": "", "rows": [], "verb": found.verb}
        return {
            "title": found.title,
            "doubt": doubt,
            "about": f"“{found.message}” {found.about}" if found.message else found.about,
            "rows": changes_json(found.rows),
            "verb": found.verb,
        }

    @intent
    async def _on_save(self, draft: str) -> None:
        await self._agents.save(self._fill_in(draft))
        self._leave(draft)

    @intent
    async def _on_drop(self, draft: str) -> None:
        await self._agents.drop(draft)
        self._leave(draft)

    @intent
    async def _on_try(self, draft: str, fields: AgentFields | None = None) -> None:
        """Open a chat with a draft beside one with the active version."""
        filled = self._fill_in(draft, fields)
        await self._agents.keep(filled)
        self._begun_trials += 1
        begun = self._begun_trials
        # A new agent's draft stands alone.
        sides = [] if filled.agent_id is None else [Side(filled.agent_id)]
        sides.append(Side(filled.agent_id or "", draft=filled.create()))
        comparison = self._store.another_comparison(saved=False)
        try:
            await comparison.begin(sides)
        except BaseException:
            self._store.close_service(comparison)
            raise
        trial = ComparePanel(self._store, comparison)
        if self._closed or begun != self._begun_trials:
            trial.close()  # the panel is closed, or another draft is on trial
            return
        self._end_trial()
        self._trial = filled, trial
        self.refresh()

    @intent
    async def _on_end_trial(self) -> None:
        self._end_trial()
        self.refresh()

    def _leave(self, draft: str) -> None:
        """Drop a saved or discarded draft; a trial of another draft continues."""
        self._open.pop(draft, None)
        if self._trial is not None and self._trial[0].id == draft:
            self._end_trial()

    def _end_trial(self) -> None:
        if self._trial is not None:
            self._trial[1].close()
        self._trial = None

    @intent
    async def _on_chat(self, agent: str, version: int) -> None:
        """Open a chat with a version."""
        pinned = None if version == self._agent_in_view(agent).version else version
        await self._store.chat.new(agent, pinned)

    def _fill_in(self, draft_id: str, fields: AgentFields | None = None) -> Draft:
        kept = (draft for draft in self._agents.slice.value.drafts if draft.id == draft_id)
        draft = self._open.get(draft_id) if fields else next(kept, self._open.get(draft_id))
        if draft is None:
            raise ProblemError("This draft is gone", advice="Begin again with Edit.")
        return fields.onto(draft) if fields else draft

    def _agent_in_view(self, agent_id: str | None) -> Agent:
        """Return the agent that the view showed, if it is still selected."""
        agent = self.selected
        if agent is None or agent.id != agent_id:
            raise ProblemError(
                "Another agent is selected by now", advice="Choose it in the list again."
            )
        return agent

    def _version(self, version: int) -> Agent:
        found = next((one for one in self.versions if one.version == version), None)
        if found is None:
            raise ProblemError(f"There is no {version_name(version)} any more")
        return found


def _describe_trial(draft: Draft, panel: ComparePanel) -> Json:
    beside = "" if draft.agent_id is None else " beside its active version"
    return {
        "draft": draft.id,
        "title": f"Draft of {draft_name(draft)}{beside}",
        "panel": f"anywidget:{panel.model_id}",
    }


def _versions(state: AgentsState, now: float, sort: Sort | None) -> list[Json]:
    rows: list[Json] = [
        {"id": str(row.number), "cells": _cells(row), "marked": row.marked}
        for row in version_rows(state, now, sort)
    ]
    if draft := draft_row(state, now):
        cells = [DRAFT, badge_json(UNSAVED), draft.age, draft.about]
        rows.insert(0, {"id": DRAFT, "cells": cells, "marked": False})
    return rows


def _cells(row: VersionRow) -> list[Cell]:
    state = badge_json(ACTIVE) if row.active else None
    name = f"{row.name} · {row.aliases}" if row.aliases else row.name
    return [name, state, row.age, row.note]
