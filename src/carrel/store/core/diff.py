"""What changed between two versions of an agent: text word by word, the rest as structure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from carrel.wire.agents import Agent

Change = Literal["same", "added", "removed", "changed"]
LineChange = Literal["same", "added", "removed"]

DEFAULTS = {"tool_choice": "auto"}
"""Arguments that a service answers also where nobody gave them."""

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
    """One field of two versions.

    Long text has `lines`, structure that both versions have its `parts`, each named by its path
    below the field; anything else `old` and `new`.
    """

    field: str
    change: Change
    old: str | None = None
    new: str | None = None
    lines: tuple[DiffLine, ...] = ()
    parts: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changed lines with some of the same around them, after `skipped` lines that are the same."""

    skipped: int
    lines: tuple[DiffLine, ...]


Pair = tuple[DiffLine | None, DiffLine | None]
"""An old line and the new one beside it; None where one side has no line."""


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
        *_arguments(old.completion_args, new.completion_args),
        *_rest(old, new),
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


def hunks(lines: Sequence[DiffLine], context: int = 3) -> tuple[Hunk, ...]:
    """What changed, with up to `context` lines of the same before and after each change.

    Going through the old text, keeping what a hunk skips and what it has as the same, leaving
    out what it removes and taking in what it adds gives the new text.
    """
    near = {
        index + step
        for index, line in enumerate(lines)
        if line.change != "same"
        for step in range(-context, context + 1)
    }
    found: list[Hunk] = []
    skipped = 0
    together: list[DiffLine] = []
    for index, line in enumerate(lines):
        if index in near:
            together.append(line)
            continue
        if together:
            found.append(Hunk(skipped, tuple(together)))
            skipped, together = 0, []
        skipped += 1
    if together:
        found.append(Hunk(skipped, tuple(together)))
    return tuple(found)


def side_by_side(lines: Sequence[DiffLine]) -> tuple[Pair, ...]:
    """The old text on the left and the new one on the right, line by line."""
    pairs: list[Pair] = []
    for same, group in groupby(lines, lambda line: line.change == "same"):
        block = tuple(group)
        if same:
            pairs += ((line, line) for line in block)
        else:
            removed = (line for line in block if line.change == "removed")
            pairs += zip_longest(removed, (line for line in block if line.change == "added"))
    return tuple(pairs)


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
    lines = compare_lines(old, new)
    if change != "changed":
        # The one empty line of a text that is not there.
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
    return FieldChange(field, change, _shown(old), _shown(new))


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
    """First those that stayed, changed or went, then those that came."""
    others = [*new]
    stayed: list[bool] = []
    for tool in old:
        stayed.append(tool in others)
        if stayed[-1]:
            others.remove(tool)
    for tool, same in zip(old, stayed, strict=True):
        after = next((one for one in others if tool_name(one) == tool_name(tool)), None)
        if same:
            yield FieldChange("tools", "same", _tool(tool), _tool(tool))
        elif after is None:
            yield FieldChange("tools", "removed", old=_tool(tool))
        else:
            others.remove(after)
            yield _structure("tools", tool, after, tool_name(tool))
    yield from (FieldChange("tools", "added", new=_tool(tool)) for tool in others)


def _structure(field: str, old: object, new: object, name: str | None = None) -> FieldChange:
    """A value; where both versions have structure, what differs inside. `name` stands for it."""
    if old == new or not (_has_parts(old) and type(old) is type(new)):
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
            yield from (FieldChange(path, "removed", old=_shown(one)) for one in old[a:b])
            yield from (FieldChange(path, "added", new=_shown(one)) for one in new[c:d])


def _has_parts(value: object) -> bool:
    return isinstance(value, dict | list)


def _if_any(change: FieldChange, present: bool) -> tuple[FieldChange, ...]:
    return (change,) if present else ()


def _shown(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else _json(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def tool_name(tool: dict[str, Any]) -> str:
    """What tells a tool from the others: `function lookup`, `connector mail`, `web_search`."""
    kind = str(tool.get("type"))
    function = tool.get("function")
    name = function.get("name") if isinstance(function, dict) else tool.get("connector_id")
    return kind if name is None else f"{kind} {name}"


def _tool(tool: dict[str, Any]) -> str:
    """A tool as a person reads it: its name, and what there is to say about it."""
    rest = {key: value for key, value in tool.items() if key not in ("type", "connector_id")}
    if isinstance(function := rest.get("function"), dict):
        rest["function"] = {key: value for key, value in function.items() if key != "name"}
    rest = {key: value for key, value in rest.items() if value not in (None, {}, [])}
    if not rest:
        return tool_name(tool)
    if list(rest) == ["library_ids"]:
        return f"{tool_name(tool)}: {', '.join(map(str, rest['library_ids']))}"
    return f"{tool_name(tool)}: {_json(rest.get('function', rest))}"
