"""A set of test cases: a YAML file with `cases`, or a JSONL file with a case on each line.

cases:
- question: How long is the notice period?
  checks:
  - contains: three months
  - source: {document: lease.pdf, page: 2}
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from carrel.store.core.problem import Problem, ProblemError
from carrel.wire.base import JSONObject, Name
from carrel.yamlfile import Document, FileError, check_in, dump, read, read_file

if TYPE_CHECKING:
    from carrel.store.chat.state import ChatState
    from carrel.wire.generation.completions import CompletionRequest

_LONGEST_NAME = 72
"""Letters of a case's name, if it is the question's beginning."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(_Strict):
    """A document that the answer must cite, and its page, from 1."""

    document: Name
    page: int | None = Field(default=None, ge=1)


class Number(_Strict):
    """A number that the answer must contain, within a tolerance."""

    value: float
    tolerance: float = Field(default=0.0, ge=0)


class Similar(_Strict):
    """A text whose meaning the answer must have, or not: cosine similarity, -1 to 1, by `model`."""

    to: Name
    at_least: float | None = Field(default=None, ge=-1, le=1)
    at_most: float | None = Field(default=None, ge=-1, le=1)
    model: Name = "mistral-embed"

    @model_validator(mode="after")
    def _check_bounds(self) -> Similar:
        if self.at_least is None and self.at_most is None:
            raise ValueError("Give at_least or at_most, a number from -1 to 1")
        return self


class Judge(_Strict):
    """An agent, by id or name, that judges the answer by a criterion."""

    agent: Name
    criterion: Name


class Check(_Strict):
    """One condition on an answer."""

    contains: Name | None = None
    """A text that the answer must contain, ignoring case."""
    regex: Name | None = None
    json_schema: JSONObject | None = None
    source: Source | None = None
    number: Number | None = None
    similar: Similar | None = None
    judge: Judge | None = None

    @field_validator("source", mode="before")
    @classmethod
    def _take_document_name(cls, value: Any) -> Any:
        return {"document": value} if isinstance(value, str) else value

    @field_validator("number", mode="before")
    @classmethod
    def _take_plain_number(cls, value: Any) -> Any:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return {"value": value} if is_number else value

    @field_validator("regex")
    @classmethod
    def _check_pattern(cls, value: str | None) -> str | None:
        try:
            re.compile(value or "")
        except re.error as error:
            raise ValueError(f"This is not a regular expression: {error}") from error
        return value

    @field_validator("json_schema")
    @classmethod
    def _check_schema(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value is not None:
            from jsonschema import SchemaError, validators

            try:
                validators.validator_for(value).check_schema(value)
            except SchemaError as error:
                raise ValueError(f"This is not a JSON schema: {error.message}") from error
        return value

    @model_validator(mode="after")
    def _check_one(self) -> Check:
        if len(self._list_fields()) != 1:
            names = ", ".join(type(self).model_fields)
            raise ValueError(f"A check is exactly one of {names}")
        return self

    @property
    def kind(self) -> str:
        """The name of the check's kind: `contains`, `regex` …"""
        return self._list_fields()[0]

    def _list_fields(self) -> list[str]:
        return [name for name in type(self).model_fields if getattr(self, name) is not None]


class Said(_Strict):
    """A message before the question."""

    role: Literal["user", "assistant"]
    content: Name


class Case(_Strict):
    """A question with its checks; without checks, every answer passes.

    `before` are earlier messages of the chat. `note` is for people.
    """

    name: Name | None = None
    question: Name
    before: list[Said] = Field(default_factory=list)
    checks: list[Check] = Field(default_factory=list)
    note: str | None = None

    @property
    def id(self) -> str:
        """The case's name, or the beginning of its question, which identifies it in every run."""
        text = " ".join((self.name or self.question).split())
        return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"

    def request(self, agent_id: str, seed: int | None) -> CompletionRequest:
        """Return the question to an agent."""
        from carrel.wire.generation.completions import CompletionRequest

        said = [{"role": one.role, "content": one.content} for one in self.before]
        fields: dict[str, Any] = {
            "agent_id": agent_id,
            "messages": [*said, {"role": "user", "content": self.question}],
            "random_seed": seed,
        }
        return CompletionRequest.model_validate(fields)


class _SetFile(_Strict):
    name: Name | None = None
    cases: list[Case] = Field(min_length=1)


class CaseSet(_Strict):
    """Test cases. `hash` covers questions and checks, not names and notes."""

    name: str
    cases: tuple[Case, ...]

    @property
    def hash(self) -> str:
        """Twelve hex digits of the hash, practically unique."""
        said = [
            case.model_dump(mode="json", exclude={"note"}, exclude_defaults=True)
            for case in self.cases
        ]
        text = json.dumps(said, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def judges(self) -> tuple[str, ...]:
        """The judging agents, by id or name."""
        checks = (check for case in self.cases for check in case.checks)
        return tuple(dict.fromkeys(check.judge.agent for check in checks if check.judge))


def load_set(path: Path) -> CaseSet:
    """Return the test cases of a file.

    Raises:
        FileError: the file is not a set, or two cases have the same id.
    """
    documents = read_file(path)
    if path.suffix == ".jsonl":
        name = path.stem
        cases = [check_in(path, document, Case) for document in documents]
        places: list[tuple[Document, Sequence[int | str]]] = [(one, ()) for one in documents]
        if not cases:
            raise FileError(path, None, 'Expected a line such as {"question": "Why?"}.')
    else:
        if len(documents) != 1:
            line = documents[1].line if documents else None
            raise FileError(path, line, "Expected “cases:” with a list of test cases.")
        content = check_in(path, documents[0], _SetFile)
        name, cases = content.name or path.stem, content.cases
        places = [(documents[0], ("cases", index)) for index in range(len(cases))]
    first: dict[str, int] = {}
    for index, case in enumerate(cases):
        if case.id in first:
            document, where = places[index]
            reason = f"The case “{case.id}” occurs twice: give one a name."
            raise FileError(path, document.mistake(where, "").line, reason)
        first[case.id] = index
    return CaseSet(name=name, cases=tuple(cases))


def add_case(path: Path, case: Case) -> None:
    """Append a case to a set's file, or create the file. Existing text stays unchanged.

    Raises:
        FileError: the file is no set, or has the case already.
        OSError: the file cannot be written.
    """
    path = path.expanduser()
    entry = case.model_dump(mode="json", exclude_unset=True)
    before = ""
    if path.exists():
        known = load_set(path)
        if case.id in (one.id for one in known.cases):
            raise FileError(path, None, f"The case “{case.id}” already exists.")
        before = path.read_text(encoding="utf-8")
        before += "" if before.endswith("\n") else "\n"
    if path.suffix == ".jsonl":
        text = before + json.dumps(entry, ensure_ascii=False) + "\n"
    else:
        item = dump({"cases": [entry]}).partition("\n")[2]
        text = (before or "cases:\n") + _indent_like(before, item)
        read(text)
    from carrel.system.atomic import write_private

    path.parent.mkdir(parents=True, exist_ok=True)
    write_private(path, text)


def _indent_like(text: str, item: str) -> str:
    """Indent a list item like the last item of a text's list of cases."""
    first = re.search(r"^cases:[^\n]*\n(?:\s*#[^\n]*\n|\s*\n)*( *)-", text, re.MULTILINE)
    indent = first[1] if first else ""
    return "".join(f"{indent}{line}\n" if line else "\n" for line in item.splitlines())


LIKE = 0.8
"""Similarity from which two answers count as equal."""
_HIDDEN = Problem("The names are hidden", "", "Vote first: an answer can be taken then.")
_NO_ANSWER = Problem("No answer to take", "Choose an answer to a question of yours.")


def case_of(chat: ChatState, index: int, *, good: bool) -> Case:
    """Return the test case of the answer at `index`: a good answer should be repeated, a bad one
    not.

    Raises:
        ProblemError: there is no answer there, or a blind comparison hides it.
    """
    if chat.alias:
        raise ProblemError(_HIDDEN)
    turns = chat.turns
    spoken = [turn for turn in turns[: index + 1] if turn.role != "tool" and turn.text.strip()]
    if len(spoken) < 2 or spoken[-1] is not turns[index] or spoken[-1].role != "assistant":
        raise ProblemError(_NO_ANSWER)
    *before, question, answer = spoken
    if question.role != "user":
        raise ProblemError(_NO_ANSWER)
    bound = {"at_least": LIKE} if good else {"at_most": LIKE}
    fields: dict[str, Any] = {
        "question": question.text,
        "before": [{"role": one.role, "content": one.text} for one in before],
        "checks": [{"similar": {"to": answer.text, **bound}}],
        "note": f"A {'good' if good else 'bad'} answer of a chat.",
    }
    return Case.model_validate({name: value for name, value in fields.items() if value})
