"""Drafts of agents' next versions and of new agents, kept on disk until saved."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from carrel.store.agents.compare import DEFAULTS
from carrel.store.core.problem import Problem, ProblemError
from carrel.system.atomic import write_private

if TYPE_CHECKING:
    from pydantic import ValidationError

    from carrel.wire.base import Request
    from carrel.wire.generation.agents import Agent, AgentCreate, AgentUpdate

R = TypeVar("R", bound="Request")

FORMAT = 1

FIELDS = (
    "name",
    "model",
    "description",
    "instructions",
    "tools",
    "completion_args",
    "handoffs",
    "metadata",
    "guardrails",
)
"""The fields of a version in reading order."""

LIBRARY = "document_library"

_BY_CONNECTOR = {name: name for name in ("web_search", "web_search_premium")}
"""Tools named by their type alone that a connector of the service runs."""

_CLEARED: Mapping[str, Any] = {"tools": [], "completion_args": {}, "guardrails": []}
"""Values that clear a field for which the service ignores null."""


def nobody() -> Agent:
    """Return an empty agent, against which a new agent is compared."""
    from carrel.wire.generation.agents import Agent

    now = datetime.now(UTC)
    return Agent(id="", name="", model="", version=0, versions=[], created_at=now, updated_at=now)


@dataclass(frozen=True, slots=True)
class Draft:
    """An unsaved version of an agent.

    `fields` holds the non-empty fields in the interface's form. `agent_id` is None for a new agent;
    `base` is the version from which the draft began, `message` the description of the new version,
    `updated` seconds since 1970.
    """

    id: str
    agent_id: str | None
    base: int | None
    fields: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""
    updated: float = 0.0

    @classmethod
    def of(cls, agent: Agent) -> Draft:
        """Return a draft of the agent's next version, starting from this one."""
        return cls(agent.id, agent.id, agent.version, fields_of(agent))

    @classmethod
    def blank(cls, model: str = "") -> Draft:
        """Return a draft of a new, empty agent."""
        return cls(uuid.uuid4().hex, None, None, _without_empty({"model": model}))

    @classmethod
    def copy_of(cls, agent: Agent) -> Draft:
        """Return a draft of a new agent, copied from a version of another."""
        return cls.blank().changed(**{**fields_of(agent), "name": f"{agent.name} copy"})

    @property
    def name(self) -> str:
        return str(self.fields.get("name", ""))

    @property
    def libraries(self) -> tuple[str, ...]:
        """The ids of the libraries that the agent searches."""
        tools = self.fields.get("tools", ())
        return tuple(
            str(library)
            for tool in tools
            if tool.get("type") == LIBRARY
            for library in tool.get("library_ids") or ()
        )

    def changed(self, **fields: Any) -> Draft:
        """Return the draft with changed fields; an empty value removes its field."""
        return replace(self, fields=_without_empty({**self.fields, **fields}))

    def with_libraries(self, library_ids: Sequence[str]) -> Draft:
        """Return the draft with these libraries; other tools stay."""
        if set(library_ids) == set(self.libraries):
            return self
        tools = [tool for tool in self.fields.get("tools", ()) if tool.get("type") != LIBRARY]
        if library_ids:
            tools.append({"type": LIBRARY, "library_ids": list(library_ids)})
        return self.changed(tools=tools)

    @property
    def connectors(self) -> str:
        """The names of the connectors that it uses, as a person writes them."""
        return ", ".join(filter(None, map(_connector, self.fields.get("tools", ()))))

    def with_connectors(self, names: str) -> Draft:
        """Return the draft with these connectors; its other tools stay unchanged."""
        wanted = list(dict.fromkeys(filter(None, map(str.strip, names.split(",")))))
        tools = [*self.fields.get("tools", ())]
        kept = [tool for tool in tools if _connector(tool) in (None, *wanted)]
        new = [name for name in wanted if name not in map(_connector, tools)]
        return self.changed(tools=[*kept, *map(_connector_tool, new)])

    def with_arguments(self, **arguments: Any) -> Draft:
        """Return the draft with changed sampling arguments; None removes an argument."""
        return self.changed(completion_args={**self.fields.get("completion_args", {}), **arguments})

    def differs_from(self, agent: Agent) -> bool:
        """Return whether saving the draft would change this version."""
        return self.fields != fields_of(agent)

    def create(self) -> AgentCreate:
        """Return the request for a new agent.

        Raises:
            ProblemError: the fields are not valid.
        """
        from carrel.wire.generation.agents import AgentCreate

        self._check_named()
        return _validate(AgentCreate, {**self.fields, **self._version_message()})

    def update(self, agent: Agent) -> AgentUpdate | None:
        """Return the request for the agent's next version, or None if the draft changes nothing.

        Raises:
            ProblemError: the fields are not valid.
        """
        from carrel.wire.generation.agents import AgentUpdate

        self._check_named()
        changes = self._changes_to(agent)
        return _validate(AgentUpdate, {**changes, **self._version_message()}) if changes else None

    def preview(self, agent: Agent) -> Agent:
        """Return the agent with this draft applied."""
        changes = self._changes_to(agent)
        if "completion_args" in changes:
            silent = agent.completion_args.keys() - fields_of(agent).get("completion_args", {})
            kept = {name: agent.completion_args[name] for name in silent}
            changes["completion_args"] = {**kept, **changes["completion_args"]}
        return agent.model_copy(update=changes)

    def _changes_to(self, agent: Agent) -> dict[str, Any]:
        """Return the fields that differ from an agent's; a missing one is cleared."""
        theirs = fields_of(agent)
        return {
            name: self.fields.get(name, _CLEARED.get(name))
            for name in FIELDS
            if self.fields.get(name) != theirs.get(name)
        }

    def _check_named(self) -> None:
        for name in ("name", "model"):
            if not str(self.fields.get(name, "")).strip():
                raise ProblemError(f"An agent needs a {name}", "This one has none.")

    def _version_message(self) -> dict[str, str]:
        return {"version_message": self.message} if self.message else {}


def _connector(tool: Mapping[str, Any]) -> str | None:
    """Return the name of a tool's connector."""
    type = tool.get("type")
    return str(tool.get("connector_id")) if type == "connector" else _BY_CONNECTOR.get(str(type))


def _connector_tool(name: str) -> dict[str, Any]:
    return {"type": name} if name in _BY_CONNECTOR else {"type": "connector", "connector_id": name}


def fields_of(agent: Agent) -> dict[str, Any]:
    """Return the non-empty fields of a version, in the order of FIELDS."""
    return _without_empty({name: getattr(agent, name) for name in FIELDS})


def _without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields without empty values and default arguments."""
    arguments = {
        name: value
        for name, value in (fields.get("completion_args") or {}).items()
        if value is not None and value != DEFAULTS.get(name)
    }
    known = {**fields, "completion_args": arguments}
    return {name: known[name] for name in FIELDS if known.get(name)}


def _validate(kind: type[R], body: dict[str, Any]) -> R:
    from pydantic import ValidationError

    try:
        return kind.model_validate(body)
    except ValidationError as error:
        raise ProblemError(refusal(error)) from error


def refusal(error: ValidationError) -> Problem:
    """Return the problem of invalid fields, a sentence for each."""
    complaints = [
        f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}."
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return Problem("This agent is not valid", " ".join(complaints))


class SavedDrafts:
    """The drafts of one profile, a JSON file each."""

    def __init__(self, state: Path, profile: str) -> None:
        self._folder = state / "drafts" / quote(profile, safe=" ")

    def all(self) -> tuple[Draft, ...]:
        """Return all drafts, newest first. Unreadable files are skipped."""
        found = []
        for path in self._folder.glob("*.json"):
            try:
                found.append(_from_json(json.loads(path.read_text(encoding="utf-8"))))
            except (OSError, ValueError):
                continue
        return tuple(sorted(found, key=lambda draft: (-draft.updated, draft.id)))

    def save(self, draft: Draft) -> None:
        """Write a draft atomically, readable only by its owner."""
        text = json.dumps({"format": FORMAT, **asdict(draft)}, ensure_ascii=False)
        write_private(self._path(draft.id, "json"), text)

    def forget(self, draft_id: str) -> None:
        """Remove a draft but keep its editor file. A missing draft is no error."""
        self._path(draft_id, "json").unlink(missing_ok=True)

    def delete(self, draft_id: str) -> None:
        """Remove a draft and its editor file."""
        self.forget(draft_id)
        self._path(draft_id, "yaml").unlink(missing_ok=True)

    def editor_file(self, draft_id: str, text: str, since: float) -> Path:
        """Return the path of an editor file with this text.

        A file that was changed after `since` (seconds since 1970) keeps its own text.
        """
        path = self._path(draft_id, "yaml")
        if not path.exists() or path.stat().st_mtime <= since:
            write_private(path, text)
        return path

    def _path(self, draft_id: str, kind: str) -> Path:
        return self._folder / f"{quote(draft_id, safe='')}.{kind}"


def _from_json(data: Any) -> Draft:
    try:
        if data.pop("format") != FORMAT:
            raise ValueError("another format")
        return replace(Draft(**data), fields=_without_empty(data["fields"]))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a draft: {error}") from error
