"""Comparison of two versions of an agent: text word by word, structured fields part by part."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Literal

from carrel.store.core.diff import DiffLine, compare_lines

if TYPE_CHECKING:
    from carrel.wire.generation.agents import Agent


Change = Literal["same", "added", "removed", "changed"]

DEFAULTS = {"tool_choice": "auto"}
"""Default arguments that a service returns even if they were not given."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of two versions.

    Long text has `lines`; a structure in both versions has `parts`, named by their paths below the
    field; any other field has `old` and `new`.
    """

    field: str
    change: Change
    old: str | None = None
    new: str | None = None
    lines: tuple[DiffLine, ...] = ()
    parts: tuple[FieldChange, ...] = ()


def compare_agents(old: Agent, new: Agent) -> tuple[FieldChange, ...]:
    """Return every field of either version in reading order.

    Each tool is a field of its own, named `tools`; so is each sampling argument.
    """
    return (
        _value("model", old.model, new.model),
        *_include_if(_value("name", old.name, new.name), old.name != new.name),
        *_include_if(
            _value("description", old.description, new.description),
            bool(old.description or new.description),
        ),
        _text("instructions", old.instructions or "", new.instructions or ""),
        *_tools(old.tools, new.tools),
        *_arguments(old.completion_args, new.completion_args),
        *_rest(old, new),
    )


def changed_fields(old: Agent, new: Agent) -> tuple[str, ...]:
    """Return the names of the fields that differ, in reading order, without comparing texts."""
    plain = ("model", "name", "description", "instructions", "tools")
    structured = (*_arguments(old.completion_args, new.completion_args), *_rest(old, new))
    return (
        *(name for name in plain if (getattr(old, name) or None) != (getattr(new, name) or None)),
        *(change.field for change in structured if change.change != "same"),
    )


def tool_name(tool: dict[str, Any]) -> str:
    """Return the name that identifies a tool: `function lookup`, `connector mail`, `web_search`."""
    kind = str(tool.get("type"))
    function = tool.get("function")
    name = function.get("name") if isinstance(function, dict) else tool.get("connector_id")
    return kind if name is None else f"{kind} {name}"


def _text(field: str, old: str, new: str) -> FieldChange:
    if old == new:
        return FieldChange(field, "same", old, new)
    change: Change = "added" if not old else "removed" if not new else "changed"
    lines = compare_lines(old, new)
    if change != "changed":
        # A missing text splits into one empty line: drop it.
        lines = tuple(line for line in lines if line.change == change)
    return FieldChange(field, change, old, new, lines)


def _value(field: str, old: object, new: object) -> FieldChange:
    change: Change = "changed"
    if old == new:
        change = "same"
    elif old is None:
        change = "added"
    elif new is None:
        change = "removed"
    return FieldChange(field, change, _as_text(old), _as_text(new))


def _arguments(old: dict[str, Any], new: dict[str, Any]) -> Iterator[FieldChange]:
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        silent = (None, DEFAULTS.get(name))
        if before not in silent or after not in silent:
            yield _structure(name, before, after)


def _rest(old: Agent, new: Agent) -> Iterator[FieldChange]:
    for field in ("handoffs", "metadata", "guardrails", "deployment_chat"):
        before, after = getattr(old, field), getattr(new, field)
        if before != after:
            yield _structure(field, before, after)


def _tools(old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> Iterator[FieldChange]:
    """Yield kept, changed and removed tools first, then added ones."""
    others = [*new]
    stayed: list[bool] = []
    for tool in old:
        stayed.append(tool in others)
        if stayed[-1]:
            others.remove(tool)
    for tool, same in zip(old, stayed, strict=True):
        after = next((other for other in others if tool_name(other) == tool_name(tool)), None)
        if same:
            yield FieldChange("tools", "same", _tool(tool), _tool(tool))
        elif after is None:
            yield FieldChange("tools", "removed", old=_tool(tool))
        else:
            others.remove(after)
            yield _structure("tools", tool, after, tool_name(tool))
    yield from (FieldChange("tools", "added", new=_tool(tool)) for tool in others)


def _structure(field: str, old: object, new: object, name: str | None = None) -> FieldChange:
    """Return the change of a structured or plain value.

    A structure in both versions gives the changes inside it; otherwise `name` stands for the value.
    """
    if old == new or not (isinstance(old, dict | list) and type(old) is type(new)):
        return _value(field, old, new)
    return FieldChange(field, "changed", name, name, parts=tuple(_parts("", old, new)))


def _parts(path: str, old: object, new: object) -> Iterator[FieldChange]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from _parts(f"{path}.{key}" if path else str(key), old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _elements(path, old, new)
    elif isinstance(old, str) and isinstance(new, str) and "\n" in old + new:
        yield _text(path, old, new)
    else:
        yield _value(path, old, new)


def _elements(path: str, old: Sequence[object], new: Sequence[object]) -> Iterator[FieldChange]:
    before, after = [_json(one) for one in old], [_json(one) for one in new]
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from (FieldChange(path, "removed", old=_as_text(one)) for one in old[a:b])
            yield from (FieldChange(path, "added", new=_as_text(one)) for one in new[c:d])


def _include_if(change: FieldChange, shown: bool) -> tuple[FieldChange, ...]:
    return (change,) if shown else ()


def _as_text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else _json(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _tool(tool: dict[str, Any]) -> str:
    """Describe a tool by its name and its settings."""
    rest = {key: value for key, value in tool.items() if key not in ("type", "connector_id")}
    if isinstance(function := rest.get("function"), dict):
        rest["function"] = {key: value for key, value in function.items() if key != "name"}
    rest = {key: value for key, value in rest.items() if value not in (None, {}, [])}
    if not rest:
        return tool_name(tool)
    if list(rest) == ["library_ids"]:
        return f"{tool_name(tool)}: {', '.join(map(str, rest['library_ids']))}"
    return f"{tool_name(tool)}: {_json(rest.get('function', rest))}"
