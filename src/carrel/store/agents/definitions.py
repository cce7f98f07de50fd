"""Agents as files: the wanted state of an agent, with names in place of the service's ids.

name: support
instructions: |
  Answer in one sentence.
libraries:
- manuals
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from carrel.store.agents.compare import DEFAULTS
from carrel.store.agents.drafts import LIBRARY, Draft, fields_of
from carrel.store.core.naming import require_id
from carrel.store.core.problem import ProblemError
from carrel.wire.base import JSONObject, Name, Request, Text
from carrel.wire.generation.agents import Agent, CompletionArgs
from carrel.wire.generation.tools import Tool
from carrel.yamlfile import Document, FileError, check_in, dump, read_file

SUFFIXES = (".yaml", ".yml")


class Exported(Request):
    """The version of an agent from which a file was written."""

    agent: Name
    version: Annotated[int, Field(ge=0)]


class Definition(Request):
    """An agent as its file defines it.

    `libraries` and `handoffs` are names or ids. Without a `model`, an existing agent keeps its
    model, and a new one gets the service's first. `exported` tells changes at the service from
    changes in the file.
    """

    name: Name
    description: Text | None = None
    model: Name | None = None
    instructions: Text | None = None
    libraries: list[Name] = Field(default_factory=list)
    tools: list[Tool] = Field(default_factory=list)
    completion_args: CompletionArgs | None = None
    handoffs: Annotated[list[Name], Field(max_length=1000)] = Field(default_factory=list)
    metadata: JSONObject | None = None
    guardrails: list[JSONObject] | None = None
    exported: Exported | None = None


_OF_A_FILE = frozenset({"libraries", "handoffs", "exported"})
"""Definition fields whose form differs from the interface's."""


@dataclass(frozen=True)
class Defined:
    """A definition, and its location in a file for error messages."""

    definition: Definition
    path: Path
    document: Document

    def mistake(self, field: str, value: str, reason: str) -> FileError:
        """Return the error for a wrong value in a list field."""
        values = self.document.data.get(field)
        where = (field, values.index(value)) if values and value in values else (field,)
        error = self.document.mistake(where, reason)
        return FileError(self.path, error.line, error.reason)


def read_definitions(paths: Iterable[Path]) -> list[Defined]:
    """Read the definitions of files, and of all files in folders.

    Raises:
        FileError: a file is not an agent, two have the same name, or a folder has no file.
    """
    found: list[Defined] = []
    for path in _files(paths):
        for document in read_file(path):
            defined = Defined(check_in(path, document, Definition), path, document)
            twin = next(
                (one for one in found if one.definition.name == defined.definition.name), None
            )
            if twin is not None:
                where = f"{twin.path}, line {twin.document.line}"
                error = document.mistake(("name",), f"The same agent is defined in {where}.")
                raise FileError(path, error.line, error.reason)
            found.append(defined)
    return found


def draft_of(definition: Definition, model: str = "") -> Draft:
    """Return a draft of a definition, without its libraries and handoffs, which depend on the
    service.
    """
    fields = {**definition.body(), "model": definition.model or model}
    kept = {name: value for name, value in fields.items() if name not in _OF_A_FILE}
    return Draft.blank().changed(**kept)


@dataclass(frozen=True)
class Names:
    """Names of a service's libraries and agents, by id."""

    libraries: Mapping[str, str]
    agents: Mapping[str, str]

    def fields(self, defined: Defined, model: str) -> dict[str, Any]:
        """Return the agent's fields in the interface's form, with names resolved to ids.

        Raises:
            FileError: a library or an agent is missing, or its name is ambiguous.
        """
        definition = defined.definition
        draft = draft_of(definition, model)
        tools = [self._tool(defined, tool) for tool in draft.fields.get("tools", ())]
        if definition.libraries:
            ids = [self._id(defined, "libraries", library) for library in definition.libraries]
            tools.append({"type": LIBRARY, "library_ids": ids})
        handoffs = [self._id(defined, "handoffs", handoff) for handoff in definition.handoffs]
        return dict(draft.changed(tools=tools, handoffs=handoffs).fields)

    def _tool(self, defined: Defined, tool: Mapping[str, Any]) -> dict[str, Any]:
        if tool.get("type") != LIBRARY:
            return dict(tool)
        ids = [self._id(defined, "libraries", one) for one in tool["library_ids"]]
        return {**tool, "library_ids": ids}

    def _id(self, defined: Defined, field: str, wanted: str) -> str:
        known = self.libraries if field == "libraries" else self.agents
        kind = "library" if field == "libraries" else "agent"
        try:
            return require_id(kind, wanted, known)
        except ProblemError as error:
            raise defined.mistake(field, wanted, str(error.problem)) from error

    def text(self, agent: Agent) -> str:
        """Return an agent as the text of a file, with unambiguous names in place of ids."""
        fields = fields_of(agent)
        libraries: list[str] = []
        tools = []
        for tool in fields.pop("tools", ()):
            named = [self._name(self.libraries, id) for id in tool.get("library_ids") or ()]
            if tool.get("type") != LIBRARY:
                tools.append(tool)
            elif _is_plain(tool):
                libraries += named
            else:
                tools.append({**tool, "library_ids": named})
        handoffs = [self._name(self.agents, id) for id in fields.pop("handoffs", ())]
        ordered = {
            **{name: fields.get(name) for name in ("name", "description", "model", "instructions")},
            "libraries": libraries,
            "tools": [_without_nothing(tool) for tool in tools],
            "completion_args": _without_nothing(fields.get("completion_args", {})),
            "handoffs": handoffs,
            **{name: fields.get(name) for name in ("metadata", "guardrails")},
            "exported": {"agent": agent.id, "version": agent.version},
        }
        about = (
            f"# {' '.join(agent.name.split())}, as its v{agent.version} is.\n"
            "# carrel agents plan shows what a change of this file would do; apply does it.\n"
        )
        return about + dump({name: value for name, value in ordered.items() if value})

    def _name(self, names: Mapping[str, str], id: str) -> str:
        """Return the name of an id, or the id itself if the name is ambiguous."""
        name = names.get(id, id)
        return name if list(names.values()).count(name) == 1 else id


def same_fields(wanted: Mapping[str, Any], agent: Agent) -> dict[str, Any]:
    """Return the wanted fields; a field that means the same as the agent's gets the agent's form.

    A service adds defaults that no file names.
    """
    theirs = fields_of(agent)
    return {
        name: theirs[name]
        if name in theirs
        and _without_defaults(name, value) == _without_defaults(name, theirs[name])
        else value
        for name, value in wanted.items()
    }


def _without_defaults(name: str, value: Any) -> Any:
    """Return a value in normal form: without defaults, its tools in a fixed order."""
    kinds: dict[str, Any] = {"tools": list[Tool], "completion_args": CompletionArgs}
    if name not in kinds:
        return value
    adapter = TypeAdapter(kinds[name])
    try:
        plain = adapter.dump_python(
            adapter.validate_python(value), mode="json", by_alias=True, exclude_defaults=True
        )
    except ValidationError:
        return value  # a newer service may have tools that are unknown here
    if name != "tools":
        return plain
    libraries = {id for tool in plain if _is_plain(tool) for id in tool["library_ids"]}
    others = (json.dumps(tool, sort_keys=True) for tool in plain if not _is_plain(tool))
    return sorted(libraries), sorted(others)


def _is_plain(tool: Mapping[str, Any]) -> bool:
    """Return whether a tool is a library search without other settings."""
    rest = (value for key, value in tool.items() if key not in ("type", "library_ids"))
    return tool.get("type") == LIBRARY and not any(rest)


def _without_nothing(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in values.items()
        if value is not None and value != DEFAULTS.get(name)
    }


def _files(paths: Iterable[Path]) -> Sequence[Path]:
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(one for one in path.iterdir() if one.suffix in SUFFIXES)
        if not inside:
            raise FileError(path, None, "There is no .yaml file in this folder.")
        found += inside
    return found
