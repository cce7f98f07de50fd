"""What changed between two versions of an agent: text word by word, the rest as structure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from carrel.wire.agents import Agent

Change = Literal["same", "added", "removed", "changed"]
LineChange = Literal["same", "added", "removed"]

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line."""

    text: str
    change: LineChange


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of the old text (same, removed) or of the new (same, added)."""

    change: LineChange
    spans: tuple[Span, ...]

    @property
    def text(self) -> str:
        """The whole line, without its line end."""
        return "".join(span.text for span in self.spans)


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of two versions. Long text has `lines`, anything else `old` and `new`."""

    field: str
    change: Change
    old: str | None = None
    new: str | None = None
    lines: tuple[DiffLine, ...] = ()


def compare_agents(old: Agent, new: Agent) -> tuple[FieldChange, ...]:
    """Every field that either version has, in the order a person reads them.

    A tool counts by itself (`tools` may come several times), as does a sampling argument.
    """
    return (
        _value("model", old.model, new.model),
        *_if_any(_value("name", old.name, new.name), old.name != new.name),
        *_if_any(
            _value("description", old.description, new.description),
            bool(old.description or new.description),
        ),
        _text("instructions", old.instructions or "", new.instructions or ""),
        *_tools(old.tools, new.tools),
        *_values(old.completion_args, new.completion_args),
        *_structures(old, new),
    )


def compare_lines(old: str, new: str) -> tuple[DiffLine, ...]:
    """Two texts line by line; lines that were replaced, word by word.

    The old text is the same and removed lines joined by line ends, the new text the same and
    added ones.
    """
    before, after = old.split("\n"), new.split("\n")
    lines: list[DiffLine] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += (DiffLine("same", (Span(line, "same"),)) for line in before[a:b])
        else:
            lines += _replaced(before[a:b], after[c:d])
    return tuple(lines)


def _replaced(before: Sequence[str], after: Sequence[str]) -> Iterator[DiffLine]:
    """Lines that gave way to others; the first goes with the first, and so on."""
    pairs = [_words(old, new) for old, new in zip(before, after, strict=False)]
    paired = len(pairs)
    yield from (DiffLine("removed", old) for old, _ in pairs)
    yield from (DiffLine("removed", (Span(line, "removed"),)) for line in before[paired:])
    yield from (DiffLine("added", new) for _, new in pairs)
    yield from (DiffLine("added", (Span(line, "added"),)) for line in after[paired:])


def _words(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    removed: list[Span] = []
    added: list[Span] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            removed.append(Span("".join(before[a:b]), "same"))
            added.append(Span("".join(after[c:d]), "same"))
            continue
        if a < b:
            removed.append(Span("".join(before[a:b]), "removed"))
        if c < d:
            added.append(Span("".join(after[c:d]), "added"))
    return tuple(removed), tuple(added)


def _text(field: str, old: str, new: str) -> FieldChange:
    if old == new:
        return FieldChange(field, "same", old, new)
    change: Change = "added" if not old else "removed" if not new else "changed"
    return FieldChange(field, change, old, new, compare_lines(old, new))


def _value(field: str, old: object, new: object) -> FieldChange:
    change: Change = "changed"
    if old == new:
        change = "same"
    elif old is None:
        change = "added"
    elif new is None:
        change = "removed"
    return FieldChange(field, change, _shown(old), _shown(new))


def _values(old: dict[str, Any], new: dict[str, Any]) -> Iterator[FieldChange]:
    for name in sorted({*old, *new}):
        if old.get(name) is not None or new.get(name) is not None:
            yield _value(name, old.get(name), new.get(name))


def _tools(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> Iterator[FieldChange]:
    added = [_shown(tool) for tool in new]
    for tool in map(_shown, old):
        if tool in added:
            added.remove(tool)
            yield FieldChange("tools", "same", tool, tool)
        else:
            yield FieldChange("tools", "removed", old=tool)
    yield from (FieldChange("tools", "added", new=tool) for tool in added)


def _structures(old: Agent, new: Agent) -> Iterator[FieldChange]:
    for field in ("handoffs", "metadata", "guardrails", "deployment_chat"):
        before, after = getattr(old, field), getattr(new, field)
        if before != after:
            yield _value(field, before, after)


def _if_any(change: FieldChange, present: bool) -> tuple[FieldChange, ...]:
    return (change,) if present else ()


def _shown(value: object) -> str | None:
    """A value as a person reads it: a tool by its kind and what it is about, others as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        return _tool(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _tool(tool: dict[str, Any]) -> str:
    rest = {key: value for key, value in tool.items() if key != "type" and value is not None}
    if list(rest) == ["library_ids"]:
        return f"{tool['type']}: {', '.join(map(str, rest['library_ids']))}"
    if not rest:
        return str(tool["type"])
    return f"{tool['type']}: {json.dumps(rest, ensure_ascii=False, sort_keys=True)}"
