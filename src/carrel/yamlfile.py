"""YAML and JSONL files as pydantic models; a mistake names its file, its line and the expected
value.

suite = load(path, Suite)            # one mapping
for document in read_file(path):     # a YAML stream, or a line of JSONL each
    case = document.check(Case)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

    M = TypeVar("M", bound=BaseModel)

Where = Sequence[int | str]
"""The path of a value: keys and indexes from the top."""

_PLAIN = ("str", "int", "float", "bool", "null", "seq", "map")
_NO_MAPPING = "Expected “name: value”, for example “cases:”."
_MOST_NAMES = 12
_MOST_BYTES = 8 << 20
"""Size limit of a file or text in bytes; YAML is parsed at about a megabyte a second."""
_DEEPEST = 100


class YAMLError(Exception):
    """The text is invalid. `line` counts from 1; None means the whole text."""

    def __init__(self, line: int | None, reason: str) -> None:
        super().__init__(reason if line is None else f"Line {line}: {reason}")
        self.line = line
        self.reason = reason


class FileError(Exception):
    """A file is invalid; the message names the file, the line and the expected value."""

    def __init__(self, path: Path, line: int | None, reason: str) -> None:
        where = f"{path}, line {line}" if line else str(path)
        super().__init__(f"{where}: {reason}")
        self.path = path
        self.line = line
        self.reason = reason


@dataclass(frozen=True)
class Document:
    """A parsed mapping. `line` is its first line, from 1; the node knows the lines of its parts."""

    data: dict[str, Any]
    line: int
    node: yaml.MappingNode | None = None

    def check(self, model: type[M]) -> M:
        """Return the mapping as a model.

        Raises:
            YAMLError: the mapping does not fit the model.
        """
        from pydantic import ValidationError

        try:
            return model.model_validate(self.data)
        except ValidationError as error:
            raise self.complaint(error, model) from None

    def mistake(self, path: Where, reason: str) -> YAMLError:
        """Return the error of a mistake at a path."""
        line, found = self._find(path)
        return YAMLError(line, f"{'.'.join(found)}: {reason}" if found else reason)

    def complaint(self, error: ValidationError, model: type[BaseModel]) -> YAMLError:
        """Return the first of a model's errors, with its line and a likely spelling."""
        wrong = error.errors(include_url=False, include_input=False, include_context=False)
        # Report an unknown name first: it may explain a missing one.
        first = min(wrong, key=lambda error: error["type"] != "extra_forbidden")
        path = first["loc"]
        if first["type"] == "missing":
            line, _ = self._find(path)
            return YAMLError(line, f"{path[-1]} is missing.")
        if first["type"] == "extra_forbidden":
            return self.mistake(path, _unknown(str(path[-1]), _names(model, path[:-1])))
        return self.mistake(path, f"{first['msg'].removeprefix('Value error, ').rstrip('.')}.")

    def _find(self, path: Where) -> tuple[int, list[str]]:
        """Return the line of a path's deepest existing part, and the existing parts."""
        line, found = self.line, []
        node: Any = self.node
        value: Any = self.data
        for part in path:
            # Pydantic's paths also contain union members, which are not in the text.
            there = part in value if isinstance(value, dict) else _is_position(part, value)
            if not there:
                continue
            value = value[part]
            if isinstance(node, yaml.MappingNode):
                key, node = next(pair for pair in node.value if pair[0].value == part)
                line = key.start_mark.line + 1
            elif isinstance(node, yaml.SequenceNode):
                node = node.value[part]
                line = node.start_mark.line + 1
            found.append(str(part))
        return line, found


def load(path: Path, model: type[M]) -> M:
    """Return the only mapping of a YAML file as a model.

    Raises:
        FileError: the file does not fit the model.
    """
    documents = read_file(path)
    if len(documents) != 1:
        line = documents[1].line if documents else None
        raise FileError(path, line, "One document belongs in this file." if line else _NO_MAPPING)
    return check_in(path, documents[0], model)


def check_in(path: Path, document: Document, model: type[M]) -> M:
    """Return a document of a file as a model.

    Raises:
        FileError: the document does not fit the model.
    """
    try:
        return document.check(model)
    except YAMLError as error:
        raise FileError(path, error.line, error.reason) from error


def read_file(path: Path) -> list[Document]:
    """Return the mappings of a file: the documents of a YAML stream, or the lines of a `.jsonl`.

    Raises:
        FileError: the file cannot be read, or holds something else.
    """
    try:
        if (size := path.stat().st_size) > _MOST_BYTES:
            raise FileError(path, None, _size_words(size))
        text = path.read_text(encoding="utf-8-sig")
        return list(read_lines(text) if path.suffix == ".jsonl" else read_all(text))
    except UnicodeDecodeError:
        raise FileError(path, None, "It is not UTF-8 text.") from None
    except OSError as error:
        raise FileError(path, None, f"It cannot be read: {error.strerror}.") from error
    except YAMLError as error:
        raise FileError(path, error.line, error.reason) from error


def read(text: str, missing: str = _NO_MAPPING) -> Document:
    """Return a text's only document. `missing` is the expected content if it is not a mapping.

    Raises:
        YAMLError: the text is not YAML, or not a mapping of JSON's types.
    """
    documents = list(read_all(text, missing))
    if len(documents) > 1:
        raise YAMLError(documents[1].line, "This is not YAML of one document.")
    if not documents:
        raise YAMLError(1, missing)
    return documents[0]


def read_all(text: str, missing: str = _NO_MAPPING) -> Iterator[Document]:
    """Yield a text's documents, separated by `---`. Empty ones are skipped.

    Raises:
        YAMLError: the text is not YAML, or a document is not a mapping of JSON's types.
    """
    try:
        yield from _documents(text, missing)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = str(error.problem)
        reason = "indent with spaces, not tabs" if "'\\t'" in problem else problem
        raise YAMLError(mark.line + 1 if mark else None, f"This is not YAML: {reason}.") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YAMLError(line, "There is a character that YAML does not allow.") from error
    except RecursionError:
        raise YAMLError(None, "This is nested too deeply.") from None
    except ValueError as error:
        raise YAMLError(None, f"This is not YAML: {error}.") from error


def read_lines(text: str) -> Iterator[Document]:
    """Yield the objects of a JSONL text, one per line. Blank lines are skipped.

    Raises:
        YAMLError: a line is something else.
    """
    for line, written in enumerate(text.split("\n"), 1):
        if not written.strip():
            continue
        try:
            data = json.loads(written, object_pairs_hook=_without_duplicates)
        except json.JSONDecodeError as error:
            reason = f"This is not JSON: {error.msg} at column {error.colno}."
            raise YAMLError(line, reason) from error
        except (ValueError, RecursionError) as error:
            raise YAMLError(line, f"This is not usable: {error}.") from error
        if not isinstance(data, dict):
            raise YAMLError(line, 'Expected an object such as {"name": "value"}.')
        yield Document(data, line)


def dump(data: Mapping[str, Any]) -> str:
    """Return a mapping as YAML in its order, with multi-line text as blocks."""
    return yaml.dump(dict(data), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def _documents(text: str, missing: str) -> Iterator[Document]:
    if len(text) > _MOST_BYTES:
        raise YAMLError(None, _size_words(len(text)))
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            line = event.start_mark.line + 1 if event.start_mark else None
            raise YAMLError(line, f"This is nested too deeply: at most {_DEEPEST} levels.")
        if isinstance(event, yaml.AliasEvent):
            line = event.start_mark.line + 1 if event.start_mark else None
            raise YAMLError(line, "A value has to be written out, not referred to by *.")
    loader = _Loader(text)
    while loader.check_node():
        node = loader.get_node()
        if node is None or node.tag.endswith(":null"):
            continue
        line = node.start_mark.line + 1
        if not isinstance(node, yaml.MappingNode):
            raise YAMLError(line, missing)
        _check_plain(node)
        yield Document(loader.construct_document(node), line, node)


def _size_words(size: int) -> str:
    return (
        f"It has {size / 2**20:.0f} MB; at most {_MOST_BYTES >> 20} are read. Write it as several"
        " files."
    )


class _Dumper(yaml.SafeDumper):
    """Writes multi-line text as a block, and no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


class _Loader(yaml.SafeLoader):
    """Reads JSON's types only: dates stay text."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in pairs if not tag.endswith(":timestamp")]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _check_plain(node: yaml.Node) -> None:
    """Check that the text has JSON's types only, and no duplicate keys."""
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
                raise YAMLError(line, f"“{key.value}” occurs twice.")
            seen.add(key.value)
            _check_plain(value)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"“{next(name for name in names if names.count(name) > 1)}” occurs twice")
    return found


def _is_position(part: int | str, value: object) -> bool:
    return isinstance(value, list) and isinstance(part, int) and part < len(value)


def _unknown(name: str, known: Sequence[str]) -> str:
    if near := get_close_matches(name, known, n=1):
        return f"did you mean {near[0]}?"
    names = f" Known: {', '.join(known)}." if 0 < len(known) <= _MOST_NAMES else ""
    return f"it is not known here.{names}"


def _names(model: type[BaseModel], path: Where) -> list[str]:
    """Return a model's field names at a path, in order."""
    schema = model.model_json_schema()
    reached = [schema]
    for part in path:
        reached = [one for each in reached for one in _step(schema, each, part)]
    return list(
        dict.fromkeys(
            name
            for each in reached
            for option in _options(schema, each)
            for name in option.get("properties", ())
        )
    )


def _step(root: dict[str, Any], schema: dict[str, Any], part: int | str) -> list[dict[str, Any]]:
    """Return the schemas of a part of a value.

    Returns the value's own schemas if the path names a union's member.
    """
    found = []
    for option in _options(root, schema, part):
        if isinstance(part, int) and isinstance(option.get("items"), dict):
            found.append(option["items"])
        elif part in option.get("properties", ()):
            found.append(option["properties"][part])
        else:
            found.append(option)
    return found


def _options(
    root: dict[str, Any], schema: dict[str, Any], tag: int | str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield a schema with references resolved; for a union its members, or the one with a tag."""
    if "$ref" in schema:
        yield from _options(root, root["$defs"][schema["$ref"].rpartition("/")[2]], tag)
        return
    tagged = schema.get("discriminator", {}).get("mapping", {}).get(tag)
    members = [{"$ref": tagged}] if tagged else schema.get("anyOf") or schema.get("oneOf")
    if not members:
        yield schema
    for member in members or ():
        yield from _options(root, member, tag)
