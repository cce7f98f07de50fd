"""Formatting of agents, versions and their differences as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.store.agents.compare import (
    DEFAULTS,
    Change,
    FieldChange,
    changed_fields,
    compare_agents,
    tool_name,
)
from carrel.store.agents.drafts import LIBRARY, Draft
from carrel.store.core.diff import Hunk, hunks
from carrel.store.core.formatting import age, count, counted, one_line
from carrel.store.core.lists import Sort, sort_by

if TYPE_CHECKING:
    from carrel.store.agents.state import AgentsState
    from carrel.wire.generation.agents import Agent

NAMED = 8
"""Number of a service's models that a warning names."""
VERSION_ORDERS: Mapping[str, Callable[[Agent, str], Any]] = {
    "version": lambda agent, _: agent.version,
    "note": lambda _, note: note.casefold() or None,
    "changed": lambda agent, _: agent.updated_at,
}
"""Sort keys of a version and its note by column name; None sorts last."""
_SIGNS = {"same": " ", "added": "+", "removed": "−"}


@dataclass(frozen=True, slots=True)
class AgentRow:
    id: str
    name: str
    version: str
    model: str
    selected: bool


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version. `note` is its author's, else it names the changed fields."""

    number: int
    name: str
    active: bool
    aliases: str
    age: str
    note: str
    marked: bool


@dataclass(frozen=True, slots=True)
class DraftRow:
    """A draft of an agent's next version, or of a new agent."""

    id: str
    name: str
    about: str
    age: str


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field of either version: its name, its change in words, and its text changes in `hunks`.

    `depth` is 1 for a part of the field above, else 0.
    """

    field: str
    words: str
    change: Change
    hunks: tuple[Hunk, ...] = ()
    depth: int = 0


def change_lines(rows: Iterable[FieldRow]) -> Iterator[str]:
    """Yield the rows as lines of plain text."""
    for row in rows:
        yield f"{'  ' * row.depth}{row.field}: {one_line(row.words)}"
        for hunk in row.hunks:
            if hunk.skipped:
                yield f"    {gap_words(hunk.skipped)}"
            yield from (f"  {line_sign(line.change)} {line.text}" for line in hunk.lines)


def agent_rows(state: AgentsState) -> tuple[AgentRow, ...]:
    """Return the rows of all agents."""
    return tuple(
        AgentRow(
            agent.id,
            one_line(agent.name),
            version_name(agent.version),
            agent.model,
            agent.id == state.selected,
        )
        for agent in state.items
    )


def version_rows(
    state: AgentsState, now: float, sort: Sort | None = None
) -> tuple[VersionRow, ...]:
    """Return the versions of the selected agent, ordered by VERSION_ORDERS or newest first."""
    active = next((agent.version for agent in state.items if agent.id == state.selected), None)
    noted = list(zip(state.versions, version_notes(state.versions), strict=True))
    if sort is not None:
        key = VERSION_ORDERS[sort.column]
        noted = sort_by(noted, lambda pair: key(*pair), descending=sort.descending)
    return tuple(
        VersionRow(
            agent.version,
            version_name(agent.version),
            agent.version == active,
            ", ".join(alias.alias for alias in state.aliases if alias.version == agent.version),
            age(now - agent.updated_at.timestamp()),
            note,
            agent.version in state.marked,
        )
        for agent, note in noted
    )


def version_notes(versions: Sequence[Agent]) -> Iterator[str]:
    """Yield the note of each version's author, else the fields changed since the version before.

    The version before is among `versions` or unknown.
    """
    known = {version.version: version for version in versions}
    for version in versions:
        before = known.get(version.version - 1)
        if version.version_message:
            yield one_line(version.version_message)
        elif version.version == 0:
            yield "first version"
        elif before is not None and (fields := changed_fields(before, version)):
            yield f"{one_line(', '.join(fields))} changed"
        else:
            yield ""


def draft_row(state: AgentsState, now: float) -> DraftRow | None:
    """Return the row of the selected agent's draft, or None."""
    return None if state.draft is None else _draft_row(state.draft, now)


def new_agent_rows(state: AgentsState, now: float) -> tuple[DraftRow, ...]:
    """Return the drafts of new agents, newest first."""
    return tuple(_draft_row(draft, now) for draft in state.drafts if draft.agent_id is None)


def draft_name(draft: Draft) -> str:
    """Return the name that a draft has so far, or words for none."""
    return one_line(draft.name) or "no name yet"


def draft_title(state: AgentsState) -> str:
    """Return `v4 → draft · 2 changes`, or an empty string if the selected agent has no draft."""
    if state.agent is None or state.draft is None:
        return ""
    return f"{version_name(state.agent.version)} → draft · {changes_words(draft_changes(state))}"


def draft_changes(state: AgentsState) -> tuple[FieldChange, ...]:
    """Compare the selected agent's draft with its active version."""
    if state.agent is None or state.draft is None:
        return ()
    return compare_agents(state.agent, state.draft.preview(state.agent))


def next_version(agent: Agent) -> str:
    """Return the name of the next version."""
    return version_name(max((*agent.versions, agent.version)) + 1)


def detail_rows(
    agent: Agent, libraries: Mapping[str, str] | None = None
) -> tuple[tuple[str, str], ...]:
    """Return a version's fields except its instructions, as pairs of a name and a one-line
    value."""
    tools: list[str] = []
    for tool in agent.tools:
        if tool.get("type") == LIBRARY:
            ids = tool.get("library_ids") or ()
            tools += [f"library {one_line((libraries or {}).get(id, id))}" for id in ids]
        else:
            tools.append(one_line(tool_name(tool)))
    arguments = (
        (name.replace("_", " ").capitalize(), one_line(str(value)))
        for name, value in sorted(agent.completion_args.items())
        if value is not None and value != DEFAULTS.get(name)
    )
    about = [("About", one_line(agent.description))] if agent.description else []
    return (("Model", agent.model), ("Tools", ", ".join(tools) or "none"), *arguments, *about)


def version_name(version: int | None) -> str:
    """Return `v3`."""
    return "" if version is None else f"v{version}"


def lack_words(agent: Agent, version: int) -> str:
    """Return `support has versions 0–3; there is no version 9`, or an empty string if there is."""
    if not agent.versions or version in agent.versions:
        return ""
    first, last = min(agent.versions), max(agent.versions)
    has = f"version {last}" if first == last else f"versions {first}–{last}"
    return f"{one_line(agent.name)} has {has}; there is no version {version}"


def diff_title(state: AgentsState) -> str:
    """Return `v3 → v4 · 3 changes`, or an empty string unless two versions are marked."""
    if len(state.marked) != 2:
        return ""
    old, new = sorted(state.marked)
    return f"{version_name(old)} → {version_name(new)} · {changes_words(state.diff)}"


def changes_words(changes: Iterable[FieldChange]) -> str:
    """Return `3 changes`."""
    return counted(sum(change.change != "same" for change in changes), "change")


def field_rows(
    changes: Iterable[FieldChange], libraries: Mapping[str, str] | None = None
) -> tuple[FieldRow, ...]:
    """Return the rows of all fields. `libraries` maps library ids to names."""
    return tuple(
        _row(part, libraries or {}, depth)
        for change in changes
        for depth, part in ((0, change), *((1, part) for part in change.parts))
    )


def changed_field_rows(
    changes: Iterable[FieldChange], libraries: Mapping[str, str] | None = None
) -> tuple[FieldRow, ...]:
    """Return the rows of changed fields only."""
    return field_rows((change for change in changes if change.change != "same"), libraries)


def change_words(change: FieldChange) -> str:
    """Return `mistral-large (same)`, `0.7 → 0.3`, `+ web_search`, `2 of 31 lines`."""
    if change.lines:
        added = sum(line.change == "added" for line in change.lines)
        removed = sum(line.change == "removed" for line in change.lines)
        total = len(change.lines) - (removed if added >= removed else added)
        return f"{count(max(added, removed))} of {counted(total, 'line')}"
    match change.change:
        case "same":
            value = change.new or ""
            shown = value if "\n" not in value and len(value) <= 60 else ""
            return f"{shown} (same)".strip()
        case "added":
            return f"+ {change.new}"
        case "removed":
            return f"− {change.old}"
        case "changed" if change.parts:
            return change.new or ""
        case "changed":
            return f"{change.old} → {change.new}"


def gap_words(lines: int) -> str:
    """Return `⋯ 12 lines the same`."""
    return f"⋯ {counted(lines, 'line')} the same"


def line_sign(change: str) -> str:
    """Return the sign of a line in a diff: + if added, − if removed."""
    return _SIGNS[change]


def _draft_row(draft: Draft, now: float) -> DraftRow:
    begun = "" if draft.base is None else f", from {version_name(draft.base)}"
    about = " · ".join(filter(None, (f"unsaved{begun}", one_line(draft.message))))
    return DraftRow(draft.id, draft_name(draft), about, age(now - draft.updated))


def _row(change: FieldChange, libraries: Mapping[str, str], depth: int) -> FieldRow:
    words = change_words(change)
    for library_id, name in libraries.items():
        words = words.replace(library_id, one_line(name))
    shown = hunks(change.lines) if change.change != "same" else ()
    return FieldRow(change.field, words, change.change, shown, depth)


def unlisted_words(model: str) -> str:
    """Return the warning for a model that the service does not list."""
    return f"This service lists no model “{one_line(model)}”: it may not answer."


def models_words(models: Sequence[str]) -> str:
    """Return the names of a service's models, as many as fit in a line."""
    more = f" and {count(len(models) - NAMED)} more" if len(models) > NAMED else ""
    return f"Available: {', '.join(models[:NAMED])}{more}"
