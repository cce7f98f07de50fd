"""Agents, their versions, and what changed between two, in rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.store.selectors.diff import FieldChange
from carrel.store.selectors.words import age, count, one_line

if TYPE_CHECKING:
    from carrel.store.agents import AgentsState

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
    """One version. `note` is what its maker wrote about it."""

    number: int
    name: str
    active: bool
    aliases: str
    age: str
    note: str
    marked: bool


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One changed field: its name, the change in words, and for text its lines with their sign."""

    field: str
    words: str
    change: FieldChange


def agent_rows(state: AgentsState) -> tuple[AgentRow, ...]:
    """The agents."""
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


def version_rows(state: AgentsState, now: float) -> tuple[VersionRow, ...]:
    """The versions of the selected agent, newest first."""
    active = next((agent.version for agent in state.items if agent.id == state.selected), None)
    return tuple(
        VersionRow(
            agent.version,
            version_name(agent.version),
            agent.version == active,
            ", ".join(each.alias for each in state.aliases if each.version == agent.version),
            age(now - agent.updated_at.timestamp()),
            one_line(agent.version_message or ""),
            agent.version in state.marked,
        )
        for agent in state.versions
    )


def version_name(version: int | None) -> str:
    """`v3`."""
    return "" if version is None else f"v{version}"


def diff_title(state: AgentsState) -> str:
    """`v3 → v4 · 3 changes`; empty without two marked versions."""
    if len(state.marked) != 2:
        return ""
    old, new = sorted(state.marked)
    changes = sum(change.change != "same" for change in state.diff)
    return (
        f"{version_name(old)} → {version_name(new)} · "
        f"{count(changes)} change{'' if changes == 1 else 's'}"
    )


def change_rows(
    state: AgentsState, libraries: Mapping[str, str] | None = None
) -> tuple[ChangeRow, ...]:
    """The fields of the two marked versions. `libraries` gives names for library ids."""
    return tuple(
        ChangeRow(change.field, _words(change, libraries or {}), change) for change in state.diff
    )


def change_words(change: FieldChange) -> str:
    """`mistral-large (same)`, `0.7 → 0.3`, `+ web_search`, `2 of 31 lines`."""
    if change.lines:
        changed = sum(line.change == "added" for line in change.lines)
        total = sum(line.change != "removed" for line in change.lines)
        return f"{count(changed)} of {count(total)} lines"
    match change.change:
        case "same":
            value = change.new or ""
            shown = value if "\n" not in value and len(value) <= 60 else ""
            return f"{shown} (same)".strip()
        case "added":
            return f"+ {change.new}"
        case "removed":
            return f"− {change.old}"
        case "changed":
            return f"{change.old} → {change.new}"


def line_sign(change: str) -> str:
    """The sign before a line: added +, removed −."""
    return _SIGNS[change]


def _words(change: FieldChange, libraries: Mapping[str, str]) -> str:
    words = change_words(change)
    if change.field == "tools":
        for library_id, name in libraries.items():
            words = words.replace(library_id, one_line(name))
    return words
