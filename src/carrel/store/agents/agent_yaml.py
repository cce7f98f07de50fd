"""An agent's fields as YAML for an editor; errors name their line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import yaml

from carrel.store.agents.drafts import FIELDS, Draft

if TYPE_CHECKING:
    from pydantic import ValidationError

MESSAGE = "version_message"
ALWAYS = ("name", "model", "description", "instructions", "tools", "completion_args")
"""Fields that are written even when empty, to be filled in."""

_PLAIN = ("str", "int", "float", "bool", "null", "seq", "map")


class YAMLError(Exception):
    """The text is not an agent. `line` counts from 1; None for the whole text."""

    def __init__(self, line: int | None, reason: str) -> None:
        super().__init__(reason if line is None else f"Line {line}: {reason}")
        self.line = line


def to_yaml(draft: Draft, libraries: Mapping[str, str]) -> str:
    """A draft for an editor. `libraries` gives names for the ids, in a comment."""
    fields = {name: draft.fields.get(name) for name in FIELDS}
    shown = {name: value for name, value in fields.items() if value or name in ALWAYS}
    text = yaml.dump(
        {MESSAGE: draft.message or None, **shown},
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
    )
    about = [
        "The next version of an agent." if draft.agent_id else "A new agent.",
        f"{MESSAGE} is what this version is about. It may stay empty, as may all but name, model.",
        "What is saved here is checked and shown before anything is sent.",
    ]
    if libraries:
        about.append("Libraries, for a tool of the type document_library:")
        about += [f"  {id}  {' '.join(name.split())}" for id, name in libraries.items()]
    return "".join(f"# {line}\n" for line in about) + text


def from_yaml(text: str, draft: Draft) -> Draft:
    """The draft as the text has it. Unchanged fields are not checked again.

    Raises:
        YAMLError: it is not YAML, or not a valid agent.
    """
    try:
        node, data = _read(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise YAMLError(line, f"This is not YAML: {error.problem}.") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YAMLError(line, "There is a character that YAML does not allow.") from None
    except ValueError as error:
        raise YAMLError(None, f"This is not YAML: {error}.") from None
    return _taken(node, data, draft)


def _read(text: str) -> tuple[yaml.MappingNode, dict[str, Any]]:
    """The text as nodes, which know their lines, and as data."""
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            line = event.start_mark.line + 1 if event.start_mark else None
            raise YAMLError(line, "A value has to be written out, not referred to by *.")
    loader = _Loader(text)
    node = loader.get_single_node()
    if not isinstance(node, yaml.MappingNode):
        raise YAMLError(1, "There is no agent here: its fields are gone.")
    _check_plain(node)
    return node, loader.construct_document(node)


class _Dumper(yaml.SafeDumper):
    """Writes multi-line text as a block, and no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


class _Loader(yaml.SafeLoader):
    """Reads JSON's types only: a date stays text."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in pairs if not tag.endswith(":timestamp")]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _check_plain(node: yaml.Node) -> None:
    """Checks that the text has JSON's types only, and no duplicate keys."""
    if node.tag.removeprefix("tag:yaml.org,2002:") not in _PLAIN:
        raise YAMLError(
            node.start_mark.line + 1,
            "A value may be text, a number, true, false, null, a list or a mapping.",
        )
    if isinstance(node, yaml.SequenceNode):
        for child in node.value:
            _check_plain(child)
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not key.tag.endswith(":str"):
                raise YAMLError(line, "A key has to be text: put quotes around it.")
            if key.value in seen:
                raise YAMLError(line, f"“{key.value}” is there twice.")
            seen.add(key.value)
            _check_plain(value)


def _taken(node: yaml.MappingNode, data: dict[str, Any], draft: Draft) -> Draft:
    from pydantic import ValidationError

    from carrel.wire.agents import AgentCreate

    message = data.pop(MESSAGE, None)
    known = dict(draft.fields)
    # A service may return fields that this workbench does not know.
    same = {name for name in data.keys() & known if data[name] == known[name]} - {"name", "model"}
    new = {name: value for name, value in data.items() if name not in same}
    try:
        AgentCreate.model_validate({**new, MESSAGE: message})
    except ValidationError as error:
        raise _complaint(node, error) from None
    cleared = dict.fromkeys(known)
    return replace(draft.changed(**{**cleared, **data}), message=message or "")


def _complaint(root: yaml.MappingNode, error: ValidationError) -> YAMLError:
    """The first error, with its line and the likely spelling."""
    wrong = error.errors(include_url=False, include_input=False, include_context=False)
    # Report an unknown name first: it explains the missing one.
    first = min(wrong, key=lambda one: one["type"] != "extra_forbidden")
    path = first["loc"]
    line, found = _find(root, path)
    where, name = ".".join(found), str(path[-1])
    if first["type"] == "missing":
        return YAMLError(line, f"{name} is missing.")
    if first["type"] == "extra_forbidden":
        near = get_close_matches(name, (*FIELDS, MESSAGE), n=1) if len(path) == 1 else ()
        hint = f"did you mean {near[0]}?" if near else "it is not known here."
        return YAMLError(line, f"{where}: {hint}")
    return YAMLError(line, f"{where}: {first['msg']}.")


def _find(node: yaml.Node, path: Sequence[int | str]) -> tuple[int, list[str]]:
    """The line of the deepest node on a path, and the part of the path that is in the text."""
    line, found = node.start_mark.line + 1, []
    for part in path:
        # Pydantic's paths also name union members, which are not in the text.
        if isinstance(node, yaml.MappingNode):
            pair = next((pair for pair in node.value if pair[0].value == part), None)
            if pair is None:
                continue
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            continue
        found.append(str(part))
    return line, found
