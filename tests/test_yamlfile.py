import time
from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from carrel.yamlfile import FileError, YAMLError, dump, load, read, read_all, read_file, read_lines


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Contains(Strict):
    type: Literal["contains"]
    text: str


class Near(Strict):
    type: Literal["near"]
    tolerance: float


class Step(Strict):
    question: str
    checks: list[Annotated[Contains | Near, Field(discriminator="type")]] = []


class Suite(Strict):
    name: str
    steps: list[Step]


def written(folder: Path, text: str, name: str = "suite.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_becomes_its_model(tmp_path: Path) -> None:
    path = written(tmp_path, "\ufeffname: s\nsteps:\n- question: Why?\n")
    assert load(path, Suite) == Suite(name="s", steps=[Step(question="Why?")])


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", None, "Expected “name: value”, for example “cases:”."),
        ("- a\n", 1, "Expected “name: value”, for example “cases:”."),
        ("name: s\nsteps: []\n---\nname: t\n", 4, "One document belongs in this file."),
        ("name: s\nstep: []\n", 2, "step: did you mean steps?"),
        ("name: s\nzzz: 1\nsteps: []\n", 2, "zzz: it is not known here. Known: name, steps."),
        ("name: s\nsteps:\n- question: [1]\n", 3, "steps.0.question: Input should be a valid str"),
        ("name: s\nsteps:\n- questoin: a\n", 3, "steps.0.questoin: did you mean question?"),
        (
            "name: s\nsteps:\n- question: a\n  checks:\n  - type: near\n    tolerence: 1\n",
            6,
            "steps.0.checks.0.tolerence: did you mean tolerance?",
        ),
        (
            "name: s\nsteps:\n- question: a\n  checks:\n  - type: near\n    text: b\n",
            6,
            "steps.0.checks.0.text: it is not known here. Known: type, tolerance.",
        ),
        ("name: s\nsteps:\n- question: a\n  question: b\n", 4, "“question” occurs twice."),
        ("name: s\n\tsteps: []\n", 2, "This is not YAML: indent with spaces, not tabs."),
        ("name: s\n", 1, "steps is missing."),
        ("name: s\nsteps:\n- checks: []\n", 3, "question is missing."),
    ],
)
def test_a_mistake_is_named_with_file_and_line(
    tmp_path: Path, text: str, line: int | None, reason: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FileError) as error:
        load(path, Suite)
    where = f"{path}, line {line}: " if line else f"{path}: "
    assert str(error.value).startswith(where + reason)


def test_lines_of_json_know_their_number(tmp_path: Path) -> None:
    path = written(tmp_path, '{"question": "a"}\n\n{"question": 1}\n', "cases.jsonl")
    first, second = read_file(path)
    assert first.check(Step) == Step(question="a")
    with pytest.raises(YAMLError, match="Line 3: question: Input should be a valid string"):
        second.check(Step)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}\n{a}", "Line 2: This is not JSON: Expecting property name"),
        ("{}\n[1]", "Line 2: Expected an object"),
        ('{}\n{"a": 1, "a": 2}', "Line 2: This is not usable: “a” occurs twice."),
    ],
)
def test_a_line_that_is_no_object_is_refused(text: str, reason: str) -> None:
    with pytest.raises(YAMLError) as error:
        list(read_lines(text))
    assert str(error.value).startswith(reason)


def test_a_stream_has_its_documents_and_their_lines() -> None:
    assert [one.line for one in read_all("a: 1\n---\n---\n# about\nb: 2\n")] == [1, 5]


def test_a_file_that_is_missing_or_binary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="It cannot be read: No such file"):
        load(tmp_path / "none.yaml", Suite)
    (tmp_path / "binary.yaml").write_bytes(b"name: \xff")
    with pytest.raises(FileError, match="not UTF-8"):
        load(tmp_path / "binary.yaml", Suite)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(YAMLError, match="nested too deeply"):
        read("a: " + "[" * 3000 + "]" * 3000)


@given(st.dictionaries(st.text("abc: -#\n'\"", min_size=1), st.text("abc: -#\n'\"\t")))
def test_what_is_dumped_is_read_again(data: dict[str, str]) -> None:
    assert read(dump(data) if data else "{}").data == data


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 200_000, "nested too deeply"),
        ("{a: " * 50_000, "nested too deeply"),
        ("- " * 100_000, "nested too deeply"),
        ("".join(f"{' ' * n}a:\n" for n in range(600)), "nested too deeply"),
        ('a: "' + "x" * 50_000_000 + '"', "has 48 MB"),
    ],
)
def test_a_bomb_ends_within_a_second_of_processor_time(
    tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "bomb.yaml"
    path.write_text(text)
    began = time.process_time()
    with pytest.raises(FileError, match=reason):
        read_file(path)
    assert time.process_time() - began < 1
