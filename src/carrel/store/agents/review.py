"""Reviews: the changes that saving a draft or activating a version would make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.store.agents.compare import compare_agents
from carrel.store.agents.drafts import Draft, nobody
from carrel.store.agents.formatting import (
    FieldRow,
    changed_field_rows,
    next_version,
    unlisted_words,
    version_name,
)
from carrel.store.session.service import SessionService

if TYPE_CHECKING:
    from carrel.wire.generation.agents import Agent

NOTHING_CHANGED = "Nothing changed. No version was made."


@dataclass(frozen=True, slots=True)
class DraftReview:
    """The question before a draft is saved, the label of its button in `verb`, and the changed
    fields.

    `doubt` warns of a model that the service does not list; `is_new` tells that the agent does not
    exist yet.
    """

    is_new: bool
    title: str
    about: str
    message: str
    doubt: str
    rows: tuple[FieldRow, ...]
    verb: str


def review(
    draft: Draft, agents: Iterable[Agent], libraries: Mapping[str, str], session: SessionService
) -> DraftReview | None:
    """Return the review of saving a draft, or None if it changes nothing.

    Raises:
        ProblemError: the draft is invalid.
    """
    model = draft.fields.get("model", "")
    doubt = "" if session.lists(model) else unlisted_words(model)
    agent = next((agent for agent in agents if agent.id == draft.agent_id), None)
    if agent is None:
        draft.create()
        title, about = f"Create {draft.name}?", "Nothing was sent yet. It would have:"
        verb = "Create"
    elif draft.update(agent) is None:
        return None
    else:
        version = next_version(agent)
        title = f"Save this as {agent.name} {version}?"
        about = _active_words(agent)
        verb = f"Save as {version}"
    old = agent or nobody()
    rows = changed_field_rows(compare_agents(old, draft.preview(old)), libraries)
    return DraftReview(agent is None, title, about, draft.message, doubt, rows, verb)


@dataclass(frozen=True, slots=True)
class SwitchReview:
    """The question before a version is activated, the label of its button in `verb`, and the
    changed fields."""

    title: str
    about: str
    rows: tuple[FieldRow, ...]
    verb: str


def review_switch(
    agent: Agent, version: Agent, libraries: Mapping[str, str], *, back: bool = False
) -> SwitchReview:
    """Return the review of activating another version; `back` words it as a rollback."""
    name = version_name(version.version)
    title = f"Roll {agent.name} back to {name}?" if back else f"Make {name} of {agent.name} active?"
    rows = changed_field_rows(compare_agents(agent, version), libraries)
    return SwitchReview(title, _active_words(agent), rows, "Roll back" if back else "Make active")


def _active_words(agent: Agent) -> str:
    return f"{version_name(agent.version)} is active now. What changes:"
